/** Runs the messages of a plan, each once, even if another plan or a call by hand has the same messages. */
import { asFailure, type Failure, isOverload } from '../domain/failure.ts'
import type { MessageStore } from '../domain/ports/message-store-port.ts'
import { callMessageLog } from '../message-log/message-search.ts'
import type { Replay } from './replay.ts'
import { blocker, type ReplayBlocker } from './replay-blocker.ts'
import { type Claims, rememberSuccess, succeededAmong } from './replay-history.ts'
import type { RunOptions } from './replay-options.ts'
import { createPace, type Pace } from './replay-pace.ts'

/** Supplies the messages of a run and records their results. */
export type RunTarget = Readonly<{
  /** The next message of the plan; undefined if there is none left. */
  take(): string | undefined
  /** The message has not started: take() returns it again. */
  giveBack(id: string): void
  finish(id: string, result: 'done' | 'failed' | ReplayBlocker): void
}>

export type RunServices = Readonly<{ replay: Replay; store: MessageStore; claims: Claims; signal: AbortSignal }>

/** Resolves to the failure that stopped the run; undefined if all its messages have run or the signal aborted it. */
export async function runMessages(
  target: RunTarget,
  { max, concurrency, perSecond }: RunOptions,
  services: RunServices,
): Promise<Failure | undefined> {
  const { signal } = services
  const pace = createPace(perSecond, signal)
  let started = 0
  let stoppedBy: Failure | undefined
  const work = async (): Promise<void> => {
    while (started < max && stoppedBy === undefined && !signal.aborted) {
      const id = target.take()
      if (id === undefined) return
      started += 1
      try {
        target.finish(id, await runOne(id, pace, services))
      } catch (thrown) {
        target.giveBack(id)
        if (signal.aborted) return
        stoppedBy = asFailure(thrown)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, max) }, work))
  return stoppedBy
}

/** Rejects if the message has not run. */
async function runOne(id: string, pace: Pace, { replay, store, claims, signal }: RunServices) {
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
      signal.throwIfAborted()
      try {
        const replayed = await replay.run(record)
        if ('blocker' in replayed) return replayed.blocker
        if (replayed.completed.outcome !== 'done') return 'failed'
        rememberSuccess(claims, id, replayed.completed.messageId)
        return 'done'
      } catch (thrown) {
        if (!isOverload(thrown)) throw thrown
        await pace.busy()
      }
    }
  } finally {
    claims.underWay.delete(id)
  }
}
