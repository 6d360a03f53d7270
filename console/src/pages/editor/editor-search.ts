/** The search parameters of the editor, the form and the mapping view: the data that they run on. */
import { asChoice, asText, readSearch, type SearchValues } from '../../ui/search-params.ts'

const PARAMETERS = {
  /** The id of a recorded message. */
  message: asText,
  /** The name of a stored test. */
  test: asText,
  /** The path of the field to go to. */
  path: asText,
  /** Of the editor: saves the loaded message as a test. */
  save: asChoice(['test']),
  /** Of a new endpoint: the id of the one that it copies. */
  copy: asText,
  /** Of the form: the section that it shows. */
  part: asText,
}

export const readEditorSearch = readSearch(PARAMETERS)
export type EditorSearch = SearchValues<typeof PARAMETERS>
