/** `/endpoints/:id/tests`: the stored tests, what they found the last time, and changing them. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiFailure } from '../../api/api-failure.ts'
import { queries } from '../../api/queries.ts'
import { answerKey, keyed, queryClient, reload } from '../../api/query-keys.ts'
import { changeTests, runTests, type StoredTest, type StoredTests, type TestReport } from '../../api/run-calls.ts'
import { useRefusal } from '../../api/session.ts'
import { LazyCodeEditor } from '../../ui/code/lazy-views.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmButton, ConfirmDialog } from '../../ui/controls/dialog.tsx'
import { TaskButton } from '../../ui/controls/plan-button.tsx'
import { TextLink } from '../../ui/controls/text-link.tsx'
import { Fact, Facts } from '../../ui/data/facts.tsx'
import { StatusChip, type Tone } from '../../ui/data/status-chip.tsx'
import { duration } from '../../ui/data/time.tsx'
import { shortJson } from '../../ui/endpoint/change-list.tsx'
import { EndpointPage, useEndpointRow } from '../../ui/endpoint/endpoint-page.tsx'
import { useKey } from '../../ui/keys/keymap.ts'
import { FailureNotice, FaultDetails } from '../../ui/states/failure-notice.tsx'
import { Empty, QueryView } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { newTest, REFUSALS, withChange } from './test-file.ts'

const route = getRouteApi('/endpoints/$id/tests')

/** A name: of the test that is edited; null: a new one. */
type Edited = Readonly<{ original: StoredTest | null; test: StoredTest }>

export default function TestsPage() {
  const { id } = route.useParams()
  const query = useQuery(queries.endpointTests(id))
  const refused = useRefusal('author')
  const runs = useTestRuns(id, query.data?.file, refused === undefined)
  const [edited, setEdited] = useState<Edited>()
  const tests = query.data?.file.tests ?? []
  /** `original`: null for a new test; `next`: null to delete it. Fails with an ApiFailure; nothing is changed then. */
  const save = async (original: StoredTest | null, next: StoredTest | null) => {
    await changeTests(id, (file) => {
      const changed = withChange(file, original, next)
      if (typeof changed === 'string') throw new ApiFailure(REFUSALS[changed], { status: 409 })
      return changed
    })
    await reload(queries.endpointTests(id).queryKey)
  }
  const add = () => setEdited({ original: null, test: newTest(tests) })
  return (
    <EndpointPage
      id={id}
      part="Tests"
      actions={
        <>
          <Button text="New test …" refused={refused} onPress={add} />
          <Button
            text="Run all"
            tone="primary"
            keys="Control+Enter"
            refused={refused ?? (tests.length === 0 ? 'There are no tests to run.' : undefined)}
            busy={runs.isRunning}
            onPress={() => runs.runAll()}
          />
        </>
      }
    >
      <QueryView query={query} what="Loading the tests">
        {({ file }) =>
          file.tests.length === 0 ? (
            <Empty
              title="There are no tests yet"
              action={<TextLink className="button" to="/endpoints/$id/edit" params={{ id }} text="Open the editor" />}
            >
              A test is a message with what must come of it. Run a message in the editor and save it as a test; it then
              runs at each change of the endpoint.
            </Empty>
          ) : (
            <>
              <RunSummary runs={runs} total={file.tests.length} refused={refused} />
              <FailureNotice failure={runs.failure} onRetry={() => runs.runAll()} />
              <ul className="stack" aria-label="Tests">
                {file.tests.map((test) => (
                  <TestCard
                    key={test.name}
                    {...{ id, test, runs, refused }}
                    onEdit={() => setEdited({ original: test, test })}
                    save={(next) => save(test, next)}
                  />
                ))}
              </ul>
            </>
          )
        }
      </QueryView>
      {edited !== undefined && (
        <TestEditor
          title={edited.original === null ? 'New test' : `Edit the test “${edited.original.name}”`}
          test={edited.test}
          onSave={async (test) => {
            await save(edited.original, test)
            runs.forget(edited.original?.name)
          }}
          onClose={() => setEdited(undefined)}
        />
      )}
    </EndpointPage>
  )
}

const withoutSkip = ({ skip: _, ...test }: StoredTest): StoredTest => test as StoredTest

type RunSummaryProps = Readonly<{
  runs: TestRuns
  total: number
  refused: string | undefined
}>

