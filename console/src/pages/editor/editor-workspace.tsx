/** The editor of a draft that is open: its two panes, its dialogs, and what goes from one to the other. */
import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'
import { asFailure } from '../../api/api-failure.ts'
import { api, dataOf } from '../../api/client.ts'
import type { StoredText } from '../../api/document-calls.ts'
import { queryKeys } from '../../api/query-keys.ts'
import { useRefusal } from '../../api/session.ts'
import { type Draft, NEW } from '../../draft/draft.ts'
import { memberNamed, readTree } from '../../draft/json-places.ts'
import { discardDraft, useDraftNow } from '../../draft/use-draft.ts'
import type { CodeEditorHandle } from '../../ui/code/editor-setup.ts'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmDialog } from '../../ui/controls/dialog.tsx'
import { StatusChip } from '../../ui/data/status-chip.tsx'
import { EndpointNavigation, useEndpointRow } from '../../ui/endpoint/endpoint-page.tsx'
import { useKey } from '../../ui/keys/keymap.ts'
import { FailureNotice } from '../../ui/states/failure-notice.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { Page } from '../../ui/states/page.tsx'
import { Loading } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { messagePaths } from './assist/message-paths.ts'
import { faultSpan } from './document/document-faults.ts'
import { DocumentPane } from './document/document-pane.tsx'
import type { EditorSearch } from './editor-search.ts'
import type { Published } from './publish/publish-dialog.tsx'
import { lookupHosts } from './run/canned-answers.ts'
import { useRuns } from './run/use-runs.ts'
import { useLint } from './use-lint.ts'
import { useLoadedData } from './use-loaded-data.ts'

/** The document is shown before what runs it is there. */
const loadInspector = import('./inspector/inspector.tsx')
const Inspector = lazy(() => loadInspector.then((one) => ({ default: one.Inspector })))

/** Loaded after the editor is shown, so that they open while the service is away, too. */
const loadPublish = () => import('./publish/publish-dialog.tsx')
const loadMerge = () => import('./publish/merge-dialog.tsx')
const loadSaveTest = () => import('./save-test/save-test-dialog.tsx')
const PublishDialog = lazy(() => loadPublish().then((one) => ({ default: one.PublishDialog })))
const MergeDialog = lazy(() => loadMerge().then((one) => ({ default: one.MergeDialog })))
const SaveTestDialog = lazy(() => loadSaveTest().then((one) => ({ default: one.SaveTestDialog })))

export type EditorWorkspaceProps = Readonly<{
  draft: Draft
  stored: UseQueryResult<StoredText>
  search: EditorSearch
}>

type OpenDialog = 'publish' | 'merge' | 'test' | 'discard'

