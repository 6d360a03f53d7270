/** One message once more because a person says so: also where that was done already, which the person is told. */
import type { MessageRecord } from '../domain/message-record.ts'
import type { MessageStore } from '../domain/ports/message-store-port.ts'
import { callMessageLog } from '../message-log/message-search.ts'
import type { Replay, Replayed } from './replay.ts'
import { obstacle } from './replay-blocker.ts'
import { type Claims, rememberSuccess } from './replay-claims.ts'
import { lineOf, succeededAmong } from './replay-history.ts'
import type { EditedBody } from './replay-original.ts'

export type ReplayedByHand = Readonly<{
  replayed: Replayed
  /** The id of an earlier replay that ended done. */
  alreadyDoneBy: string | undefined
}>

/** Fails as Replay.run does. */
export type ReplayByHand = (record: MessageRecord, edited?: EditedBody) => Promise<ReplayedByHand>

export type ReplayByHandOptions = Readonly<{ store: MessageStore; replay: Replay; claims: Claims }>

export function createReplayByHand({ store, replay, claims }: ReplayByHandOptions): ReplayByHand {
  return async (record, edited) => {
    const line = await callMessageLog(() => lineOf(store, record))
    if (line.some((id) => claims.underWay.has(id))) {
      return { replayed: { obstacle: obstacle('under-way') }, alreadyDoneBy: undefined }
    }
    for (const id of line) claims.underWay.add(id)
    try {
      const logged = await callMessageLog(() => succeededAmong(store, line))
      const [alreadyDoneBy] = line.flatMap((id) => claims.succeeded.get(id) ?? logged.get(id) ?? [])
      const replayed = await replay.run(record, edited)
      if ('finished' in replayed && replayed.finished.outcome === 'done') {
        for (const id of line) rememberSuccess(claims, id, replayed.finished.messageId)
      }
      return { replayed, alreadyDoneBy }
    } finally {
      for (const id of line) claims.underWay.delete(id)
    }
  }
}