export function RunSummary({ runs, total, refused }: RunSummaryProps) {
  useKey('Control+Enter', 'Run all tests', refused === undefined ? () => runs.runAll() : undefined)
  const count = (verdict: string) => runs.all.filter(({ result }) => result.verdict === verdict).length
  const isOld = runs.all.some(({ version }) => version !== undefined && version !== runs.current)
  return (
    <div className="row" role="status">
      {runs.isRunning ? (
        <StatusChip tone="busy">Running</StatusChip>
      ) : runs.all.length === 0 ? (
        <span className="quiet">
          {total === 1 ? '1 test.' : `${total} tests.`}{' '}
          {refused ?? 'They have not run on this page yet; they run by themselves at each change of the endpoint.'}
        </span>
      ) : (
        <>
          <StatusChip tone={count('failed') > 0 ? 'bad' : 'good'}>
            {count('passed')} passed, {count('failed')} failed
            {count('skipped') > 0 ? `, ${count('skipped')} skipped` : ''}
          </StatusChip>
          {isOld && <span>The endpoint has changed since: run them again.</span>}
        </>
      )}
      <FaultDetails details={runs.faults} />
    </div>
  )
}

type TestEditorProps = Readonly<{
  title: string
  test: StoredTest
  /** Fails with an ApiFailure; the text stays then. */
  onSave(test: StoredTest): Promise<void>
  onClose(): void
}>

function TestEditor({ title, test, onSave, onClose }: TestEditorProps) {
  const [text, setText] = useState(() => JSON.stringify(test, null, 2))
  return (
    <ConfirmDialog
      title={title}
      size="large"
      confirm="Save"
      keys="Control+S"
      isDismissable={false}
      onConfirm={() => onSave(parseTest(text))}
      onClose={onClose}
    >
      <p className="hint">Bodies are stored unchanged; everyone who may view the endpoint can read them.</p>
      <div className="dialog-editor">
        <LazyCodeEditor label="Test" value={text} onChange={setText} />
      </div>
    </ConfirmDialog>
  )
}

function parseTest(text: string): StoredTest {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (thrown) {
    throw new ApiFailure(`This is not JSON: ${(thrown as SyntaxError).message}`, { status: 400 })
  }
  if (typeof value === 'object' && value !== null && typeof (value as StoredTest).name === 'string')
    return value as StoredTest
  throw new ApiFailure('A test is an object with a name.', { status: 400 })
}

const TONES: Readonly<Record<TestResult['verdict'], Tone>> = { passed: 'good', failed: 'bad', skipped: 'quiet' }

const explainNoReason = (text: string) => (text.trim() === '' ? 'Give a reason first.' : undefined)

type TestCardProps = Readonly<{
  id: string
  test: StoredTest
  runs: TestRuns
  refused: string | undefined
  onEdit(): void
  /** null deletes the test. */
  save(next: StoredTest | null): Promise<void>
}>

function TestCard({ id, test, runs, refused, onEdit, save }: TestCardProps) {
  const skip = typeof test.skip === 'string' ? test.skip : undefined
  const run = runs.findResult(test.name)
  const button = (text: string, verb = text) => ({ text, refused, label: `${verb} ${test.name}` })
  return (
    <li className="panel">
      <div className="between">
        <VisibleText as="h2" text={test.name} max={200} />
        <Verdict run={run} skip={skip} />
      </div>
      {skip !== undefined && (
        <p className="quiet">
          Skipped: <VisibleText text={skip} />
        </p>
      )}
      {run !== undefined && run.result.mismatches.length > 0 && <Mismatches mismatches={run.result.mismatches} />}
      <div className="row">
        <Button {...button('Run')} busy={runs.isRunning} onPress={() => runs.runOne(test)} />
        <Link
          className="button"
          to="/endpoints/$id/edit"
          params={{ id }}
          search={{ test: test.name }}
          aria-label={`Open in editor: ${test.name}`}
        >
          Open in editor
        </Link>
        <Button {...button('Edit JSON …', 'Edit JSON:')} onPress={onEdit} />
        {skip === undefined ? (
          <ConfirmButton
            {...button('Skip …', 'Skip')}
            title={`Skip the test “${test.name}”`}
            confirm="Skip"
            field={{ label: 'Reason', hint: 'Reports show it to everyone', explainRefusal: explainNoReason }}
            onConfirm={(reason) => save({ ...test, skip: reason.trim() })}
          />
        ) : (
          <TaskButton {...button('Do not skip')} run={() => save(withoutSkip(test))} />
        )}
        <ConfirmButton
          {...button('Delete …', 'Delete')}
          title="Delete this test"
          confirm="Delete test"
          tone="quiet"
          onConfirm={() => save(null)}
        >
          <p>
            The test “<VisibleText text={test.name} />” is deleted for everybody. It cannot be undone.
          </p>
        </ConfirmButton>
      </div>
    </li>
  )
}

