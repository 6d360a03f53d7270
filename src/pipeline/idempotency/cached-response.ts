/** Which responses are cached, and how a cached response is replayed. */
import { Failure } from '../../core/failure.ts'
import { isFailureCode } from '../../core/failure-table.ts'
import type { CachedResponse } from '../../core/kept-answer.ts'
import type { Outcome } from '../outcome.ts'

/** Statuses that depend on the moment or the caller rather than on the message. */
const TRANSIENT: ReadonlySet<number> = new Set([401, 403, 407, 408, 425, 429])

/**
 * A repetition of the message gets this response: the message was processed, at least in part, or rejected for its
 * content. A message that may succeed later is processed again; so is one whose lookup another system refused, as that
 * system may know the data later. Once the requests were sent, a failure that comes again each time is final too.
 */
export function isFinal({ answer: { status }, failure }: Outcome): boolean {
  if (failure?.stage === 'answer' && !failure.retry) return true
  if (status >= 500 || TRANSIENT.has(status)) return false
  return failure === undefined || !(failure.retry || failure.kind.reprocess === true)
}

/** `messageId`: of the message that the response is for. A body of more than `limitBytes` is left out. */
export function toCachedResponse({ answer, failure }: Outcome, messageId: string, limitBytes: number): CachedResponse {
  const { status, headers, partial, refused } = answer
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body
  return {
    messageId,
    status,
    headers,
    ...(partial && { partial }),
    ...(refused && { refused }),
    ...(failure && { code: failure.code }),
    body: body.byteLength > limitBytes ? undefined : body,
  }
}

/** The response header that marks a replayed response. */
const REPLAYED = 'idempotency-replayed'

/** The same status, headers and body. Throws IDEMPOTENCY_ANSWER_NOT_KEPT if the body was too large to cache. */
export function replayResponse(response: CachedResponse): Outcome {
  const { messageId, status, headers, partial, refused, code, body } = response
  if (body === undefined) {
    const sentence = `The message with this key was already processed, as ${messageId} (status ${status}), and was not processed again; its response was larger than the limit for cached responses (IDEMPOTENCY_ANSWER_LIMIT).`
    throw new Failure('IDEMPOTENCY_ANSWER_NOT_KEPT', sentence)
  }
  const answer = {
    status,
    headers: { ...headers, [REPLAYED]: 'true' },
    body,
    repeats: messageId,
    ...(partial && { partial }),
    ...(refused && { refused }),
  }
  if (code === undefined) return { answer, failure: undefined }
  const known = isFailureCode(code) ? code : 'INTERNAL'
  return { answer, failure: new Failure(known, `The response of ${messageId} was replayed.`, { status }) }
}
