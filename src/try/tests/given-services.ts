/**
 * The services of the messages of tests. A document is compiled once for all its tests, so these lead to what the running
 * step gives. Nothing leads to another system.
 */

import type { JsonObject } from '../../core/json.ts'
import { newTableReads } from '../../core/tables/table-reads.ts'
import { startTrace, type Trace } from '../../core/tracing/trace.ts'
import type { DryRunRequest } from '../../document/checks/dry-run-request.ts'
import type { Ambient } from '../../language/jsonata/expression.ts'
import { hasStatus } from '../../language/status-set.ts'
import type { Sandbox } from '../../pipeline/sandbox.ts'
import type { PipelineSettings, Services } from '../../pipeline/services.ts'
import { toStateRoot } from '../../pipeline/stages/state.ts'
import type { StateFilter, StateRecord, StateStore } from '../../store/sql/states.ts'
import {
  type CannedServices,
  cannedServices,
  createStandInSecrets,
  STORES_NOTHING,
} from '../dry-run/canned-services.ts'
import type { Given } from './test-file.ts'

/** What one step runs with. */
type GivenStep = Readonly<{
  given: Given
  /** Of chance. */
  seed: string
  /** What the steps before it left, oldest first; the step adds to it. */
  states: StateRecord[]
}>

export type RunningStep = Readonly<{
  trace: Trace
  sent: CannedServices['sent']
  /** The root `state` that the next message would see, if the message kept one. */
  kept(): JsonObject | undefined
}>

export type GivenServices = Readonly<{
  /** For compiling the document. */
  services: Services
  /** Makes the services those of this step; the one before it must be complete. */
  start(step: GivenStep): RunningStep
}>

/** `real`: its sandbox and egress policy are used, and nothing else of it. */
export function createGivenServices(
  real: Services,
  { messageTimeoutMs, answerLimitBytes }: Pick<PipelineSettings, 'messageTimeoutMs' | 'answerLimitBytes'>,
): GivenServices {
  let canned: Services | undefined
  let step: GivenStep | undefined
  const running = (): Services => {
    if (canned === undefined) throw new TypeError('A document of tests reached out before a test ran.')
    return canned
  }
  const ambient = (): Ambient => ({ nowMs: step?.given.nowMs ?? 0, seed: step?.seed ?? '' })
  const services: Services = {
    ...real,
    outbound: { send: (to, outgoing, run, called) => running().outbound.send(to, outgoing, run, called) },
    states: {
      newest: (id, filter) => running().states.newest(id, filter),
      append: (id, record) => running().states.append(id, record),
    },
    deliveries: STORES_NOTHING,
    secrets: createStandInSecrets((name) => {
      const secrets = step?.given.secrets ?? {}
      return Object.hasOwn(secrets, name) ? secrets[name] : undefined
    }),
    ambient,
    sandbox: real.sandbox && ambientSandbox(real.sandbox, ambient, messageTimeoutMs),
  }

  return {
    services,
    start: (next) => {
      step = next
      const { message, lookups, responses, state } = next.given
      const given = state === undefined ? message : { ...message, state }
      const request: DryRunRequest = { message: given, lookups, responses, live: false }
      const trace = startTrace()
      trace.tableReads = newTableReads(true)
      const own = cannedServices(request, services, answerLimitBytes)
      let kept: StateRecord | undefined
      const states: StateStore = {
        newest: (id, filter) =>
          state === undefined
            ? next.states.findLast((record) => passes(record, filter))
            : own.services.states.newest(id, filter),
        append: async (_id, record) => {
          kept = { ...record, values: record.values }
          next.states.push(kept)
        },
      }
      canned = { ...own.services, states }
      return { trace, sent: own.sent, kept: () => kept && toStateRoot(kept) }
    },
  }
}

/** As a store selects the newest state. */
const passes = ({ lookupStatus, networkError }: StateRecord, { networkErrors, statuses }: StateFilter): boolean =>
  hasStatus(statuses, lookupStatus) &&
  (networkErrors === 'no-filter' || (networkError === true) === (networkErrors === 'include'))

/** A sandbox whose messages take time and chance from `ambient`: their deadlines are not those of its clock. */
const ambientSandbox = (sandbox: Sandbox, ambient: () => Ambient, timeoutMs: number): Sandbox => ({
  compile: async (program) => {
    const compiled = await sandbox.compile({ ...program, isAmbient: true })
    const deadlineAt = () => Date.now() + timeoutMs
    return {
      ...compiled,
      transform: (message, _deadlineAt, options) =>
        compiled.transform(message, deadlineAt(), { ...options, ambient: ambient() }),
      evaluate: (text, message, _deadlineAt, options) =>
        compiled.evaluate(text, message, deadlineAt(), { ...options, ambient: ambient() }),
      validate: (place, data) => compiled.validate(place, data, deadlineAt()),
    }
  },
})
