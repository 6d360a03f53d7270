/** Publishing: what changes by the service's own comparison, what it warns of, what the tests say, and a note. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { ApiFailure, asFailure } from '../api/api-failure.ts'
import { api, jsonText, readData, type Schemas } from '../api/client.ts'
import { createDocument, replaceDocument } from '../api/document-calls.ts'
import { answerKey, keyed } from '../api/query-keys.ts'
import {
  changeTests,
  dryRun,
  type RunReport,
  readTests,
  runTests,
  type StoredTest,
  type TestReport,
} from '../api/run-calls.ts'
import { useMe } from '../api/session.ts'
import { type DocumentFault, documentFaults, lintRequest } from '../draft/document-faults.ts'
import { type Draft, NEW } from '../draft/draft.ts'
import { forgetDraftTests, readDraftTests, withTests } from '../draft/kept-drafts.ts'
import { Button } from '../ui/controls/button.tsx'
import { Dialog } from '../ui/controls/dialog.tsx'
import { Checkbox, TextField } from '../ui/controls/fields.tsx'
import { StatusChip } from '../ui/data/status-chip.tsx'
import { ChangeList } from '../ui/endpoint/change-list.tsx'
import { FailureNotice, FaultDetails } from '../ui/states/failure-notice.tsx'
import { notify } from '../ui/states/notices.tsx'
import { Answer, Loading, QueryView } from '../ui/states/states.tsx'
import { VisibleText } from '../ui/text/visible-text.tsx'

/** What was published. */
export type Published = Readonly<{ id: string; etag: string | undefined; warnings: number }>

type PublishDialogProps = Readonly<{
  draft: Draft
  onClose(): void
  onPublished(published: Published): void
  /** Somebody else has published meanwhile. */
  onConflict(): void
}>

export function PublishDialog({ draft, onClose, onPublished, onConflict }: PublishDialogProps) {
  const { text, base } = draft.now.get()
  const [note, setNote] = useState('')
  const [reason, setReason] = useState('')
  const { may = [], who = '' } = useMe() ?? {}
  const isAdmin = may.includes('admin')
  const isNew = draft.id === NEW
  const [ownTests] = useState(() => readDraftTests(draft.id, who))
  const [isStoringTests, setStoringTests] = useState(true)
  const added = isStoringTests ? ownTests : NO_TESTS
  const publish = useMutation({
    mutationFn: async (override?: string) => {
      const written = await (isNew
        ? createDocument(text, { note })
        : replaceDocument(draft.id, text, { note, ifMatch: base.etag, override }))
      if (added.length > 0) await addTests(written.data._id ?? draft.id, added)
      forgetDraftTests(draft.id)
      return written
    },
    onSuccess: ({ data, etag, warnings }) => onPublished({ id: data._id ?? draft.id, etag, warnings: warnings.length }),
    onError: (thrown) => {
      if (thrown instanceof ApiFailure && thrown.status === 412) onConflict()
    },
  })
  const failure = publish.error === null ? undefined : asFailure(publish.error)
  const testsFailed = failure?.code === 'TESTS_FAILED'
  const canOverride = testsFailed && isAdmin
  const { faults, isChecking } = useFaults(text, isNew ? undefined : draft.id)
  const errors = faults.filter(({ severity }) => severity === 'error')
  const warnings = faults.filter(({ severity }) => severity === 'warning')
  // The service refuses to compare and to test a document with faults, which this dialog lists already.
  const isSound = !isChecking && errors.length === 0
  const refused = errors.length > 0 ? 'The document has faults: fix them first.' : undefined
  const actions = (
    <>
      <Button text="Cancel" onPress={onClose} />
      {canOverride ? (
        <Button
          text="Publish although tests fail"
          tone="danger"
          busy={publish.isPending}
          refused={reason.trim() === '' ? 'Give the reason first: it is kept in the audit log.' : undefined}
          onPress={() => publish.mutate(reason)}
        />
      ) : (
        <Button
          text="Publish"
          tone="primary"
          busy={publish.isPending}
          refused={refused}
          onPress={() => publish.mutate(undefined)}
        />
      )}
    </>
  )
  return (
    <Dialog
      title={isNew ? 'Publish a new endpoint' : 'Publish'}
      size="large"
      onClose={onClose}
      actions={actions}
      isDismissable={false}
    >
      {isSound && !isNew && <Changes id={draft.id} text={text} />}
      <Problems errors={errors} warnings={warnings} />
      {ownTests.length > 0 && (
        <Checkbox checked={isStoringTests} onChange={setStoringTests}>
          Store {ownTests.length === 1 ? 'the pair as a test' : `the ${ownTests.length} pairs as tests`}. They are
          stored unchanged, for everybody who may view the endpoint.
        </Checkbox>
      )}
      {isSound && !(isNew && added.length === 0) && <DraftTests id={draft.id} text={text} added={added} />}
      {!isNew && isChecking && <Loading what="Checking the document" />}
      {!isNew && errors.length > 0 && (
        <p className="quiet">The changes are compared and the tests run when the document has no faults.</p>
      )}
      <TextField
        label="Note"
        hint="Why this is changed: it is kept with the version and in the audit log."
        value={note}
        onChange={setNote}
      />
      {failure === undefined || failure.status === 412 ? null : (
        <FailureNotice failure={failure} shown={errors.flatMap(({ path }) => path ?? [])} />
      )}
      {canOverride && (
        <TextField label="Reason to publish although tests fail" value={reason} onChange={setReason} isRequired />
      )}
      {testsFailed && !isAdmin && (
        <p className="hint">An admin may publish despite failing tests, and gives the reason.</p>
      )}
    </Dialog>
  )
}

