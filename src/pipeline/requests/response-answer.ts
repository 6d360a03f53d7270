/**
 * Makes the answer of the message from the answers of its response requests. Their targets have accepted the requests, so
 * no body fails the message: one that cannot be converted is passed on unchanged.
 */
import { Failure } from '../../core/failure.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { Answer } from '../../core/message.ts'
import type { OutboundAnswer } from '../../core/ports/http-client-port.ts'
import type { Run } from '../../core/run.ts'
import { noteAnswer } from '../../core/tracing/trace.ts'
import type { Codec } from '../../formats/codec.ts'
import type { OutputFormat } from '../../formats/codecs.ts'
import { endToEnd } from '../../language/headers.ts'
import { payForOutput, write } from '../stages/serialise.ts'
import type { Refused } from './refusal.ts'
import { asBase64, asText, type Content, declaresGeneric, UNKNOWN_TYPE } from './upstream-answer.ts'

/** Of the run: what gets remarks on answers, and what pays for the answer. */
type Reported = Pick<Run, 'trace' | 'budget'>

/** The answer of the target, or the failure of the call. `refused`: of an answer that is not ok. */
export type RequestOutcome =
  | Readonly<{ answer: OutboundAnswer; content: Content; ok: boolean; refused?: Refused | undefined }>
  | Failure
/** The result of an optional request that failed, with its default. */
type Forgiven = Readonly<{ forgiven: RequestOutcome; instead: Json | undefined }>
export type RequestResult = RequestOutcome | Forgiven

export const isAtFault = (result: RequestResult): boolean => result instanceof Failure || ('ok' in result && !result.ok)

/**
 * Passes on the answer of one request: its status, its end-to-end headers, and its body in the output type, or unchanged
 * with its own type if it cannot be converted. A status above 599 is a failure of the upstream (RFC 9110 §15) and becomes
 * 502.
 */
export function passOn(
  answer: OutboundAnswer,
  content: Content,
  { codec, mediaType }: OutputFormat,
  run: Reported,
): Answer {
  const status = answer.status <= 599 ? answer.status : 502
  const { 'content-type': own = UNKNOWN_TYPE, ...headers } = endToEnd(answer.headers)
  const type = { 'content-type': mediaType }
  const empty = answer.body.byteLength === 0
  const mayHaveBody = status !== 204 && status !== 205 && status !== 304
  if (empty && (codec.emptyAnswer === '' || !mayHaveBody)) return { status, headers, body: '' }
  const isInOutputType = (content.codec === codec && content.portable) || declaresGeneric(answer, content, codec)
  if (isInOutputType) return { status, headers: { ...headers, ...type }, body: answer.body }
  const written = empty ? codec.emptyAnswer : convert(content, codec, run)
  // As bytes: with a string, Node would write the headers in UTF-8 too, but the upstream's are Latin-1.
  if (written !== undefined) {
    payForOutput(written, run)
    return {
      status,
      headers: { ...headers, ...type },
      body: typeof written === 'string' ? Buffer.from(written) : written,
    }
  }
  if (content.unreadable === undefined) noteAnswer(run.trace, answer, unwritable(codec))
  const coding = answer.isCoded === true ? { 'content-encoding': String(answer.headers['content-encoding']) } : {}
  return { status, headers: { ...headers, ...coding, 'content-type': own }, body: answer.body }
}

/** The answer if the only response request is optional and failed: its default, else the output. */
export function withoutResponse(
  output: string | Uint8Array,
  { instead }: Forgiven,
  { codec, mediaType }: OutputFormat,
): Answer {
  const body = instead === undefined ? output : write(instead, codec)
  return { status: 200, headers: { 'content-type': mediaType }, body }
}

/** Several answers as one, keyed by request id. Fails with SERIALISE_FAILED if an id or a default cannot be written. */
export function aggregate(
  responses: readonly Readonly<{ id: string }>[],
  outcomes: readonly (RequestResult | RequestResult[])[],
  { codec, mediaType }: OutputFormat,
  run: Reported,
): Answer {
  const gather = (bodyFromOutcome: (result: RequestResult) => Json): JsonObject =>
    Object.fromEntries(
      responses.map(({ id }, index) => {
        const outcome = outcomes[index] as RequestResult | RequestResult[]
        return [id, Array.isArray(outcome) ? outcome.map(bodyFromOutcome) : bodyFromOutcome(outcome)] as const
      }),
    )
  const body =
    tryWrite(gather(bodyFromResult), codec, run) ??
    write(
      gather((result) => toWritableBody(result, codec, run)),
      codec,
      undefined,
      run.budget,
    )
  payForOutput(body, run)
  const headers = { 'content-type': mediaType }
  if (!outcomes.flat().some(isAtFault)) return { status: 200, headers, body }
  return { status: 200, headers: { ...headers, 'x-crosswalk-status': 'partial' }, body, partial: true }
}

export function bodyFromResult(outcome: RequestResult): Json {
  if ('forgiven' in outcome) return outcome.instead === undefined ? bodyFromResult(outcome.forgiven) : outcome.instead
  if (outcome instanceof Failure) return { error: outcome.message, code: outcome.code }
  if (outcome.ok || outcome.answer.body.byteLength > 0) return outcome.content.value
  return { error: `The target answered with status ${outcome.answer.status} and no body.` }
}

/** The body as a value; as text or base64 if the output type cannot hold it. */
function toWritableBody(outcome: RequestResult, codec: Codec, run: Reported): Json {
  const body = bodyFromResult(outcome)
  if (!('answer' in outcome) || isWritable(body, codec, run)) return body
  noteAnswer(run.trace, outcome.answer, outcome.content.unreadable ?? unwritable(codec))
  const text = asText(outcome.answer)
  return text !== undefined && isWritable(text, codec, run) ? text : asBase64(outcome.answer)
}

const isWritable = (value: Json, codec: Codec, run: Reported): boolean => tryWrite({ value }, codec, run) !== undefined

const convert = ({ value, unreadable }: Content, codec: Codec, run: Reported): string | Uint8Array | undefined =>
  unreadable === undefined ? tryWrite(value, codec, run) : undefined

/** Gives up if the format cannot hold the value, or its text is longer than the budget allows. */
function tryWrite(value: Json, codec: Codec, { budget }: Reported): string | Uint8Array | undefined {
  try {
    return write(value, codec, undefined, budget)
  } catch (thrown) {
    if (thrown instanceof Failure) return undefined
    throw thrown
  }
}

const unwritable = ({ name }: Codec): string => `The body of the answer cannot be written as ${name}.`
