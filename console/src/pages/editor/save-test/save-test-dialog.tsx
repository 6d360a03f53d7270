/** Saves the run as a test of the endpoint: what it expects is what the service saw when it ran the draft as a test. */

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiFailure } from '../../../api/api-failure.ts'
import { type CannedAnswers, isRecord, readGiven } from '../../../api/given-parts.ts'
import { queries } from '../../../api/queries.ts'
import { answerKey, keyed, reload } from '../../../api/query-keys.ts'
import {
  type CannedAnswer,
  changeTests,
  makeRecordedTest,
  type RunCall,
  type RunReport,
  runTests,
  type StoredTest,
} from '../../../api/run-calls.ts'
import { Button } from '../../../ui/controls/button.tsx'
import { ConfirmForm, Dialog } from '../../../ui/controls/dialog.tsx'
import { Checkbox, SelectField, TextField } from '../../../ui/controls/fields.tsx'
import { TextViewer } from '../../../ui/data/text-viewer.tsx'
import { FaultDetails } from '../../../ui/states/failure-notice.tsx'
import { notify } from '../../../ui/states/notices.tsx'
import { QueryView } from '../../../ui/states/states.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'
import { cannedFrom, typedAnswer } from '../run/canned-answers.ts'
import { type EditedAnswers, type RunData, readDue, type TypedMessage } from '../run/run-request.ts'
import type { Runs } from '../run/use-runs.ts'

export type SaveTestDialogProps = Readonly<{
  id: string
  /** The text of the document that the test runs against. */
  document: string
  runs: Runs
  report: RunReport | undefined
  onClose(): void
}>

type Made = Readonly<{
  given: Given
  source: Given | undefined
  snapshot: Given
  notReproduced: readonly Readonly<{ path: string; reason: string }>[]
  /** The message ends otherwise with pseudonyms: a test of that would expect what never happened. */
  endsOtherwise: boolean
}>

