/** Things that are read as a whole from time to time, and are events when they have changed: replay plans, the service. */
import type { Awaitable } from '../../core/json.ts'
import type { ConsumerStatus } from '../../inbound/kafka/endpoint-consumers.ts'
import type { EventSource } from './event-hub.ts'

const PLANS_EVERY_MS = 1_000
const STATUS_EVERY_MS = 5_000
/** Consumers in one event; `GET /consumers` has all. */
const MOST_LISTED = 100

/** Progress of a replay plan. */
export type ReplayProgress = Readonly<{
  id: string
  state: string
  count: number
  done: number
  failed: number
  skipped: number
  left: number
}>

/** An event for each plan that has changed. */
export function createReplayEvents(readPlans: () => Awaitable<readonly ReplayProgress[]>): EventSource {
  let before = new Map<string, string>()
  const read = async () =>
    (await readPlans()).map(({ id, state, count, done, failed, skipped, left }) => ({
      id,
      state,
      count,
      done,
      failed,
      skipped,
      left,
    }))
  const keep = (plans: readonly ReplayProgress[]): void => {
    before = new Map(plans.map((plan) => [plan.id, JSON.stringify(plan)]))
  }
  return {
    types: ['replay'],
    everyMs: PLANS_EVERY_MS,
    start: async () => keep(await read()),
    poll: async () => {
      const plans = await read()
      const changed = plans.filter((plan) => before.get(plan.id) !== JSON.stringify(plan))
      keep(plans)
      return changed.map((data) => ({ type: 'replay', data }))
    },
  }
}

/** The state of the service, of bounded size. */
export type ServiceStatus = Readonly<{ consumers: readonly ConsumerStatus[] }>

/** An event with the whole status when it has changed, and with the consumers that have. */
export function createStatusEvents(readStatus: () => Promise<ServiceStatus>): EventSource {
  let before = ''
  let consumersBefore = new Map<string, string>()
  const read = async () => {
    const { consumers, ...status } = await readStatus()
    const shown = consumers.map(({ partitions, ...consumer }) => consumer)
    const texts = new Map(shown.map((consumer) => [consumer.endpointId, JSON.stringify(consumer)]))
    const changed = shown.filter(({ endpointId }) => texts.get(endpointId) !== consumersBefore.get(endpointId))
    const text = JSON.stringify(status)
    const isOther = text !== before || changed.length > 0 || texts.size !== consumersBefore.size
    before = text
    consumersBefore = texts
    return { isOther, data: { ...status, consumers: changed.slice(0, MOST_LISTED) } }
  }
  return {
    types: ['status'],
    everyMs: STATUS_EVERY_MS,
    start: async () => void (await read()),
    poll: async () => {
      const { isOther, data } = await read()
      return isOther ? [{ type: 'status', data }] : []
    },
  }
}
