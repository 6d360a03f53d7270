/** What a dry run of the editor runs on: a recorded message, a stored test, or a message that was typed. */
import { isRecord, readGiven } from '../../../api/given-parts.ts'
import type { StoredTest } from '../../../api/run-calls.ts'

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
