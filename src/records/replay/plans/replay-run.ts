/** Runs the messages of a plan, each once, even if another plan or a call by hand has the same messages. */
import { asFailure, type Failure, isOverload } from '../../../core/failure.ts'
import type { RunLimits } from '../../../core/replays/replay-plan.ts'
import type { CompletedMessage } from '../../../inbound/completed-message.ts'
import type { MessageStore } from '../../../store/sql/messages.ts'
import { callMessageLog } from '../../message-log/message-search.ts'
import type { Replay } from '../replay.ts'
import { blocker, type ReplayBlocker } from '../replay-blocker.ts'
import { type Claims, rememberSuccess, succeededAmong } from '../replay-history.ts'
import type { PlanLease } from './plan-lease.ts'
import type { PlanQueue } from './plan-queue.ts'
import { createPace, type Pace } from './replay-pace.ts'

export type RunServices = Readonly<{
  replay: Replay
  store: MessageStore
  claims: Claims
  lease: PlanLease
  signal: AbortSignal
}>

/**
 * Resolves to the failure that stopped the run; undefined if all its messages have run or the signal aborted it. Each result
 * is stored before the next message starts. Rejects with LeaseLost.
 */
export async function runMessages(
  queue: PlanQueue,
  { concurrency, perSecond }: RunLimits,
  services: RunServices,
): Promise<Failure | undefined> {
  const { lease, signal } = services
  const pace = createPace(perSecond, signal)
  let stoppedBy: Failure | undefined
  const work = async (): Promise<void> => {
    while (stoppedBy === undefined && !signal.aborted) {
      const id = queue.take()
      if (id === undefined) return
      try {
        queue.finish(id, await runOne(id, pace, services))
      } catch (thrown) {
        queue.giveBack(id)
        if (signal.aborted) return
        stoppedBy = asFailure(thrown)
        return
      }
      await lease.save()
    }
  }
  // Every message in flight ends before the run does, whatever happens to another one.
  const workers = await Promise.allSettled(Array.from({ length: concurrency }, work))
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason
  return stoppedBy
}

/** Rejects if the message has not run. */
async function runOne(
  id: string,
  pace: Pace,
  { replay, store, claims, lease, signal }: RunServices,
): Promise<CompletedMessage | ReplayBlocker> {
  await pace.next()
  if (claims.underWay.has(id)) return blocker('under-way')
  claims.underWay.add(id)
  try {
    if (claims.succeeded.has(id) || (await callMessageLog(() => succeededAmong(store, [id]))).has(id)) {
      return blocker('replayed')
    }
    const record = await callMessageLog(() => store.get(id))
    if (record === undefined) return blocker('removed')
    for (;;) {
      await lease.hold()
      signal.throwIfAborted()
      try {
        const replayed = await replay.run(record)
        if ('blocker' in replayed) return replayed.blocker
        const { completed } = replayed
        if (completed.outcome === 'done') rememberSuccess(claims, id, completed.messageId)
        return completed
      } catch (thrown) {
        if (!isOverload(thrown)) throw thrown
        await pace.busy()
      }
    }
  } finally {
    claims.underWay.delete(id)
  }
}
