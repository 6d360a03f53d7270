/** The bodies of a message that has ended, in the order of its stages. */
import type { Json } from '../domain/json.ts'
import type { Mapped } from '../domain/message.ts'
import type { CallSpan } from '../domain/tracing/trace.ts'
import type { CompletedMessage } from '../intake/completed-message.ts'
import type { BodyKeeper } from './body-capture.ts'
import { holdsToken } from './recorded-secrets.ts'

/** What a message may have, as far as it came. */
type Reached = Partial<Pick<Mapped, 'transforms' | 'responseBody'>>

/** `secretHeaders`: lower-case names. */
export function keepBodies(finished: CompletedMessage, keeper: BodyKeeper, secretHeaders: ReadonlySet<string>): void {
  const { incoming, trace, answer, failure } = finished
  if (incoming !== undefined) keepIncoming(incoming, keeper, secretHeaders)
  if (trace !== undefined) {
    const { transforms, responseBody } = (trace.reached ?? {}) as Reached
    keepCalls(trace.calls, 'lookup', keeper)
    if (transforms !== undefined && Object.keys(transforms).length > 0) keeper.keepValue('transforms', transforms)
    if (responseBody !== undefined) keeper.keepValue('mapped', responseBody)
    keepCalls(trace.calls, 'response', keeper)
  }
  const { body, headers } = answer
  const content = typeof body === 'string' ? Buffer.from(body) : body
  const keep = failure === undefined ? keeper.keep : keeper.keepReport
  if (content.byteLength > 0) keep('answer', textOf(headers['content-type']), content)
}

function keepIncoming(
  { requestHeaders, query, urlParams, isRecord, body }: NonNullable<CompletedMessage['incoming']>,
  keeper: BodyKeeper,
  secretHeaders: ReadonlySet<string>,
): void {
  const headers = Object.fromEntries(
    Object.entries(requestHeaders).filter(([name, value]) => !secretHeaders.has(name) && !holdsToken(value)),
  )
  const beside: Json = { requestHeaders: headers, query, urlParams, ...(isRecord ? { isRecord } : {}) }
  keeper.keepValue('request', beside)
  if (body !== undefined) keeper.keep('incoming', requestHeaders['content-type'] ?? '', body)
}

function keepCalls(calls: readonly CallSpan[], kind: CallSpan['kind'], keeper: BodyKeeper): void {
  for (const { kind: one, id, item, answer } of calls) {
    if (one !== kind || answer === undefined) continue
    const which = `${kind}.${id}${item === undefined ? '' : `[${item}]`}`
    keeper.keep(which, textOf(answer.headers['content-type']), answer.body)
  }
}

const textOf = (header: string | readonly string[] | undefined): string =>
  typeof header === 'object' ? (header[0] ?? '') : (header ?? '')
