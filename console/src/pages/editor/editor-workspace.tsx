/** The editor of a draft that is open: its two panes, its dialogs, and what goes from one to the other. */

import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import {
  type ComponentType,
  lazy,
  type Ref,
  Suspense,
  useEffect,
  useEffectEvent,
  useMemo,
  useRef,
  useState,
} from 'react'
import { asFailure } from '../../api/api-failure.ts'
import type { StoredText } from '../../api/document-calls.ts'
import type { RunReport } from '../../api/run-calls.ts'
import { useRefusal } from '../../api/session.ts'
import { useVocabulary } from '../../api/vocabulary.ts'
import { type DocumentFault, faultSpan } from '../../draft/document-faults.ts'
import { type Draft, type DraftNow, NEW } from '../../draft/draft.ts'
import { memberNamed, readTree } from '../../draft/json-places.ts'
import { useDraftNow } from '../../draft/use-draft.ts'
import { usePublishing } from '../../publish/use-publishing.tsx'
import type { CodeEditorHandle } from '../../ui/code/editor-setup.ts'
import { TextLink } from '../../ui/controls/text-link.tsx'
import { EndpointNavigation, useEndpointRow } from '../../ui/endpoint/endpoint-page.tsx'
import { useKey } from '../../ui/keys/keymap.ts'
import { FailureNotice } from '../../ui/states/failure-notice.tsx'
import { Loading, Page } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import type { Knowledge } from './assist/editor-assist.ts'
import { messagePaths } from './assist/message-paths.ts'
import type { EditorSearch } from './editor-search.ts'
import { lookupHosts } from './run/canned-answers.ts'
import { type Runs, useRuns } from './run/use-runs.ts'
import { useLint } from './use-lint.ts'
import { useLoadedData } from './use-loaded-data.ts'

/** The document is shown before what runs it is there. */
const loadInspector = import('./inspector/inspector.tsx')
const Inspector = lazy(() => loadInspector.then((one) => ({ default: one.Inspector })))

/** Loaded after the editor is shown, so that it opens while the service is away, too. */
const loadSaveTest = () => import('./save-test/save-test-dialog.tsx')
const SaveTestDialog = lazy(() => loadSaveTest().then((one) => ({ default: one.SaveTestDialog })))

/** The draft as text or as forms. */
export type PaneProps = Readonly<{
  draft: Draft
  now: DraftNow
  faults: readonly DocumentFault[]
  isChecked: boolean
  readOnly: boolean
  /** Read at each completion. */
  knowledge: () => Knowledge
  report: RunReport | undefined
  runs: Runs
  onRun(): void
  editor: Ref<CodeEditorHandle>
}>

export type EditorWorkspaceProps = Readonly<{
  Pane: ComponentType<PaneProps>
  draft: Draft
  stored: UseQueryResult<StoredText>
  search: EditorSearch
}>

