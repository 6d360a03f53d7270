/** Which answers are kept to be given again, and how that is done. */
import type { KeptAnswer } from '../domain/answer-store.ts'
import { FAILURES, Failure, type FailureCode } from '../domain/failure.ts'
import type { Outcome } from './compile.ts'

/** Statuses that tell of the moment, or of whoever asks, rather than of the message. */
const PASSING: ReadonlySet<number> = new Set([401, 403, 407, 408, 425, 429])

/**
 * Whether the same message, sent again, is to get this answer: it was done, in part at least, or refused for what it is.
 * What may succeed later is worked on again; so is what another system, asked by a lookup, does not know yet.
 */
export function isFinal({ answer: { status }, failure }: Outcome): boolean {
  if (status >= 500 || PASSING.has(status)) return false
  return failure === undefined || !(failure.retry || failure.code === 'LOOKUP_REFUSED')
}

export function keptOf({ answer, failure }: Outcome, messageId: string, limitBytes: number): KeptAnswer {
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

/** Tells the sender that the message was not worked on again. */
const REPLAYED = 'idempotency-replayed'

/** The same status, headers and body. Throws IDEMPOTENCY_ANSWER_NOT_KEPT where only that much is known. */
export function giveAgain({ messageId, status, headers, partial, refused, code, body }: KeptAnswer): Outcome {
  if (body === undefined) {
    const sentence = `The message with this key was done already, as ${messageId} (status ${status}), and was not done again; its answer was larger than what is kept (IDEMPOTENCY_ANSWER_LIMIT).`
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
  const known: FailureCode = Object.hasOwn(FAILURES, code) ? (code as FailureCode) : 'INTERNAL'
  return { answer, failure: new Failure(known, `The answer of ${messageId}, given again.`, { status }) }
}
