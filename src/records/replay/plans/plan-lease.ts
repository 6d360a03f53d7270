/**
 * The lease of an instance on a plan that it runs. The progress of the plan is stored with each renewal, so that another
 * instance that takes the plan over repeats no more than the messages that were in flight.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { PlanProgress } from '../../../core/replays/replay-plan.ts'
import type { ReplayPlanStore } from '../../../store/sql/replay-plan-store.ts'
import { StoreUnavailable } from '../../../store/store-access.ts'

/** Another instance runs the plan, or may do so by now. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

export interface PlanLease {
  /** Resolves when the progress of this moment is stored. Rejects with LeaseLost. */
  save(): Promise<void>
  /** Resolves if the lease is held for some time yet; renews it if not. Rejects with LeaseLost. */
  hold(): Promise<void>
  /** Renews no more, and does not wait for a store that does not answer. */
  close(): void
}

export type PlanLeaseOptions = Readonly<{
  store: ReplayPlanStore
  planId: string
  owner: string
  /** When the lease was taken, on the clock of `performance.now()`. */
  takenAt: number
  progress: () => PlanProgress
  /** Called when no further message may start: the lease is lost, or the plan is paused or cancelled. */
  onStop: () => void
}>

export const LEASE_MS = 10_000
const RENEW_MS = 2_500
const RETRY_MS = 250

export function holdLease({ store, planId, owner, takenAt, progress, onStop }: PlanLeaseOptions): PlanLease {
  let validUntil = takenAt + LEASE_MS
  let isLost = false
  let isClosed = false
  let saving: Promise<void> = Promise.resolve()
  let queued: Promise<void> | undefined

  const lose = (cause?: unknown): never => {
    isLost = true
    onStop()
    throw new LeaseLost(`The lease on the plan ${planId} is lost.`, { cause })
  }

  async function write(): Promise<void> {
    for (;;) {
      if (isLost) lose()
      const startedAt = performance.now()
      try {
        const state = await store.save(planId, owner, progress(), LEASE_MS)
        if (state === undefined) return lose()
        validUntil = startedAt + LEASE_MS
        if (state !== 'running') onStop()
        return
      } catch (thrown) {
        if (!(thrown instanceof StoreUnavailable)) throw thrown
        if (isClosed || performance.now() > validUntil) lose(thrown)
        await pause(RETRY_MS)
      }
    }
  }

  /** Calls while a save is under way share the next one. */
  const save = (): Promise<void> => {
    queued ??= saving
      .catch(() => undefined)
      .then(() => {
        queued = undefined
        saving = write()
        return saving
      })
    return queued
  }
  const timer = setInterval(() => void save().catch(() => undefined), RENEW_MS)
  timer.unref()

  return {
    save,
    hold: async () => {
      if (performance.now() > validUntil - RENEW_MS) await save()
    },
    close: () => {
      isClosed = true
      clearInterval(timer)
    },
  }
}