export function EditorWorkspace({ Pane, draft, stored, search }: EditorWorkspaceProps) {
  const { id } = draft
  const isNew = id === NEW
  const now = useDraftNow(draft)
  const refusal = useRefusal('author')
  const loaded = useLoadedData(id, search)
  const { data: vocabulary } = useVocabulary()
  const { faults, isChecked } = useLint(now.text, isNew ? undefined : id, refusal === undefined)
  const runs = useRuns({
    id,
    draft: now.text,
    current: isNew ? '' : now.base.text,
    isDirty: now.isDirty,
    loaded: loaded.data,
  })
  const [isSaving, setSaving] = useState(false)
  const editor = useRef<CodeEditorHandle>(null)
  const { report } = runs.shown
  const publishing = usePublishing(draft, stored, report?.recorded?.group)
  const paths = useMemo(() => messagePaths(report), [report])
  const hosts = useMemo(() => lookupHosts(now.text), [now.text])
  const format = useMemo(() => readInputFormat(now.text), [now.text])
  const hasSchedule = useMemo(() => memberNamed(readTree(now.text), 'schedule') !== undefined, [now.text])
  const title = useMemo(() => readName(now.text, isNew), [now.text, isNew])
  useEffect(() => {
    loadSaveTest().catch(() => undefined)
  }, [])
  const goTo = (path: string) => {
    const { from, to } = faultSpan(readTree(now.text), path)
    editor.current?.select(from, to)
  }
  useOpenFromUrl(search, () => setSaving(true), goTo, report !== undefined)
  useKey('Control+Enter', 'Run', runs.shown.run)
  return (
    <Page
      title={title}
      above={isNew ? <NewNavigation /> : <Navigation id={id} search={search} hasSchedule={hasSchedule} />}
      actions={publishing.actions}
    >
      {publishing.banner}
      {loaded.failure === null ? null : <FailureNotice failure={asFailure(loaded.failure)} />}
      {loaded.missing === undefined ? null : (
        <p role="status">
          The endpoint has no test named “
          <VisibleText text={loaded.missing} />
          ”.
        </p>
      )}
      <div className="workspace">
        <Pane
          draft={draft}
          now={now}
          faults={faults}
          isChecked={isChecked}
          readOnly={refusal !== undefined}
          knowledge={() => ({ vocabulary, paths })}
          report={report}
          runs={runs}
          onRun={runs.shown.run}
          editor={editor}
        />
        <Suspense fallback={<Loading what="Loading the dry run" />}>
          <Inspector
            id={id}
            isStored={!isNew}
            runs={runs}
            hosts={hosts}
            vocabulary={vocabulary}
            format={format}
            hasSchedule={hasSchedule}
            onOpenPath={goTo}
            onSaveTest={() => setSaving(true)}
          />
        </Suspense>
      </div>
      <Suspense>
        {isSaving && (
          <SaveTestDialog
            id={id}
            document={runs.inputs.runOn === 'current' ? now.base.text : now.text}
            runs={runs}
            report={report}
            onClose={() => setSaving(false)}
          />
        )}
      </Suspense>
      {publishing.dialogs}
    </Page>
  )
}

function readName(text: string, isNew: boolean): string {
  const name = memberNamed(readTree(text), 'name')?.value as unknown
  if (typeof name === 'string' && name.trim() !== '') return name
  return isNew ? 'New endpoint' : 'Endpoint without a name'
}

function readInputFormat(text: string): string | undefined {
  const input: unknown = memberNamed(memberNamed(readTree(text), 'transformation'), 'input')?.value
  return typeof input === 'string' ? input : undefined
}

const NewNavigation = () => (
  <nav className="endpoint-head nav row" aria-label="Views of the new endpoint">
    <Link to="/endpoints/new" activeProps={{ 'aria-current': 'page' }} activeOptions={{ includeSearch: false }}>
      Editor
    </Link>
    <TextLink to="/endpoints/$id/form" params={{ id: NEW }} activeProps={{ 'aria-current': 'page' }} text="Form" />
  </nav>
)

type NavigationProps = Readonly<{ id: string; search: EditorSearch; hasSchedule: boolean }>

function Navigation({ id, search: { message, test }, hasSchedule }: NavigationProps) {
  const { data: row } = useEndpointRow(id)
  const data = { ...(message && { message }), ...(test && { test }) }
  return <EndpointNavigation id={id} row={row} data={data} hasSchedule={hasSchedule} />
}

/** What the URL asks for is done once: a path to go to, a dialog to open when the first run is there. */
function useOpenFromUrl(
  { path, save }: EditorSearch,
  openTest: () => void,
  goTo: (path: string) => void,
  hasRun: boolean,
): void {
  const go = useEffectEvent(goTo)
  const open = useEffectEvent(openTest)
  useEffect(() => {
    if (path !== undefined) go(path)
  }, [path])
  useEffect(() => {
    if (save === 'test' && hasRun) open()
  }, [save, hasRun])
}
