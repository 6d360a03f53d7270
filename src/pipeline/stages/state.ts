/** State of an endpoint, from one message to the next: recalled before a message, extracted from it, kept after it. */

import { asFailure, Failure } from '../../core/failure.ts'
import { type JsonObject, jsonLength } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import type { Mapped, Recalled, Received } from '../../core/message.ts'
import type { Run } from '../../core/run.ts'
import { readsRoot } from '../../document/reads/document-reads.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import { parsePath, type SourcePath } from '../../language/paths/path.ts'
import { parseStatusSet } from '../../language/status-set.ts'
import type { StateFilter, StateRecord, StateStore } from '../../store/sql/states.ts'
import { storeFailure } from '../../store/store-access.ts'
import type { Step } from '../chain.ts'
import type { PipelineSettings, Services } from '../services.ts'

const PATH = 'state'

/** True if messages of this endpoint read or leave state. */
export const usesState = (endpoint: Endpoint): boolean =>
  endpoint.state.extract !== undefined || readsRoot(endpoint, 'state')

/**
 * Reads what earlier messages left.
 *
 * `states`: undefined if the endpoint uses no state. Out: adds `state`, the newest record that passes `state.config`, else `{}`.
 * Fails: STATE_UNAVAILABLE.
 */
export function compileRecall(
  endpoint: Endpoint,
  id: string,
  states: StateStore | undefined,
  lint: LintSink,
): Step<Received, Recalled> {
  const { networkErrors, includeStatuses } = endpoint.state.config
  // An empty list accepts every status, and so messages without lookups.
  const set = parseStatusSet(includeStatuses.length === 0 ? ['*'] : includeStatuses)
  if (!set.ok) lint.at('state', 'config', 'includeStatuses').error(set.message)
  if (!set.ok || states === undefined) return { adds: { state: {} } }
  const filter: StateFilter = { networkErrors, statuses: set.value }

  const widen = (message: Received, record: StateRecord | undefined): Recalled => ({
    ...message,
    state: record === undefined ? {} : toStateRoot(record),
  })
  return (message) => {
    try {
      const record = states.newest(id, filter)
      if (!(record instanceof Promise)) return widen(message, record)
      return record.then(
        (found) => widen(message, found),
        (thrown) => Promise.reject(unavailable(thrown)),
      )
    } catch (thrown) {
      throw unavailable(thrown)
    }
  }
}

/** A record as the root `state` has it. */
export const toStateRoot = ({ values, lookupStatus, networkError }: StateRecord): JsonObject => ({
  ...values,
  ...(lookupStatus === undefined ? {} : { lookupHttpStatus: lookupStatus }),
  ...(networkError === undefined ? {} : { lookupNetworkError: networkError }),
})

/** The record of such a root. */
export function toStateRecord(root: JsonObject): StateRecord {
  const { lookupHttpStatus, lookupNetworkError, ...values } = root
  return {
    values,
    lookupStatus: typeof lookupHttpStatus === 'number' ? lookupHttpStatus : undefined,
    networkError: lookupNetworkError === true,
  }
}

/**
 * Takes the values of `state.extract` from the mapped message; `compileKeep` stores them at the end of the message.
 *
 * In: everything. Out: the same. Lints: each path that does not parse. Fails: STATE_TOO_LARGE, MESSAGE_TOO_COSTLY.
 */
export function compileExtract(
  endpoint: Endpoint,
  { stateLimitBytes }: Pick<PipelineSettings, 'stateLimitBytes'>,
  lint: LintSink,
): Step<Mapped, Mapped> {
  const extract = endpoint.state.extract
  if (extract === undefined) return { adds: {} }
  const sink = lint.at('state', 'extract')
  const { requestBody, responseBody, query, lookupRequests } = extract
  const groups = [
    ['requestBody', compileGroup(requestBody ?? {}, 'requestBody', sink.at('requestBody'))],
    ['responseBody', compileGroup(responseBody ?? {}, 'responseBody', sink.at('responseBody'))],
    ['query', compileGroup(query ?? {}, 'query', sink.at('query'))],
  ] as const
  const lookups = Object.entries(lookupRequests ?? {}).map(([id, paths]) => {
    const base = `lookupRequests.${id.replaceAll('.', '\\.')}.data`
    return [id, compileGroup(paths, base, sink.at('lookupRequests', id))] as const
  })
  const extractFrom = (message: Mapped): JsonObject => ({
    ...Object.fromEntries(groups.map(([name, group]) => [name, readGroup(group, message)])),
    lookupRequests: Object.fromEntries(lookups.map(([id, group]) => [id, readGroup(group, message)])),
  })
  return (message, run) => {
    const extracted = extractFrom(message)
    run.budget.spend(checkedBytes(extracted, stateLimitBytes), sink.path)
    run.extracted = extracted
    return message
  }
}