function Verdict({ run, skip }: Readonly<{ run: TestRunResult | undefined; skip: string | undefined }>) {
  if (run === undefined) return <StatusChip tone="quiet">{skip === undefined ? 'Not run' : 'skipped'}</StatusChip>
  const { result, version } = run
  return (
    <span className="row">
      <StatusChip tone={TONES[result.verdict]}>{result.verdict}</StatusChip>
      <span className="quiet">
        {result.verdict === 'skipped' ? '' : duration(result.ms)}
        {version === undefined || result.verdict === 'skipped' ? '' : `, version ${version}`}
      </span>
    </span>
  )
}

const Mismatches = ({ mismatches }: Pick<TestResult, 'mismatches'>) => (
  <ul className="stack callout bad" aria-label="What differs">
    {mismatches.map(({ path, message, expected, actual }) => (
      <li key={`${path} ${message}`}>
        <p>
          <VisibleText code text={path} /> <VisibleText text={message} />
        </p>
        <Facts>
          <Fact name="expected" value={<VisibleText code text={shortJson(expected)} />} />
          <Fact name="actual" value={<VisibleText code text={shortJson(actual)} />} />
        </Facts>
      </li>
    ))}
  </ul>
)

type TestResult = TestReport['tests'][number]
/** `version`: of the document when the run started; undefined if it was not known. */
type TestRunResult = Readonly<{ result: TestResult; version: number | undefined }>
type Kept = Readonly<{ results: ReadonlyMap<string, TestRunResult>; faults: TestReport['lint']['errors'] }>
const NOTHING: Kept = { results: new Map(), faults: [] }

/** `mayRun`: whether the user has the role for it. */
function useTestRuns(id: string, file: StoredTests['file'] | undefined, mayRun: boolean) {
  const queryKey = answerKey<Kept>('test-results', 'of', id)
  const { data: kept = NOTHING } = useQuery({
    ...keyed(queryKey, () => NOTHING),
    enabled: false,
    gcTime: Number.POSITIVE_INFINITY,
  })
  const { data: row, refetch } = useEndpointRow(id)
  const update = (change: (before: Kept) => Kept) =>
    queryClient.setQueryData<Kept>(queryKey, (before) => change(before ?? NOTHING))
  const { mutate, isPending, error } = useMutation({
    mutationFn: async (tests: readonly StoredTest[] | undefined) => {
      const { version } = row ?? (await refetch({ cancelRefetch: false })).data ?? {}
      const given = tests === undefined ? {} : { tests: { ...file, tests } }
      const report = await runTests(JSON.stringify({ endpointId: id, ...given }))
      const results = report.tests.map((result) => [result.name, { result, version }] as const)
      update((before) => ({
        results: new Map([...(tests === undefined ? [] : before.results), ...results]),
        faults: report.ran ? [] : report.lint.errors,
      }))
    },
  })
  const run = (tests?: readonly StoredTest[]) => {
    if (mayRun && !isPending && file !== undefined) mutate(tests)
  }
  return {
    isRunning: isPending,
    /** Why the last run gave no results. */
    failure: error,
    /** Faults of the document, with which no test runs. */
    faults: kept.faults,
    /** The version that is active now. */
    current: row?.version,
    all: [...kept.results.values()],
    findResult: (name: string) => kept.results.get(name),
    runAll: () => run(),
    runOne: (test: StoredTest) => run([test]),
    /** The result of a test that is another one now says nothing any more. */
    forget: (name: string | undefined) =>
      update(({ results, faults }) => ({ results: new Map([...results].filter(([one]) => one !== name)), faults })),
  }
}

type TestRuns = ReturnType<typeof useTestRuns>
