/** The port of the store of replay plans. */
import type { PlanProgress, PlanState, StoredPlan } from './replay-plan.ts'

export type NewPlan = Pick<StoredPlan, 'id' | 'content' | 'progress'>

/** `lease`: who holds it from now on and for how long; 'drop' ends it; without it, it stays as it is. */
export type PlanChange = Readonly<{
  state: PlanState
  progress: PlanProgress
  lease?: Readonly<{ owner: string; ms: number }> | 'drop'
}>

/**
 * Plans and their messages. A lease makes one instance at a time run a plan; leases expire by the clock of the store.
 * Rejects with StoreUnavailable if the store does not answer.
 */
export interface ReplayPlanStore {
  /**
   * Stores a plan in the state `planned`, with the ids of its messages. If the store has `most` plans already, it removes
   * old ones first: those that have ended, then those that wait, never one that runs. Resolves to false, and stores nothing,
   * if that does not make room.
   */
  insert(plan: NewPlan, messageIds: readonly string[], most: number): Promise<boolean>
  get(id: string): Promise<StoredPlan | undefined>
  /** Newest first. */
  list(): Promise<readonly StoredPlan[]>
  messageIds(id: string): Promise<readonly string[]>
  /**
   * Changes a plan in one transaction: `decide` gets the plan as it is and gives the change, undefined for none; it must not
   * throw. Resolves to the plan after the change; undefined if there is no such plan.
   */
  change(id: string, decide: (plan: StoredPlan) => PlanChange | undefined): Promise<StoredPlan | undefined>
  /**
   * Stores the progress and extends the lease of its owner. Resolves to the state of the plan; undefined, and
   * nothing is stored, unless the owner has the lease.
   */
  save(id: string, owner: string, progress: PlanProgress, leaseMs: number): Promise<PlanState | undefined>
  /** The ids of plans that are `running` while no instance has their lease, oldest first. */
  abandoned(): Promise<readonly string[]>
  /**
   * Cancels the plans whose ids are less than `before` and that do not run. Resolves to the ids of those that have not ended
   * then.
   */
  unended(before: string): Promise<readonly string[]>
}
