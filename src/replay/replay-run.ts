/** Runs the messages of a plan: each once, whoever else asks for it at the same time. */
import { asFailure, type Failure, isOverload } from '../domain/failure.ts'
import type { MessageStore } from '../domain/ports/message-store-port.ts'
import { callMessageLog } from '../message-log/message-search.ts'
import type { Replay } from './replay.ts'
import { obstacle, type ReplayBlocker } from './replay-blocker.ts'
import { type Claims, rememberSuccess } from './replay-claims.ts'
import { succeededAmong } from './replay-history.ts'
import type { RunOptions } from './replay-options.ts'
import { createPace, type Pace } from './replay-pace.ts'

/** Where the run takes its messages from, and tells what became of them. */
export type RunTarget = Readonly<{
  /** The next message of the plan; undefined where there is none left. */
  take(): string | undefined
  /** The message has not begun: it is the next one again. */
  giveBack(id: string): void
  ended(id: string, what: 'done' | 'failed' | ReplayBlocker): void
}>

export type RunSurroundings = Readonly<{ replay: Replay; store: MessageStore; claims: Claims; signal: AbortSignal }>

/** Resolves to the failure that stopped the run; undefined where its messages have ended, or it was aborted. */
export async function runMessages(
  target: RunTarget,
  { max, concurrency, perSecond }: RunOptions,
  surroundings: RunSurroundings,
): Promise<Failure | undefined> {
  const pace = createPace(perSecond, surroundings.signal)
  let begun = 0
  let stoppedBy: Failure | undefined
  const work = async (): Promise<void> => {
    while (begun < max && stoppedBy === undefined && !surroundings.signal.aborted) {
      const id = target.take()
      if (id === undefined) return
      begun += 1
      try {
        target.ended(id, await runOne(id, pace, surroundings))
      } catch (thrown) {
        target.giveBack(id)
        if (surroundings.signal.aborted) return
        stoppedBy = asFailure(thrown)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, max) }, work))
  return stoppedBy
}

/** Rejects where the message has not run. */
async function runOne(id: string, pace: Pace, { replay, store, claims, signal }: RunSurroundings) {
  await pace.next()
  if (claims.underWay.has(id)) return obstacle('under-way')
  claims.underWay.add(id)
  try {
    if (claims.succeeded.has(id) || (await callMessageLog(() => succeededAmong(store, [id]))).has(id)) {
      return obstacle('replayed')
    }
    const record = await callMessageLog(() => store.get(id))
    if (record === undefined) return obstacle('removed')
    for (;;) {
      signal.throwIfAborted()
      try {
        const replayed = await replay.run(record)
        if ('obstacle' in replayed) return replayed.obstacle
        if (replayed.finished.outcome !== 'done') return 'failed'
        rememberSuccess(claims, id, replayed.finished.messageId)
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
