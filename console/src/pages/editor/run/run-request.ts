/** The request of a dry run, as JSON text with the document as typed. */
import { type CannedAnswers, isRecord, readGiven } from '../../../api/given-parts.ts'
import type { StoredTest } from '../../../api/run-calls.ts'
import { isJsonObject } from '../../../draft/document-faults.ts'
import { memberNamed, readTree } from '../../../draft/json-places.ts'

/** The document that runs: the text of the draft, the stored one, or the one that processed the recorded message. */
export type RunOn = 'draft' | 'current' | 'recorded'

/** Answers that the user wrote in place of what the data have. */
export type EditedAnswers = Readonly<{ lookups: CannedAnswers; responses: CannedAnswers }>

export const NO_EDITED_ANSWERS: EditedAnswers = { lookups: {}, responses: {} }

export type RunPlan = Readonly<{
  /** An endpoint that is not stored yet has none. */
  endpointId: string | undefined
  runOn: RunOn
  draft: string
  current: string
  data: RunData
  answers: EditedAnswers
  live: boolean
}>

/** Characters of a report: less than what the page may parse. */
const REPORT_CHARACTERS = 800_000

/** The data and the draft must be JSON. */
export function runRequest(plan: RunPlan): string | undefined {
  const { data, runOn, answers, live } = plan
  const document = documentPart(plan)
  const message = messagePart(data)
  if (document === undefined || message === undefined) return undefined
  const ofTest = data.kind === 'test' ? readGiven(data.test) : undefined
  const text = runOn === 'draft' ? plan.draft : plan.current
  const lookups = known(text, 'lookup', { ...ofTest?.lookups, ...answers.lookups })
  const responses = known(text, 'response', { ...ofTest?.responses, ...answers.responses })
  return `{${[
    ...document,
    ...message,
    ...(Object.keys(lookups).length === 0 ? [] : [member('lookups', lookups)]),
    ...(Object.keys(responses).length === 0 ? [] : [member('responses', responses)]),
    ...(live ? [member('live', true)] : []),
    member('limit', REPORT_CHARACTERS),
  ].join(',')}}`
}

/** The same request for one value that its report cut. */
export const valueRequest = (request: string, at: string): string => `{${member('at', at)},${request.slice(1)}`

const member = (name: string, value: unknown): string => `${JSON.stringify(name)}:${JSON.stringify(value)}`

function documentPart({ endpointId, runOn, draft, data }: RunPlan): readonly string[] | undefined {
  const id = endpointId === undefined ? [] : [member('endpointId', endpointId)]
  if (runOn === 'draft') return isJsonObject(draft) ? [`"endpoint":${draft}`, ...id] : undefined
  if (runOn === 'recorded') return data.kind === 'recorded' ? [member('version', 'recorded')] : undefined
  return endpointId === undefined ? undefined : id
}

function messagePart(data: RunData): readonly string[] | undefined {
  if (data.kind === 'recorded') return [member('messageId', data.messageId)]
  if (data.kind === 'test') return [member('message', readGiven(data.test).message)]
  const message = typedPart(data.message)
  return message === undefined ? undefined : [`"message":${message}`]
}

/** The body is sent as typed: a text need not be sound JSON. */
function typedPart({ body, contentType, headers, query, urlParams, scheduledFor }: TypedMessage): string | undefined {
  const objects = { headers, query, urlParams }
  if (Object.values(objects).some((text) => objectFault(text) !== undefined)) return undefined
  return `{${[
    ...(scheduledFor === '' ? [] : [member('timestamps', { scheduledFor })]),
    ...(body === '' ? [] : [member('body', body)]),
    ...(contentType === '' ? [] : [member('contentType', contentType)]),
    ...Object.entries(objects)
      .filter(([, text]) => text.trim() !== '')
      .map(([name, text]) => `"${name}":${text}`),
  ].join(',')}}`
}

/** Answers of requests that the document has: others would be refused. */
function known(text: string, kind: 'lookup' | 'response', answers: CannedAnswers): CannedAnswers {
  if (Object.keys(answers).length === 0) return answers
  const root = readTree(text)
  const list = memberNamed(memberNamed(root, 'requests'), kind)
  const ids = new Set((list?.children ?? []).map((one) => memberNamed(one, 'id')?.value as unknown))
  return Object.fromEntries(Object.entries(answers).filter(([id]) => ids.has(id)))
}

/** A message as typed: the texts of headers and the like are JSON objects. */
export type TypedMessage = Readonly<{
  body: string
  contentType: string
  headers: string
  query: string
  urlParams: string
  /** When a run of the schedule was due; '' for a message of another kind. */
  scheduledFor: string
}>

export type RunData = Readonly<
  | { kind: 'recorded'; messageId: string }
  | { kind: 'test'; test: StoredTest }
  | { kind: 'typed'; message: TypedMessage }
>

export const NO_MESSAGE: TypedMessage = {
  body: '',
  contentType: '',
  headers: '',
  query: '',
  urlParams: '',
  scheduledFor: '',
}

/** A message of a test, to be changed by hand. */
export function typedFrom(test: StoredTest): TypedMessage {
  const { message } = readGiven(test)
  const json = (value: unknown) => (value === undefined ? '' : JSON.stringify(value, null, 2))
  return {
    body: typeof message.body === 'string' ? message.body : json(message.body),
    contentType: typeof message.contentType === 'string' ? message.contentType : '',
    headers: json(message.headers),
    query: json(message.query),
    urlParams: json(message.urlParams),
    scheduledFor: readDue(message) ?? '',
  }
}

/** When the run of a schedule was due that a message, or the input of a stage, is of. */
export function readDue({ timestamps }: Readonly<{ timestamps?: unknown }>): string | undefined {
  const due = isRecord(timestamps) ? timestamps.scheduledFor : undefined
  return typeof due === 'string' ? due : undefined
}

/** Why a text of a typed message cannot be sent. An empty text is fine. */
export function objectFault(text: string): string | undefined {
  if (text.trim() === '') return undefined
  try {
    return isRecord(JSON.parse(text)) ? undefined : 'This must be a JSON object.'
  } catch (thrown) {
    return `This is not JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`
  }
}
