/** A compiled request of a document: what stages call, and what is prepared from a message. */
import type { Json } from '../../domain/json.ts'
import type { OutboundAnswer } from '../../domain/ports/http-client-port.ts'
import type { StatusSet } from '../../domain/ports/state-store-port.ts'
import type { Run } from '../../domain/run.ts'
import type { SecretValues } from '../../domain/secrets/secrets.ts'
import type { CallScope } from './request-parameters.ts'

export type RequestCall = Readonly<{
  /** Place of the request in the document, for example `requests.lookup[0]`. */
  path: string
  id: string
  allowed: StatusSet
  /** Own Content-Type of the request's configured headers. */
  contentType: string | undefined
  /** The items of its forEach; undefined where it has none. Fails with FOREACH_INVALID. */
  items: ((message: CallScope) => readonly Json[]) | undefined
  concurrency: number
  /** Everything but the body. Fails with PARAMETER_INVALID, and with SECRET_UNAVAILABLE. */
  prepare(scope: CallScope): PreparedRequest
  /** `item`: the position of what it is sent for, inside a forEach. Fails with <kind>_UNREACHABLE, _TIMED_OUT, _REFUSED, _UNREADABLE or _CIRCUIT_OPEN, with EGRESS_DENIED and DEADLINE_EXCEEDED. */
  send(prepared: PreparedRequest, body: Body | undefined, run: Run, item?: number): Promise<OutboundAnswer>
}>

export type PreparedRequest = Readonly<{
  method: string
  url: string
  headers: Readonly<Record<string, string>>
  /** Of a record; null where the request has no key or its path finds nothing. */
  key: string | null
  /** The URL with references in place of secrets, for whoever keeps or tells it. */
  shownUrl: string
  /** Those in the URL and the headers; undefined where they refer to none. */
  secrets: SecretValues | undefined
}>
export type Body = Readonly<{ content: string | Uint8Array; contentType: string }>

export type RequestKind = 'LOOKUP' | 'RESPONSE'