type Check = Readonly<{ faults: readonly DocumentFault[]; isChecking: boolean }>

/** Of the text that is published, which may have changed after the editor checked it. */
function useFaults(text: string, id: string | undefined): Check {
  const request = lintRequest(text, id)
  const { data, isLoading } = useQuery({
    ...keyed(answerKey<RunReport>('endpoints', 'lint', request), ({ signal }) => dryRun(request ?? '', signal)),
    enabled: request !== undefined,
  })
  const faults = useMemo(() => documentFaults(text, data?.lint), [text, data])
  return { faults, isChecking: isLoading }
}

function Changes({ id, text }: Readonly<{ id: string; text: string }>) {
  const query = useQuery({
    ...keyed(answerKey<Schemas['DocumentDiff']>('endpoints', 'diff', id, text), ({ signal }) =>
      readData(api.POST('/endpoints/{id}/diff', { params: { path: { id } }, ...jsonText(text), signal })),
    ),
  })
  return (
    <section aria-label="Changes">
      <h3>Changes</h3>
      <QueryView query={query} what="Comparing with the stored document">
        {({ changes }) => <ChangeList changes={changes} />}
      </QueryView>
    </section>
  )
}

type Found = readonly Pick<DocumentFault, 'path' | 'message'>[]

function Problems({ errors, warnings }: Readonly<{ errors: Found; warnings: Found }>) {
  if (errors.length + warnings.length === 0) return null
  return (
    <section aria-label="Faults and warnings">
      <h3>{errors.length > 0 ? 'Faults' : 'Warnings'}</h3>
      <FaultDetails details={[...errors, ...warnings]} />
    </section>
  )
}

const NO_TESTS: readonly StoredTest[] = []

/** The document is published already: if its tests cannot be stored, a notice says so, and nothing fails. */
async function addTests(id: string, tests: readonly StoredTest[]): Promise<void> {
  try {
    await changeTests(id, (file) => withTests(file, tests))
  } catch (thrown) {
    notify(`The tests of the pairs were not stored: ${asFailure(thrown).message}`, 'warn')
  }
}

type DraftTestsProps = Readonly<{ id: string; text: string; added: readonly StoredTest[] }>

/** `added`: tests that are stored with the draft. */
function DraftTests({ id, text, added }: DraftTestsProps) {
  const count = String(added.length)
  return (
    <section aria-label="Tests">
      <h3>Tests</h3>
      <Answer
        of={{
          ...keyed(answerKey<TestReport | null>('endpoints', 'draft-tests', id, text, count), async ({ signal }) => {
            const { file } = id === NEW ? { file: { tests: [] } } : await readTests(id, signal)
            const tests = withTests(file, added)
            if (tests.tests.length === 0) return null
            const of = id === NEW ? '' : `"endpointId":${JSON.stringify(id)},`
            const given = added.length === 0 ? '' : `"tests":${JSON.stringify(tests)},`
            return runTests(`{${of}${given}"endpoint":${text}}`)
          }),
        }}
        what="Running the tests of the endpoint"
      >
        {(report) =>
          report === null ? <p className="quiet">The endpoint has no tests.</p> : <TestResults {...report} />
        }
      </Answer>
    </section>
  )
}

const MAX_FAILED = 20

function TestResults({ ran, passed, failed, skipped, tests }: TestReport) {
  if (!ran) return <p>The tests do not run while the document has faults.</p>
  const broken = tests.filter(({ verdict }) => verdict === 'failed')
  return (
    <>
      <p role="status">
        <StatusChip tone={failed === 0 ? 'good' : 'bad'}>
          {passed} passed, {failed} failed
        </StatusChip>{' '}
        {skipped > 0 && <span className="quiet">{skipped} skipped</span>}
      </p>
      {broken.length > 0 && (
        <ul className="failure-details">
          {broken.slice(0, MAX_FAILED).map(({ name, mismatches }) => (
            <li key={name}>
              <VisibleText text={name} max={200} />
              {mismatches[0] === undefined ? null : (
                <>
                  : <VisibleText code text={mismatches[0].path} /> <VisibleText text={mismatches[0].message} />
                </>
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
