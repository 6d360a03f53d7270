/** A sender over a store of a database, whose clocks the test moves together, and HTTP targets that it really calls. */
import { createSecretSource } from '../../../src/app/secret-source.ts'
import type { NewDelivery } from '../../../src/core/deliveries/delivery.ts'
import { createIds } from '../../../src/core/id.ts'
import { createBudgets } from '../../../src/core/message-budget.ts'
import { type Attempt, createAttempt } from '../../../src/deliveries/attempt.ts'
import type { AttemptResult } from '../../../src/deliveries/next-step.ts'
import { DeliverySender } from '../../../src/deliveries/sender.ts'
import {
  type Circuit,
  closedCircuit,
  enter,
  openForMs,
  recordFailure,
  recordSuccess,
} from '../../../src/outbound/circuit.ts'
import { createHttpClient } from '../../../src/outbound/http/http-client.ts'
import { HTTP_TARGET } from '../../../src/outbound/http/http-target.ts'
import type { DeliveryStore } from '../../../src/store/sql/delivery-store.ts'
import { silent } from '../silent.ts'
import type { ClockedDatabase } from '../store/database-clock.ts'
import { deliveryRequest } from './claimed-delivery.ts'
import { type ManualTimers, manualTimers } from './manual-timers.ts'

/** As by default: CIRCUIT_BREAKER_FAILURES and so on. */
const CIRCUIT = { failures: 5, pauseMs: 500, maxPauseMs: 5_000 }
export const CONCURRENCY = 32
const ROOM = 1e9
const DEFAULT_HOURS_MS = [2, 5, 10, 14, 20, 24].map((hours) => hours * 3_600_000)
const TIMED_OUT: AttemptResult = {
  attempt: { at: '2027-01-01T00:00:00.000Z', ms: 1, fault: 'timeout' },
  state: 'pending',
  target: 'away',
}
/** The schedule of a delivery without one of its own. */
export const SCHEDULE_MS = [0, 5_000, 300_000, 1_800_000, ...DEFAULT_HOURS_MS]

export type SimulatedSender = Readonly<{
  store: DeliveryStore
  timers: ManualTimers
  sender: DeliverySender
  /** Stores deliveries in their order, each to the URL. Resolves to their ids. */
  accept(
    url: string,
    keys: readonly (string | undefined)[],
    rules: NewDelivery['request']['rules'],
  ): Promise<readonly string[]>
}>

/** On the clock of the test: how long a target takes to answer, or that it is not called, as no answer arrives in that time. */
type TargetTimes = Readonly<{ answersMs: number } | { timesOutMs: number }>

/** The sender is stopped with the test, before the store closes. */
export async function startSimulatedSender(
  { open, setClock, uses }: ClockedDatabase,
  startMs: number,
  timesOf: (target: string) => TargetTimes,
): Promise<SimulatedSender> {
  const { deliveries: store } = await open()
  let underWay = 0
  const track = async <T>(work: Promise<T>): Promise<T> => {
    underWay += 1
    try {
      return await work
    } finally {
      underWay -= 1
    }
  }
  const timers = manualTimers({
    moved: (nowMs) => setClock(startMs + nowMs),
    settle: async () => {
      for (let quiet = 0; quiet < 3; quiet = underWay === 0 ? quiet + 1 : 0)
        await new Promise((resolve) => setImmediate(resolve))
    },
  })
  const clock = () => startMs + timers.now()
  const http = createHttpClient({ connectTimeoutMs: 2_000, answerLimitBytes: 10_000 })
  const send = createAttempt({
    outbound: HTTP_TARGET.open({ http, settings: { requestTimeoutMs: 10_000 } }),
    secrets: createSecretSource({ names: [], folders: [] }, {}),
    newBudget: createBudgets({ parserLimitBytes: 10_000, messageMaxBytes: undefined, inFlightMaxBytes: 1_000_000 }),
    clock,
    logger: silent,
  })
  const circuits = new Map<string, Circuit>()
  /** With the rules of the circuit of the HTTP client, whose own is on the clock of the machine. */
  const attempt: Attempt = async (claimed, signal) => {
    const { target } = claimed.delivery
    const circuit = circuits.get(target) ?? closedCircuit()
    circuits.set(target, circuit)
    const pass = enter(circuit, timers.now(), CIRCUIT)
    if (pass === undefined) return { circuitOpenMs: openForMs(circuit, timers.now()) }
    const times = timesOf(target)
    const result = 'timesOutMs' in times ? TIMED_OUT : await track(send(claimed, signal))
    const ms = 'timesOutMs' in times ? times.timesOutMs : times.answersMs
    if (ms > 0) await new Promise<void>((resolve) => timers.after(ms, resolve))
    if ('target' in result && result.target === 'away')
      recordFailure(circuit, pass, { status: 503, why: 'away', retryAfterMs: undefined }, timers.now(), CIRCUIT)
    else recordSuccess(circuit, pass)
    return result
  }
  const sender = new DeliverySender({
    store: {
      dueTargets: (limit) => track(store.dueTargets(limit)),
      claim: (...given) => track(store.claim(...given)),
      now: () => track(store.now()),
      renew: (...given) => track(store.renew(...given)),
      end: (ends) => track(store.end(ends)),
    },
    attempt,
    owner: 'one',
    concurrency: CONCURRENCY,
    logger: silent,
    timers,
  })
  const newId = createIds(clock, 1)
  sender.start()
  uses(async () => {
    const stopped = sender.stop(0)
    await timers.pass(1)
    await stopped
    await http.close()
  })
  return {
    store,
    timers,
    sender,
    accept: async (url, keys, rules) => {
      const deliveries = keys.map(
        (orderKey): NewDelivery => ({
          id: newId(),
          messageId: newId(),
          endpointId: 'e'.repeat(24),
          endpoint: 'Orders',
          requestId: 'send',
          target: new URL(url).origin,
          ...(orderKey !== undefined && { orderKey }),
          request: deliveryRequest({ url, rules, timeoutMs: 5_000 }),
          body: '{}',
        }),
      )
      await store.accept(deliveries, ROOM)
      sender.wake()
      return deliveries.map(({ id }) => id)
    },
  }
}
