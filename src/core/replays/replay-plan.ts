/** Plans to replay many messages, as they are stored. */
import type { RecordedOutcome } from '../records/message-record.ts'
import type { ReplayLookups } from './replay-lookups.ts'

/**
 * planned: no run has started; running: an instance replays its messages, or takes it over soon; waiting: the first messages
 * of a run have been replayed, and it waits to be continued; paused: a run has ended with messages left.
 */
export const PLAN_STATES = ['planned', 'running', 'waiting', 'paused', 'finished', 'cancelled'] as const
export type PlanState = (typeof PLAN_STATES)[number]

/** Messages with one endpoint, outcome, failure code and path. */
export type PlanGroup = Readonly<{
  endpointId: string | undefined
  /** The newest name of the endpoint. */
  endpoint: string | undefined
  outcome: RecordedOutcome
  code: string | undefined
  path: string | undefined
  count: number
}>

/**
 * Messages that cannot be replayed for one reason: `reason` for programs, `error` for people. `ids` are those of some, the
 * first of which is `sampleId`.
 */
export type PlanBlocker = Readonly<{
  reason: string
  error: string
  count: number
  sampleId: string
  ids: readonly string[]
}>

/** A replay of one of its messages. */
export type PlannedReplay = Readonly<{
  /** The message that was replayed. */
  id: string
  replayId: string
  outcome: RecordedOutcome
  code?: string
}>

/** The limits of one run of a plan. */
export type RunLimits = Readonly<{
  /** Messages of the run; the rest of the plan remains for another run. */
  max: number
  /** Messages in flight. 1 keeps the order in which they arrived. */
  concurrency: number
  /** Messages started in a second; undefined for no limit. */
  perSecond?: number | undefined
  /** Messages that are replayed one by one before the others; the run then waits to be continued. */
  canary?: number | undefined
}>

/** What does not change after a plan was created. */
export type PlanContent = Readonly<{
  /** ISO 8601. */
  createdAt: string
  filter: object
  /** What becomes of the lookups of all its messages; undefined for what a replay does by default. */
  lookups?: ReplayLookups | undefined
  /** Messages that can be replayed. */
  count: number
  groups: readonly PlanGroup[]
  /** Messages that match the filter and cannot be replayed; not in `count`. */
  cannot: readonly PlanBlocker[]
}>

export type PlanProgress = Readonly<{
  /** The index of the first message that has not run yet. */
  next: number
  /** Messages before `next` that have no result: they were in flight, or must wait for another run. */
  open: readonly string[]
  done: number
  failed: number
  /** Messages of `count` that could not be replayed when they were due. */
  skipped: readonly PlanBlocker[]
  /** The run that is in progress, or the last one. `ended`: its messages that have a result. */
  run?: Readonly<{ limits: RunLimits; ended: number; canaries: readonly PlannedReplay[] }> | undefined
  /** The newest replays that did not end done. */
  failures: readonly PlannedReplay[]
  /** The failure that stopped the last run. */
  stoppedBy?: string | undefined
}>

export type StoredPlan = Readonly<{
  id: string
  state: PlanState
  /** The instance that runs it; undefined if none does, or its lease has expired. */
  owner: string | undefined
  content: PlanContent
  progress: PlanProgress
}>
