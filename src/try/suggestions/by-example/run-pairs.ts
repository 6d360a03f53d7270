/** Runs a document over the messages of examples: the compiler and intake of the service, with the answers that the examples have. */
import { NO_ID } from '../../../core/id.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json.ts'
import { isError, type Lint } from '../../../core/lint.ts'
import type { Logger } from '../../../core/ports/logger-port.ts'
import { letOthersRun } from '../../../core/slice.ts'
import { compileDocument } from '../../../endpoints/compiled-endpoint.ts'
import type { PipelineSettings, Services } from '../../../pipeline/services.ts'
import { toIncoming } from '../../dry-run/dry-run.ts'
import { createGivenServices } from '../../tests/given-services.ts'
import { intakeAt } from '../../tests/run-tests.ts'
import type { Given } from '../../tests/test-file.ts'
import { DEFAULT_NOW } from '../../tests/test-file.ts'

/** `path`: of the part of the document at which the message failed. */
export type PairRun = Readonly<{
  output: Json | undefined
  /** What the mapping could read, except headers that the example does not give. */
  roots: JsonObject
  failure?: Readonly<{ path: string; error: string }>
}>

export type GivenMessage = Pick<Given, 'message'> & Readonly<{ lookups?: Given['lookups'] }>

/** Out: the errors of the document, or the mapped output of each message, up to one that reached the time limit of expressions. */
export type RunPairs = (
  document: JsonObject,
  messages: readonly GivenMessage[],
) => Promise<Readonly<{ errors: readonly Lint[]; runs: readonly PairRun[] }>>

type RunPairsOptions = Readonly<{
  services: Services
  settings: PipelineSettings
  logger: Logger
}>

/** Messages of examples may be larger than those of endpoints: their size is bounded altogether. */
const BODY_LIMIT = 16 * 1_048_576

export function createRunPairs({ services, settings, logger }: RunPairsOptions): RunPairs {
  const sized = { ...settings, parserLimitBytes: BODY_LIMIT }
  return async (document, messages) => {
    const given = createGivenServices(services, sized)
    await letOthersRun()
    const stamp = { _id: NO_ID, createdAt: DEFAULT_NOW, updatedAt: DEFAULT_NOW, version: 1 }
    const { lints, compiled } = await compileDocument(document, stamp, given.services, sized)
    const errors = lints.filter(isError)
    const nowMs = Date.parse(DEFAULT_NOW)
    const intake = intakeAt(nowMs, sized, new Map(), logger)
    const runs: PairRun[] = []
    for (const [index, { message, lookups }] of errors.length > 0 ? [] : messages.entries()) {
      await letOthersRun()
      const step: Given = { message, nowMs, lookups: lookups ?? {}, responses: {}, secrets: {}, tables: {} }
      const { trace } = given.start({ given: step, seed: String(index), states: [] })
      const incoming = toIncoming({ message }, compiled, nowMs)
      // Long messages take long enough each way.
      await letOthersRun()
      const startedAt = performance.now()
      const { failure } = await intake.runDry(compiled, incoming, trace)
      const reached = (trace.reached ?? {}) as JsonObject
      const blamed = failure && { failure: { path: failure.options.path ?? '', error: failure.message } }
      runs.push({ output: reached.responseBody, roots: readRoots(reached, message), ...blamed })
      // Messages like this one would take as long each.
      if (failure !== undefined && performance.now() - startedAt >= settings.expressionTimeoutMs) break
    }
    return { errors, runs }
  }
}

function readRoots(
  { requestBody, query, urlParams, lookupRequests }: JsonObject,
  { headers }: Given['message'],
): JsonObject {
  const lookups = Object.entries(isObject(lookupRequests) ? lookupRequests : {}).map(([id, lookup]): [string, Json] => [
    id,
    Array.isArray(lookup) ? lookup.map(onlyData) : onlyData(lookup),
  ])
  const names = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])
  return {
    ...(requestBody === undefined ? {} : { requestBody }),
    ...(isObject(query) ? { query } : {}),
    ...(isObject(urlParams) ? { urlParams } : {}),
    ...(lookups.length === 0 ? {} : { lookupRequests: Object.fromEntries(lookups) }),
    ...(names.length === 0 ? {} : { requestHeaders: Object.fromEntries(names) }),
  }
}

const onlyData = (lookup: Json): JsonObject =>
  isObject(lookup) && lookup.data !== undefined ? { data: lookup.data } : {}
