/** `/endpoints/:id/form`: the draft of the editor as forms, beside what it makes of a message. */
import { getRouteApi } from '@tanstack/react-router'
import { DraftEditor } from '../draft-editor.tsx'
import { FormPane } from './form-pane.tsx'

const route = getRouteApi('/endpoints/$id/form')

export default function FormPage() {
  const { id } = route.useParams()
  return <DraftEditor key={id} id={id} search={route.useSearch()} Pane={FormPane} />
}
