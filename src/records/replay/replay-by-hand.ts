/** Replays one message that a person names, even if an earlier replay succeeded: the answer names that one. */

import type { MessageRecord } from '../../core/records/message-record.ts'
import type { MessageStore } from '../../store/sql/messages.ts'
import { callMessageLog } from '../message-log/message-search.ts'
import type { Replay, Replayed } from './replay.ts'
import { blocker } from './replay-blocker.ts'
import { type Claims, originalsOf, rememberSuccess, succeededAmong } from './replay-history.ts'
import type { EditedBody } from './replay-original.ts'

/** `alreadyDoneBy`: the id of an earlier replay whose outcome is done. Fails as Replay.run does. */
export type ReplayByHand = (
  record: MessageRecord,
  edited?: EditedBody,
) => Promise<Readonly<{ replayed: Replayed; alreadyDoneBy: string | undefined }>>

export function createReplayByHand(store: MessageStore, replay: Replay, claims: Claims): ReplayByHand {
  return async (record, edited) => {
    const ids = await callMessageLog(() => originalsOf(store, record))
    if (ids.some((id) => claims.underWay.has(id))) {
      return { replayed: { blocker: blocker('under-way') }, alreadyDoneBy: undefined }
    }
    for (const id of ids) claims.underWay.add(id)
    try {
      const logged = await callMessageLog(() => succeededAmong(store, ids))
      const [alreadyDoneBy] = ids.flatMap((id) => claims.succeeded.get(id) ?? logged.get(id) ?? [])
      const replayed = await replay.run(record, edited)
      if ('completed' in replayed && replayed.completed.outcome === 'done') {
        for (const id of ids) rememberSuccess(claims, id, replayed.completed.messageId)
      }
      return { replayed, alreadyDoneBy }
    } finally {
      for (const id of ids) claims.underWay.delete(id)
    }
  }
}
