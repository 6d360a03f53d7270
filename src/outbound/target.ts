/**
 * What a kind of target is. Each is a folder, which says so in a Target, and a row of TARGETS (targets.ts): checks of
 * documents, stages, records, traces and OpenAPI documents ask the row.
 */
import type { JsonObject } from '../core/json.ts'
import type { LintSink } from '../core/lint.ts'
import type { Body } from '../core/ports/destination.ts'
import type { OutboundAnswer, OutboundHealth } from '../core/ports/http-client-port.ts'
import type { Outbound, PreparedRequest } from '../core/ports/outbound-port.ts'
import type { Sending } from '../core/run.ts'
import { type CallSpan, traceHeaders } from '../core/tracing/trace.ts'

/** A request of a document, or a whole document, by its fields. */
export type Fields = Readonly<Record<string, unknown>>

export type Target = Readonly<{
  /** The schemes of the URLs in `config.url` that lead to it, if that names it. */
  schemes?: readonly string[]
  /** The field of its own that names it, if it has one. */
  own?: OwnField
  /**
   * The rules of HTTP hold for its requests: a method, redirects, and the headers by which the service asks for a type and
   * belongs to a transaction.
   */
  isHttp: boolean
  /** The method of its calls in records, where the request has none that means anything. */
  method?: string
  /** The fields of requests that it alone takes, with the sentence for a request to another target that has one. */
  takes?: Readonly<Record<string, string>>
  /** A message succeeds only with this request: then a sentence says why the request cannot be optional. */
  promise?: string
  /** Requests to it, as sentences begin with them. */
  requests: string
  /** Its requests can be part of the transaction of the record that the message comes from. */
  joinsTransactions: boolean
  /** The answer that it gives whatever the other side says, and what its schema is. */
  fixedAnswer?: Readonly<{ description: string; schema: JsonObject; of(address: string): OutboundAnswer }>
  /** The fault of a URL that leads to it, if its URLs are no templates. */
  checkUrl?(url: string): string | undefined
  /** Rules of its own, checked at a request to it. */
  lint?(request: Fields, endpoint: Fields, lint: LintSink): void
  /** Its answer, where the service has that itself: nothing is sent, in a dry run neither, and a replay asks again. */
  answerHere?(url: string, run: Sending, called: CallSpan): OutboundAnswer
  /** The table that a URL names, which must be there. */
  tableInUrl?(url: string): string | undefined
  /** The headers that it sends, in order. */
  listHeaders(prepared: PreparedRequest, body: Body | undefined, run: Sending, called: CallSpan): HeaderList
  /** How traces have its calls. `address`: of the target of the call, without the prefix of records. */
  describeSpan(call: CallSpan, address: string): SpanNames
  /** In: what a service has for all targets, of which it takes its part. Nothing connects before the first request. */
  open(needs: never): OpenTarget
}>

type OwnField = Readonly<{
  name: string
  /** What records have before the address. */
  prefix: string
  /** What reports and expectations call the address. */
  shownAs: string
  /** Its host and method, where a call must have them. */
  host: string
  method: string
}>

export type HeaderList = readonly (readonly [name: string, value: string])[]

type SpanNames = Readonly<{
  name: string
  kind: 'client' | 'producer'
  attributes: Readonly<Record<string, string | number | undefined>>
}>

export type OpenTarget = Outbound & Readonly<{ health?(): OutboundHealth; close?(): Promise<void> }>

/** `traceparent` and `tracestate`, if the call is traced. */
export function withTrace(
  headers: PreparedRequest['headers'],
  { trace: { context } }: Sending,
  { spanId }: CallSpan,
): PreparedRequest['headers'] {
  return context === undefined || spanId === undefined ? headers : { ...headers, ...traceHeaders(context, spanId) }
}

/** Attributes of the server in a URL. */
export function serverAttributes(
  target: string,
  defaultPorts: Readonly<Record<string, number>> = {},
): SpanNames['attributes'] {
  const url = URL.parse(target)
  if (url === null) return {}
  const port = url.port === '' ? defaultPorts[url.protocol] : Number(url.port)
  return { 'server.address': url.hostname, 'server.port': port }
}
