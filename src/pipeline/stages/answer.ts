/** The answer that the document makes of a message that succeeded. */
import { Failure } from '../../core/failure.ts'
import { isBodiless } from '../../core/http.ts'
import { type Awaitable, type JsonObject, jsonLength } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import type { Answer, Answered } from '../../core/message.ts'
import type { Run } from '../../core/run.ts'
import { answerFormat, type Endpoint, mapsAnswer } from '../../document/schema/schema.ts'
import { outputFormat } from '../../formats/codecs.ts'
import type { Step } from '../chain.ts'
import { createExpressionCompiler } from '../expressions.ts'
import { compileEntries } from '../mapping-entries.ts'
import { andThen } from '../requests/for-each.ts'
import { splitHeaders } from '../requests/request-call.ts'
import {
  compileEvaluation,
  compileParameter,
  createReader,
  type Evaluated,
  fillHeaders,
  type Parameter,
  parameterText,
} from '../requests/request-parameters.ts'
import type { PipelineSettings, Services } from '../services.ts'
import { writePaid } from './serialise.ts'

/**
 * Changes status, headers and body of the answer as `answer` says, unless the target of the response request refused: then its
 * refusal is passed on.
 *
 * In: `answer`, `responses`. Out: the same with another `answer`.
 * Lints: what compileParameter and compileMapping do, and sources that do not exist.
 * Fails: ANSWER_INVALID, TRANSFORM_FAILED, REJECTED, MAPPING_FAILED, OUTPUT_TOO_LARGE, SERIALISE_FAILED, MESSAGE_TOO_COSTLY.
 */
export function compileAnswer(
  endpoint: Endpoint,
  services: Services,
  settings: PipelineSettings,
  lint: LintSink,
): Step<Answered, Answered> {
  const { answer: written } = endpoint
  if (written === undefined) return { adds: {} }
  const reader = createReader('answer', endpoint, services, settings)
  const sink = lint.at('answer')
  const { status: given } = written
  const [status] = typeof given === 'object' ? compileParameter('status', given, reader, sink.at('status')) : []
  const { texts, values } = splitHeaders(written.headers ?? {})
  const headers = values.flatMap(([name, spec]) => compileParameter(name, spec, reader, sink.at('headers', name)))
  const evaluate = compileEvaluation(status === undefined ? headers : [status, ...headers])
  const fixedStatus = typeof given === 'object' || given === undefined ? undefined : Number(given)
  const fixed = Object.fromEntries(Object.entries(texts).map(([name, value]) => [name.toLowerCase(), value]))
  const writeBody = compileBody(endpoint, services, settings, sink.at('mapping'))

  const make = (message: Answered, run: Run, evaluated: Evaluated, before: Answer): Answer => {
    const fill = (): [number | undefined, Record<string, string>] => [
      status === undefined ? fixedStatus : readStatus(status, message, evaluated),
      fillHeaders(headers, message, evaluated, settings.requestUrlLimitBytes),
    ]
    const [chosen, filled] = blamed(fill)
    run.budget.spend(jsonLength(filled, run.budget.leftBytes), sink.path)
    const answer = { ...before, status: chosen ?? before.status, headers: { ...before.headers, ...fixed, ...filled } }
    if (mayHaveBody(answer.status)) return { ...answer, body: toBytes(answer.body) }
    return { ...answer, headers: withoutBodyHeaders(answer.headers), body: '' }
  }
  return (message, run) => {
    if (!run.door.isRequest || message.answer.refused) return message
    return andThen(evaluate(message as unknown as JsonObject, run), (evaluated) =>
      andThen(writeBody?.(message, run) ?? message.answer, (before) => ({
        ...message,
        answer: make(message, run, evaluated, before),
      })),
    )
  }
}

/** Undefined if the body stays as it is. */
function compileBody(
  endpoint: Endpoint,
  services: Services,
  settings: PipelineSettings,
  lint: LintSink,
): ((message: Answered, run: Run) => Awaitable<Answer>) | undefined {
  if (!mapsAnswer(endpoint)) return undefined
  const compileExpression = createExpressionCompiler(endpoint, settings, services)
  const entries = endpoint.answer?.mapping ?? {}
  const apply = compileEntries(entries, 'answer', endpoint, lint, compileExpression, services.observer?.mapping)
  const { codec, mediaType } = outputFormat(answerFormat(endpoint), endpoint)
  return (message, run) =>
    andThen(apply(message as unknown as JsonObject, run), (value) => {
      const { answer } = message
      const headers = { ...withoutBodyHeaders(answer.headers), 'content-type': mediaType }
      const status = mayHaveBody(answer.status) ? answer.status : 200
      return { ...answer, status, headers, body: writePaid(value, codec, run, lint.path) }
    })
}

/** With a text, Node would write the headers in UTF-8 too, but those of others are Latin-1. */
const toBytes = (body: Answer['body']): Uint8Array => (typeof body === 'string' ? Buffer.from(body) : body)

/** A 205 has a length, which is 0 (RFC 9110 section 15.3.6). */
const mayHaveBody = (status: number): boolean => !isBodiless(status) && status !== 205

/** Headers about the body that another one replaces. */
const OF_BODY = /^(?:content-(?!location|security)|(?:repr-)?digest$|etag$|last-modified$|accept-ranges$)/

const withoutBodyHeaders = (headers: Answer['headers']): Answer['headers'] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_BODY.test(name)))

/** Undefined if it finds nothing. */
function readStatus(parameter: Parameter, message: Answered, evaluated: Evaluated): number | undefined {
  const text = parameterText(parameter, message as unknown as JsonObject, evaluated, 'be a status')
  if (text === undefined || /^[2-5]\d\d$/.test(text)) return text === undefined ? undefined : Number(text)
  throw invalid(`"${parameter.text}" gave no status from 200 to 599.`, parameter.path)
}

const invalid = (sentence: string, path: string | undefined): Failure =>
  new Failure('ANSWER_INVALID', sentence, path === undefined ? {} : { path })

/** The message has succeeded, so that its sender is not to blame for a value that no answer can have. */
function blamed<Made>(make: () => Made): Made {
  try {
    return make()
  } catch (thrown) {
    throw thrown instanceof Failure ? invalid(thrown.message, thrown.options.path) : thrown
  }
}
