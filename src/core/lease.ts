/** What a message holds that no other may run beside: the lease of its schedule. */
import { Failure } from './failure.ts'

/** A run that has started. Times are ISO 8601. */
export type ScheduledRun = Readonly<{
  /** When it was due; of one that was asked for, when that was. */
  scheduledFor: string
  startedAt: string
}>

export type RunLease = Readonly<{ endpointId: string; owner: string; run: ScheduledRun }>

export type Lease = Readonly<{
  /** As the store knows it. */
  claimed: RunLease
  /** By the clock: no other instance can run the schedule in the next seconds. */
  isHeld: boolean
  /** Aborted when it is not held any more. */
  signal: AbortSignal
}>

/** The failure of a message whose lease is lost; undefined while it is held, and of a message without one. */
export const leaseFailure = (lease: Lease | undefined): Failure | undefined =>
  lease === undefined || lease.isHeld ? undefined : leaseLost()

export const leaseLost = (): Failure => new Failure('SCHEDULE_LEASE_LOST', LOST)

const LOST =
  'This instance could not renew its lease on the schedule in time, or another one has it, so the run ended before the next one may start.'