export function EditorWorkspace({ draft, stored, search }: EditorWorkspaceProps) {
  const { id } = draft
  const isNew = id === NEW
  const now = useDraftNow(draft)
  const refusal = useRefusal('author')
  const loaded = useLoadedData(id, search)
  const { data: vocabulary } = useQuery({
    queryKey: queryKeys.vocabulary,
    queryFn: ({ signal }) => dataOf(api.GET('/endpoints/vocabulary', { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const { faults, isChecked } = useLint(now.text, isNew ? undefined : id, refusal === undefined)
  const runs = useRuns({
    id,
    draft: now.text,
    current: isNew ? '' : now.base.text,
    isDirty: now.isDirty,
    loaded: loaded.data,
  })
  const [dialog, setDialog] = useState<OpenDialog | undefined>()
  const editor = useRef<CodeEditorHandle>(null)
  const { report } = runs.shown
  const paths = useMemo(() => messagePaths(report), [report])
  const hosts = useMemo(() => lookupHosts(now.text), [now.text])
  const title = useMemo(() => nameOf(now.text, isNew), [now.text, isNew])
  useEffect(() => {
    for (const load of [loadPublish, loadMerge, loadSaveTest]) load().catch(() => undefined)
  }, [])
  const goTo = (path: string) => {
    const { from, to } = faultSpan(readTree(now.text), path)
    editor.current?.select(from, to)
  }
  useOpenFromUrl(search, () => setDialog('test'), goTo, report !== undefined)
  const canPublish = refusal ?? (now.isDirty || isNew ? undefined : 'The draft is the stored document.')
  const publish = () => {
    if (canPublish === undefined) setDialog('publish')
  }
  useKey('Control+s', 'Publish', publish)
  useKey('Control+Enter', 'Run', runs.shown.run)
  const finish = usePublished(draft, report?.recorded?.group, () => setDialog(undefined))
  const isOlder = !isNew && stored.data !== undefined && stored.data.etag !== now.base.etag
  const close = () => setDialog(undefined)
  return (
    <Page
      title={title}
      above={isNew ? null : <Navigation id={id} search={search} />}
      actions={
        <>
          <DraftState isDirty={now.isDirty} isNew={isNew} />
          <Button
            tone="quiet"
            refused={now.isDirty ? undefined : 'There are no changes.'}
            onPress={() => setDialog('discard')}
          >
            Discard …
          </Button>
          <Button tone="primary" keys="Control+S" refused={canPublish} onPress={publish}>
            Publish …
          </Button>
        </>
      }
    >
      {isOlder && now.isDirty && (
        <div className="banner" role="status">
          <p>Somebody has published another version since you started.</p>
          <Button onPress={() => setDialog('merge')}>Merge …</Button>
        </div>
      )}
      {loaded.failure === null ? null : <FailureNotice failure={asFailure(loaded.failure)} />}
      {loaded.missing === undefined ? null : (
        <p role="status">
          The endpoint has no test named “
          <VisibleText text={loaded.missing} />
          ”.
        </p>
      )}
      <div className="workspace">
        <DocumentPane
          draft={draft}
          now={now}
          faults={faults}
          isChecked={isChecked}
          readOnly={refusal !== undefined}
          knowledge={() => ({ vocabulary, paths })}
          report={report}
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
            onPlace={goTo}
            onSaveTest={() => setDialog('test')}
          />
        </Suspense>
      </div>
      <Suspense>
        {dialog === 'publish' && (
          <PublishDialog
            draft={draft}
            faults={faults}
            onClose={close}
            onPublished={finish}
            onConflict={() => setDialog('merge')}
          />
        )}
        {dialog === 'merge' && <MergeDialog draft={draft} onClose={close} onMerged={() => setDialog('publish')} />}
        {dialog === 'test' && (
          <SaveTestDialog
            id={id}
            document={runs.inputs.runOn === 'current' ? now.base.text : now.text}
            runs={runs}
            report={report}
            onClose={close}
          />
        )}
      </Suspense>
      {dialog === 'discard' && (
        <ConfirmDialog
          title="Discard your changes?"
          confirm="Discard"
          tone="danger"
          onConfirm={() => draft.replaceText(now.base.text)}
          onClose={close}
        >
          The draft becomes the stored document again. Undo brings your changes back while this page is open.
        </ConfirmDialog>
      )}
    </Page>
  )
}

function nameOf(text: string, isNew: boolean): string {
  const name = memberNamed(readTree(text), 'name')?.value as unknown
  if (typeof name === 'string' && name.trim() !== '') return name
  return isNew ? 'New endpoint' : 'Endpoint without a name'
}

function DraftState({ isDirty, isNew }: Readonly<{ isDirty: boolean; isNew: boolean }>) {
  if (isNew) return <StatusChip tone="quiet">not published</StatusChip>
  return isDirty ? (
    <StatusChip tone="warn">draft with changes</StatusChip>
  ) : (
    <StatusChip tone="quiet">as stored</StatusChip>
  )
}

function Navigation({ id, search: { message, test } }: Readonly<{ id: string; search: EditorSearch }>) {
  const { data: row } = useEndpointRow(id)
  return <EndpointNavigation id={id} row={row} data={{ ...(message && { message }), ...(test && { test }) }} />
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

/** `group`: of failures, of the message that the draft was mended for. */
function usePublished(draft: Draft, group: string | undefined, close: () => void): (published: Published) => void {
  const client = useQueryClient()
  const navigate = useNavigate()
  return ({ id, etag, warnings }) => {
    close()
    draft.setBase({ text: draft.now.get().text, etag })
    const noted = warnings === 0 ? '' : warnings === 1 ? ' There is 1 warning.' : ` There are ${warnings} warnings.`
    void client.invalidateQueries({ queryKey: queryKeys.endpoints })
    if (draft.id === NEW) {
      discardDraft(NEW)
      notify(`The endpoint is published.${noted}`)
      void navigate({ to: '/endpoints/$id/edit', params: { id }, replace: true })
      return
    }
    const link = group && (
      <Link to="/groups/$key" params={{ key: group }}>
        Failures that are alike
      </Link>
    )
    dataOf(api.GET('/endpoints/{id}/versions', { params: { path: { id } } })).then(
      ([newest]) => notify(`Published as version ${newest?.version ?? ''}.${noted}`, 'good', link),
      () => notify(`Published.${noted}`, 'good', link),
    )
  }
}