/** A character takes at most six bytes of JSON text, as `\u001f` does. */
const MAX_BYTES_PER_CHARACTER = 6

/** About the bytes of the values. Fails with STATE_TOO_LARGE. */
function checkedBytes(extracted: JsonObject, limitBytes: number): number {
  const characters = jsonLength(extracted, limitBytes)
  const mayBeTooLarge = characters * MAX_BYTES_PER_CHARACTER > limitBytes
  if (!mayBeTooLarge) return characters
  const bytes = characters > limitBytes ? characters : Buffer.byteLength(JSON.stringify(extracted))
  if (bytes <= limitBytes) return bytes
  throw new Failure(
    'STATE_TOO_LARGE',
    `The values of "state.extract" of this message have more than ${limitBytes} bytes (STATE_LIMIT); extract fewer or smaller values.`,
    { path: 'state.extract' },
  )
}

type Group = readonly (readonly [name: string, path: SourcePath])[]

/** Paths are relative to their root, which may be an array: `[0].id`. */
function compileGroup(paths: Readonly<Record<string, string>>, base: string, lint: LintSink): Group {
  return Object.entries(paths).flatMap(([name, text]) => {
    const relative = text.startsWith('[') ? parsePath(`${base}${text}`) : parsePath(text)
    const parsed = relative.ok && !text.startsWith('[') ? parsePath(`${base}.${text}`) : relative
    if (parsed.ok) return [[name, parsed.value] as const]
    lint.at(name).error(parsed.message)
    return []
  })
}

const readGroup = (group: Group, message: JsonObject): JsonObject =>
  Object.fromEntries(
    group.flatMap(([name, path]) => {
      const value = path.read(message)
      return value === undefined ? [] : [[name, value]]
    }),
  )

/** Whether a message leaves a state only if all that it sends is delivered. */
const needsDelivery = (endpoint: Endpoint): boolean =>
  endpoint.state.config.commit === 'delivered' && usesState(endpoint)

/** The state that a message leaves at its end; undefined if it leaves none. */
export type MakeState = (run: Run) => StateRecord | undefined

export function compileStateRecord(endpoint: Endpoint): MakeState {
  const isConditional = needsDelivery(endpoint)
  return (run) => {
    // The next poll would continue from where an old one was.
    if (run.recordedAnswers !== undefined || (isConditional && !run.isDelivered)) return undefined
    const { highestStatus, networkError } = run.lookups
    const end = run.clock()
    return {
      // A getter: of messages that end together, the store writes only the last.
      get values() {
        return { ...run.extracted, system: { timestamps: endTimes(run, end) } }
      },
      lookupStatus: highestStatus,
      networkError,
    }
  }
}

/** Stores the state of a message that succeeded or failed. Resolves when it is durable; rejects as the store does. */
export type Keep = (run: Run) => Promise<void>

export function compileKeep(endpoint: Endpoint, id: string, { states, deliveries }: Services): Keep {
  const make = compileStateRecord(endpoint)
  return async (run) => {
    const record = make(run)
    if (record === undefined) return
    if (run.lease === undefined) await states.append(id, record)
    else await deliveries.accept([], Number.POSITIVE_INFINITY, record, undefined, run.lease.claimed)
  }
}

function endTimes(run: Run, end: number): JsonObject {
  return {
    endpointStart: new Date(run.startedAt).toISOString(),
    endpointEnd: new Date(end).toISOString(),
    endpointDuration: { milliseconds: end - run.startedAt },
    // openhim-mediator-mapping keeps the times of both kinds here, and documents read them here.
    lookupRequests: { ...run.responseTimes, ...run.lookupTimes },
    ...(Object.keys(run.responseTimes).length === 0 ? {} : { responseRequests: { ...run.responseTimes } }),
  }
}

/** The failure of a message whose state was not stored: STATE_UNAVAILABLE if the store did not answer. */
export function notKept(thrown: unknown): Failure {
  const failure = asFailure(unavailable(thrown))
  failure.stage ??= 'extract'
  return failure
}

const unavailable = (thrown: unknown): unknown =>
  storeFailure('STATE_UNAVAILABLE', 'The state of this endpoint cannot be read or kept now; try again.', thrown, PATH)
