/** The request of a dry run, as JSON text with the document as typed. */
import { type CannedAnswers, readGiven } from '../../../api/given-parts.ts'
import { isJsonObject } from '../../../draft/document-faults.ts'
import { memberNamed, readTree } from '../../../draft/json-places.ts'
import { objectFault, type RunData, type TypedMessage } from './run-data.ts'

/** The document that runs: the text of the draft, the stored one, or the one that processed the recorded message. */
export type RunOn = 'draft' | 'current' | 'recorded'

/** Answers that the user wrote in place of what the data have. */
export type EditedAnswers = Readonly<{ lookups: CannedAnswers; responses: CannedAnswers }>

export const NO_EDITED_ANSWERS: EditedAnswers = { lookups: {}, responses: {} }

export type RunPlan = Readonly<{
  /** An endpoint that is not stored yet has none. */
  endpointId: string | undefined
  runOn: RunOn
  /** The text of the draft. */
  draft: string
  /** The text of the stored document. */
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
