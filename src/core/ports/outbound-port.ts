/**
 * The port through which the requests of documents go to their targets, each kind of which is a folder of outbound/ and a row
 * of its table.
 */
import type { ClientTls } from '../client-tls.ts'
import type { Sending } from '../run.ts'
import type { SecretValues } from '../secrets/secrets.ts'
import type { CallSpan } from '../tracing/trace.ts'
import type { Body, Destination } from './destination.ts'
import type { OutboundAnswer } from './http-client-port.ts'

/** What a client asks a token endpoint for a token with (RFC 6749 section 4.4), all secrets resolved. */
export type ClientCredentials = Readonly<{
  url: string
  /** The URL without its query, with references in place of secrets. */
  shownUrl: string
  originName?: string
  clientId: string
  clientSecret: string
  scope?: string
  audience?: string
}>

/** What a request authenticates with, beside its headers. */
export type RequestAuth = Readonly<{ oauth2?: ClientCredentials; tls?: ClientTls }>

/** A request, built from a message. */
export type PreparedRequest = Readonly<{
  method: string
  url: string
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>
  /** Of a record; null if the request has no key or its path finds nothing. */
  key: string | null
  /** The URL with references in place of secrets, for records and messages. */
  shownUrl: string
  /** Secrets of the URL, the headers and `auth`. */
  secrets: SecretValues | undefined
  auth?: RequestAuth
  /** Requests with the same key and URL have the same answer; none if the answer must not be kept. */
  cacheKey?: string
}>

export type Outgoing = Readonly<{
  prepared: PreparedRequest
  body: Body | undefined
  /** Milliseconds for the whole call, retries included. */
  timeoutMs: number
  /** As for OutboundRequest. */
  statedTimeoutMs?: number
}>

export interface Outbound {
  /**
   * Delivers, and gives the answer of the target, or what stands for it. `called`: the span of the call, which keeps what is
   * sent. Fails with OutboundError.
   */
  send(to: Destination, outgoing: Outgoing, run: Sending, called: CallSpan): Promise<OutboundAnswer>
}
