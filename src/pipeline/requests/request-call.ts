import type { Failure } from '../../core/failure.ts'
import type { StatusSet } from '../../core/http.ts'
import type { Json } from '../../core/json.ts'
import type { OutboundAnswer } from '../../core/ports/http-client-port.ts'
import type { Run } from '../../core/run.ts'
import type { SecretValues } from '../../core/secrets/secrets.ts'
import type { CallScope } from './request-parameters.ts'

export type RequestCall = Readonly<{
  /** Path of the request in the document, for example `requests.lookup[0]`. */
  path: string
  id: string
  allowed: StatusSet
  /** Content-Type of the request's configured headers. */
  contentType: string | undefined
  /** The items of its forEach; undefined if it has none. Fails with FOREACH_INVALID. */
  items: ((message: CallScope) => readonly Json[]) | undefined
  concurrency: number
  /** Builds the request but its body. Fails with PARAMETER_INVALID, SECRET_UNAVAILABLE and what `run.budget` fails with. */
  prepare(scope: CallScope, run: Run): PreparedRequest
  /**
   * `item`: the index of its item, in a forEach. Gives what `ending` makes of the answer, or of a failure: <kind>_UNREACHABLE,
   * _TIMED_OUT, _REFUSED, _UNREADABLE or _CIRCUIT_OPEN, EGRESS_DENIED and DEADLINE_EXCEEDED.
   */
  send<Result>(
    prepared: PreparedRequest,
    body: Body | undefined,
    run: Run,
    item: number | undefined,
    ending: CallEnding<Result>,
  ): Promise<Result>
}>

/** Makes the result of a call from its answer or failure. What it throws rejects `send`. */
export type CallEnding<Result> = Readonly<{
  answered(answer: OutboundAnswer, run: Run): Result
  failed(failure: Failure, run: Run): Result
}>

export type PreparedRequest = Readonly<{
  method: string
  url: string
  headers: Readonly<Record<string, string>>
  /** Of a record; null if the request has no key or its path finds nothing. */
  key: string | null
  /** The URL with references in place of secrets, for records and messages. */
  shownUrl: string
  /** Secrets of the URL and the headers; undefined if they refer to none. */
  secrets: SecretValues | undefined
}>
export type Body = Readonly<{ content: string | Uint8Array; contentType: string }>

export type RequestKind = 'LOOKUP' | 'RESPONSE'
