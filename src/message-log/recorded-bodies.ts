/** Captures the bodies of a completed message, in the order of its stages. */
import type { Mapped } from '../domain/message.ts'
import type { CallSpan } from '../domain/tracing/trace.ts'
import type { CompletedMessage } from '../intake/completed-message.ts'
import type { BodyCapture } from './body-capture.ts'
import { holdsToken } from './recorded-secrets.ts'

/** `secretHeaders`: lower-case names. */
export function captureBodies(
  { incoming, trace, answer, failure }: CompletedMessage,
  capture: BodyCapture,
  secretHeaders: ReadonlySet<string>,
): void {
  if (incoming !== undefined) captureIncoming(incoming, capture, secretHeaders)
  if (trace !== undefined) {
    const { transforms, responseBody } = (trace.reached ?? {}) as Partial<Mapped>
    captureCalls(trace.calls, 'lookup', capture)
    if (transforms !== undefined && Object.keys(transforms).length > 0) capture.addValue('transforms', transforms)
    if (responseBody !== undefined) capture.addValue('mapped', responseBody)
    captureCalls(trace.calls, 'response', capture)
  }
  const { body, headers } = answer
  const content = typeof body === 'string' ? Buffer.from(body) : body
  const add = failure === undefined ? capture.addBody : capture.addReport
  if (content.byteLength > 0) add('answer', firstOf(headers['content-type']), content)
}

function captureIncoming(
  { requestHeaders, query, urlParams, isRecord, body }: NonNullable<CompletedMessage['incoming']>,
  capture: BodyCapture,
  secretHeaders: ReadonlySet<string>,
): void {
  const headers = Object.fromEntries(
    Object.entries(requestHeaders).filter(([name, value]) => !secretHeaders.has(name) && !holdsToken(value)),
  )
  capture.addValue('request', { requestHeaders: headers, query, urlParams, ...(isRecord ? { isRecord } : {}) })
  if (body !== undefined) capture.addBody('incoming', requestHeaders['content-type'] ?? '', body)
}

function captureCalls(calls: readonly CallSpan[], kind: CallSpan['kind'], capture: BodyCapture): void {
  for (const { kind: one, id, item, answer } of calls) {
    if (one !== kind || answer === undefined) continue
    const which = `${kind}.${id}${item === undefined ? '' : `[${item}]`}`
    capture.addBody(which, firstOf(answer.headers['content-type']), answer.body)
  }
}

const firstOf = (header: string | readonly string[] | undefined): string => [header ?? []].flat()[0] ?? ''