export function SaveTestDialog({ id, document, runs, report, onClose }: SaveTestDialogProps) {
  const { data, inputs } = runs
  const isRecorded = data.kind === 'recorded'
  const [isPseudonymous, setPseudonymous] = useState(isRecorded)
  const first = isRecorded ? `message ${data.messageId}` : data.kind === 'test' ? `${data.test.name}, changed` : ''
  const [name, setName] = useState(first)
  const made = useQuery({
    ...keyed(
      answerKey<Made>('endpoints', 'made-test', id, document, data, inputs.answers, isPseudonymous),
      async () => {
        const recorded = isRecorded ? await makeRecordedTest(data.messageId, first, isPseudonymous) : undefined
        const given = testInputFromRun({
          data,
          recorded: recorded?.test,
          answers: inputs.answers,
          calls: report?.calls ?? [],
          due: report?.stages?.map(({ input }) => readDue(input)).find((due) => due !== undefined),
        })
        const snapshot = await takeSnapshot(id, document, 'the message', given)
        const notReproduced = (recorded?.notReproduced ?? []).filter(({ path }) => path.startsWith('given'))
        const endsOtherwise = isPseudonymous && notReproduced.some(({ path }) => path === 'given')
        return { given, source: recorded?.test.source as Given | undefined, snapshot, notReproduced, endsOtherwise }
      },
    ),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  return (
    <Dialog title="Save as test" size="large" onClose={onClose} isDismissable={false}>
      <TextField label="Name" value={name} onChange={setName} isRequired />
      {isRecorded && <BodiesChoice isPseudonymous={isPseudonymous} onChange={setPseudonymous} />}
      <QueryView query={made} what="Running the draft as a test">
        {(found) => (
          <TestForm
            key={String(isPseudonymous)}
            id={id}
            document={document}
            name={name}
            made={found}
            onClose={onClose}
          />
        )}
      </QueryView>
    </Dialog>
  )
}

/** What the message does with the document. Fails with an ApiFailure if the document or what is given has faults. */
async function takeSnapshot(id: string, document: string, name: string, given: Given): Promise<Given> {
  const test = { name, given, expect: { snapshot: true } }
  const report = await runTests(
    `{"endpointId":${JSON.stringify(id)},"endpoint":${document},"update":true,"tests":[${JSON.stringify(test)}]}`,
  )
  const snapshot = (report.snapshots as Readonly<Record<string, Given>> | undefined)?.[name]
  if (snapshot !== undefined) return snapshot
  const [first] = report.tests.flatMap(({ mismatches }) => mismatches)
  const [fault] = report.lint.errors
  throw new ApiFailure(first?.message ?? fault?.message ?? 'The draft did not run as a test.', { status: 400 })
}

type BodiesChoiceProps = Readonly<{ isPseudonymous: boolean; onChange(isPseudonymous: boolean): void }>

const BodiesChoice = ({ isPseudonymous, onChange }: BodiesChoiceProps) => (
  <fieldset>
    <legend>Bodies</legend>
    <label className="checkbox">
      <input type="radio" name="bodies" checked={isPseudonymous} onChange={() => onChange(true)} />
      <span>With pseudonyms: other texts, numbers and dates of the same form</span>
    </label>
    <label className="checkbox">
      <input type="radio" name="bodies" checked={!isPseudonymous} onChange={() => onChange(false)} />
      <span>As they are: everyone who may view the endpoint can read them in the test</span>
    </label>
  </fieldset>
)

/** What of a run counts, in words. */
const WORDS = {
  outcome: 'Outcome',
  status: 'Status of the answer',
  body: 'Body of the answer',
  headers: 'Headers of the answer',
  calls: 'Calls of other systems',
  failure: 'Failure',
  state: 'State for the next message',
} as const
type Counted = keyof typeof WORDS

type TestFormProps = Readonly<{ id: string; document: string; name: string; made: Made; onClose(): void }>

function TestForm({ id, document, name, made, onClose }: TestFormProps) {
  const { given, source, snapshot, notReproduced, endsOtherwise } = made
  const all = expectable(snapshot)
  const offered = (Object.keys(WORDS) as Counted[]).filter((one) => all[one] !== undefined)
  const [counts, setCounts] = useState<ReadonlySet<Counted>>(() => new Set(offered.filter((one) => one !== 'headers')))
  const [ignored, setIgnored] = useState<readonly string[]>([])
  const createTest = (found: Given): StoredTest => ({
    name: name.trim(),
    ...(source && { source }),
    given,
    expect: createExpectation(found, counts, ignored),
  })
  const save = async () => {
    // Random values of a test follow its name, so it runs once more with the one that it got.
    const test = createTest(await takeSnapshot(id, document, name.trim(), given))
    await changeTests(id, (file) => ({ ...file, tests: [...file.tests, test] }))
    notify(`The test “${name.trim()}” is saved.`)
    void reload(queries.endpointTests(id).queryKey)
  }
  const body = (snapshot.answer as Given | undefined)?.body
  const pointers = leafPointers(body).filter((pointer) => !ignored.includes(pointer))
  return (
    <ConfirmForm
      confirm="Save the test"
      refused={
        name.trim() === ''
          ? 'A test needs a name.'
          : endsOtherwise
            ? 'With pseudonyms the message ends otherwise than it did. Save it with the bodies as they are.'
            : counts.size === 0
              ? 'Tick what counts: nothing does yet.'
              : undefined
      }
      onConfirm={save}
      onClose={onClose}
    >
      {notReproduced.length > 0 && (
        <section aria-label="Not as the message had it">
          <h3>Not as the message had it</h3>
          <FaultDetails details={notReproduced.map(({ path, reason: message }) => ({ path, message }))} />
        </section>
      )}
      <fieldset>
        <legend>What counts</legend>
        {offered.map((one) => (
          <Checkbox
            key={one}
            checked={counts.has(one)}
            onChange={(isOn) =>
              setCounts(new Set(isOn ? [...counts, one] : [...counts].filter((other) => other !== one)))
            }
          >
            {WORDS[one]}
          </Checkbox>
        ))}
      </fieldset>
      {counts.has('body') && (
        <div>
          <SelectField
            label="Ignore differences at"
            value=""
            choices={[
              { value: '', label: 'Add a place …' },
              ...pointers.map((pointer) => ({ value: pointer, label: pointer === '' ? 'the whole body' : pointer })),
            ]}
            onChange={(pointer) => {
              if (pointer !== '') setIgnored([...ignored, pointer])
            }}
          />
          {ignored.length > 0 && (
            <ul className="ignored-places">
              {ignored.map((pointer) => (
                <li key={pointer}>
                  <VisibleText code text={pointer} max={300} />{' '}
                  <Button
                    text="Remove"
                    tone="quiet"
                    label={`Compare ${pointer} again`}
                    onPress={() => setIgnored(ignored.filter((one) => one !== pointer))}
                  />
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
      <details>
        <summary>The test as it is stored</summary>
        <TextViewer text={JSON.stringify(createTest(snapshot), null, 2)} label="Test" fileName="test.json" />
      </details>
    </ConfirmForm>
  )
}

type Given = Readonly<Record<string, unknown>>

/** What a test is made from. `recorded`: the test of the service, for a recorded message. */
type TestSource = Readonly<{
  data: RunData
  recorded: StoredTest | undefined
  answers: EditedAnswers
  calls: readonly RunCall[]
  /** When the run of a schedule was due that the dry run was. */
  due: string | undefined
}>

/** Answers that the user wrote come in place of recorded ones; those of live calls were seen in the run. */
function testInputFromRun({ data, recorded, answers, calls, due }: TestSource): Given {
  const base: Given =
    data.kind === 'recorded'
      ? (recorded?.given ?? {})
      : data.kind === 'test'
        ? ((data.test.given as Given | undefined) ?? readGiven(data.test))
        : { message: parseMessage(data.message, due) }
  const lookups = { ...asAnswers(base.lookups), ...liveAnswers(calls), ...answers.lookups }
  const responses = { ...asAnswers(base.responses), ...answers.responses }
  return {
    ...base,
    ...(Object.keys(lookups).length > 0 && { lookups: asTestAnswers(lookups) }),
    ...(Object.keys(responses).length > 0 && { responses: asTestAnswers(responses) }),
  }
}

const asAnswers = (value: unknown): CannedAnswers => (isRecord(value) ? (value as CannedAnswers) : {})

function parseMessage({ body, contentType, headers, query, urlParams }: TypedMessage, due: string | undefined): Given {
  const object = (text: string) => (text.trim() === '' ? undefined : (JSON.parse(text) as unknown))
  const parts = { headers: object(headers), query: object(query), urlParams: object(urlParams) }
  return {
    ...(body !== '' && { body: asValue(body) }),
    ...(contentType !== '' && { contentType }),
    ...Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)),
    ...(due !== undefined && { timestamps: { scheduledFor: due } }),
  }
}

/** JSON is easier to read as a value than as a text. A text that is a JSON text itself would be another body. */
function asValue(body: string): unknown {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? value : body
  } catch {
    return body
  }
}

function liveAnswers(calls: readonly RunCall[]): CannedAnswers {
  const live = calls.filter(({ kind, answered }) => kind === 'lookup' && answered === 'live')
  const found: Record<string, CannedAnswer | CannedAnswer[]> = {}
  for (const call of live) {
    const answer = cannedFrom(typedAnswer(call))
    if (call.item === undefined) found[call.id] = answer
    else found[call.id] = [...[found[call.id] ?? []].flat(), answer]
  }
  return found
}

const asTestAnswers = (answers: CannedAnswers): unknown =>
  Object.fromEntries(
    Object.entries(answers).map(([id, answer]) => [
      id,
      Array.isArray(answer) ? answer.map(readable) : readable(answer),
    ]),
  )

const readable = (answer: CannedAnswer | readonly CannedAnswer[]): unknown => {
  const { body, ...rest } = answer as CannedAnswer
  const headers = rest.headers?.['content-type']
  return {
    ...rest,
    ...(body !== undefined && { body: typeof body === 'string' && isJson(headers) ? asValue(body) : body }),
  }
}

const isJson = (contentType: string | undefined): boolean => contentType === undefined || /[/+]json/.test(contentType)

/**
 * In: what the service saw in the run (a snapshot), and JSON Pointers into the body of the answer where anything may be. Out: what
 * a test can expect of it; undefined for what the run does not have.
 */
function expectable({ outcome, answer, calls, failure, state }: Given, ignored: readonly string[] = []) {
  const { status, body, headers } = isRecord(answer) ? answer : {}
  const hasHeaders = isRecord(headers) && Object.keys(headers).length > 0
  return {
    outcome,
    status,
    body: body === undefined ? undefined : withAnything(body, ignored),
    headers: hasHeaders ? literally(headers) : undefined,
    calls: expectedCalls(calls),
    failure: literally(failure),
    state: literally(state),
  } satisfies Record<Counted, unknown>
}

/** Out: `expect` of the test. */
function createExpectation(snapshot: Given, counts: ReadonlySet<Counted>, ignored: readonly string[]): Given {
  const all = Object.entries(expectable(snapshot, ignored)).filter(([name]) => counts.has(name as Counted))
  const { status, headers, body, ...others }: Given = Object.fromEntries(all)
  const answer = Object.entries({ status, headers, body }).filter(([, value]) => value !== undefined)
  return { ...others, ...(answer.length > 0 && { answer: Object.fromEntries(answer) }) }
}

/** Headers of calls are left out: credentials of a snapshot are digests, which no call has. */
function expectedCalls(calls: unknown): unknown {
  if (!Array.isArray(calls)) return []
  return calls.filter(isRecord).map(({ headers: _headers, ...call }) => ({
    ...call,
    ...(call.body !== undefined && { body: literally(call.body) }),
  }))
}

/** An object of which a name could be read as an operator is taken literally. */
function literally(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(literally)
  if (!isRecord(value)) return value
  if (Object.keys(value).some((name) => name.startsWith('$'))) return { $literal: value }
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, literally(inner)]))
}

const unescaped = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~')

function withAnything(body: unknown, pointers: readonly string[]): unknown {
  const steps = pointers.map((pointer) => pointer.split('/').slice(1).map(unescaped))
  return replaceAt(body, steps)
}

function replaceAt(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (paths.length === 0) return literally(value)
  if (paths.some((path) => path.length === 0)) return { $any: true }
  const below = (name: string) => paths.filter(([first]) => first === name).map(([, ...rest]) => rest)
  if (Array.isArray(value)) return value.map((item, index) => replaceAt(item, below(String(index))))
  if (!isRecord(value)) return value
  // Within an object that is taken literally no place can be left open.
  if (Object.keys(value).some((name) => name.startsWith('$'))) return { $any: true }
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, replaceAt(inner, below(name))]))
}

/** JSON Pointers to the leaves of a body, for a choice; the first ones of a large body. */
function leafPointers(body: unknown, max = 200): readonly string[] {
  const found: string[] = []
  const walk = (value: unknown, pointer: string) => {
    if (found.length >= max) return
    const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
    if (entries.length === 0) found.push(pointer)
    for (const [name, inner] of entries) walk(inner, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
  }
  walk(body, '')
  return found
}
