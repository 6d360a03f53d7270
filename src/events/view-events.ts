/** Things that are read as a whole from time to time, and are events when they have changed: replay plans, the service. */
import type { Awaitable } from '../domain/json.ts'
import type { EventSource } from './event-hub.ts'

const PLANS_EVERY_MS = 1_000
const STATUS_EVERY_MS = 5_000

/** Progress of a replay plan. */
export type PlanProgress = Readonly<{
  id: string
  state: string
  count: number
  done: number
  failed: number
  skipped: number
  left: number
}>

/** An event for each plan that has changed. */
export function createReplayEvents(readPlans: () => Awaitable<readonly PlanProgress[]>): EventSource {
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
  const keep = (plans: readonly PlanProgress[]): void => {
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

/** An event with the whole status when it has changed. */
export function createStatusEvents(readStatus: () => Promise<object>): EventSource {
  let before = ''
  return {
    types: ['status'],
    everyMs: STATUS_EVERY_MS,
    start: async () => {
      before = JSON.stringify(await readStatus())
    },
    poll: async () => {
      const status = await readStatus()
      const text = JSON.stringify(status)
      if (text === before) return []
      before = text
      return [{ type: 'status', data: status }]
    },
  }
}
