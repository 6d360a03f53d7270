/** The editor of an endpoint, in one of its panes, as soon as its draft has been read. */
import { useDraft } from '../../draft/use-draft.ts'
import { DocumentState } from '../../ui/endpoint/document-state.tsx'
import { EditorWorkspace, type EditorWorkspaceProps } from './editor-workspace.tsx'

type DraftEditorProps = Pick<EditorWorkspaceProps, 'search' | 'Pane'> & Readonly<{ id: string }>

export function DraftEditor({ id, search, Pane }: DraftEditorProps) {
  const { draft, stored } = useDraft(id)
  if (draft !== undefined) return <EditorWorkspace draft={draft} stored={stored} search={search} Pane={Pane} />
  return <DocumentState title="Endpoint" query={stored} />
}
