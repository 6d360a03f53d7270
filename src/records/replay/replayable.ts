/** Whether a message can be replayed, as its record says. */

import type { MessageRecord } from '../../core/records/message-record.ts'
import type { MessageStore } from '../../store/sql/messages.ts'
import { callMessageLog } from '../message-log/message-search.ts'
import type { Replay } from './replay.ts'
import { blocker, type ReplayBlocker } from './replay-blocker.ts'
import { type Claims, originalsOf, succeededAmong } from './replay-history.ts'

export type Replayable = Readonly<{
  can: boolean
  /** `reason` for programs, `why` for people; of a message that cannot be replayed. */
  reason?: ReplayBlocker['reason']
  why?: string
  /** It can be replayed if the caller sends another body. */
  withBody?: true
  /** Another message: a replay of this one, or of the one that this one replays, that ended done. */
  alreadyDoneBy?: string
}>

/** Answers for one message at a time, as it reads more than the record. Fails with STORE_UNAVAILABLE. */
export type ReadReplayable = (record: MessageRecord) => Promise<Replayable>

export function createReadReplayable(store: MessageStore, replay: Replay, claims: Claims): ReadReplayable {
  return async (record) => {
    const ids = await callMessageLog(() => originalsOf(store, record))
    const found = ids.some((id) => claims.underWay.has(id)) ? blocker('under-way') : await replay.check(record)
    const logged = await callMessageLog(() => succeededAmong(store, ids))
    const done = ids.flatMap((id) => [claims.succeeded.get(id), logged.get(id)])
    // The message that is asked for may be the replay that ended done.
    const doneBy = done.find((id) => id !== undefined && id !== record.id)
    return {
      can: found === undefined,
      ...(found === undefined ? {} : { reason: found.reason, why: found.error }),
      ...(found !== undefined && replay.takesBody(record) ? { withBody: true as const } : {}),
      ...(doneBy === undefined ? {} : { alreadyDoneBy: doneBy }),
    }
  }
}
