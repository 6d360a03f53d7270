/** Which messages were replayed already, or are being replayed, so that plans replay each message once. */

import type { MessageRecord } from '../../core/records/message-record.ts'
import type { MessageStore } from '../../store/sql/messages.ts'
import { callMessageLog } from '../message-log/message-search.ts'
import type { Replay, ReplayChoices, Replayed } from './replay.ts'
import { blocker, type ReplayBlocker } from './replay-blocker.ts'

/**
 * The replays of this process, by hand and by plans alike. `underWay` has the ids of messages that are being replayed;
 * `succeeded` has the id of the successful replay by that of the message, whose record may not be in the log yet.
 */
export type Claims = Readonly<{ underWay: Set<string>; succeeded: Map<string, string> }>

export const createClaims = (): Claims => ({ underWay: new Set(), succeeded: new Map() })

/** Enough entries to outlast the time that a record takes until it is in the log. */
const MAX_SUCCEEDED = 100_000

export function rememberSuccess({ succeeded }: Claims, id: string, replayId: string): void {
  succeeded.set(id, replayId)
  const [oldest] = succeeded.size > MAX_SUCCEEDED ? succeeded.keys() : []
  if (oldest !== undefined) succeeded.delete(oldest)
}

/** Replays of replays: nothing but repeated calls by hand makes a longer chain. */
const MAX_CHAIN_LENGTH = 10
const PAGE = 500

/**
 * Out: those of `ids` that have a replay, or a replay of a replay, whose outcome is done, each with the id of that replay.
 * Rejects with StoreUnavailable.
 */
export async function succeededAmong(
  store: MessageStore,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const succeeded = new Map<string, string>()
  let roots = new Map(ids.map((id) => [id, id]))
  for (let length = 0; roots.size > 0 && length < MAX_CHAIN_LENGTH; length++) {
    const further = new Map<string, string>()
    for await (const { id, replayOf = '', outcome } of listReplays(store, [...roots.keys()])) {
      const root = roots.get(replayOf)
      if (root === undefined) continue
      if (outcome === 'done') succeeded.set(root, id)
      else further.set(id, root)
    }
    roots = new Map([...further].filter(([, root]) => !succeeded.has(root)))
  }
  return succeeded
}

/** The ids of the message and of those that it replays, up to the original one. Rejects with StoreUnavailable. */
async function findOriginals(store: MessageStore, { id, replayOf }: MessageRecord): Promise<readonly string[]> {
  const ids = [id]
  let next = replayOf
  while (next !== undefined && ids.length < MAX_CHAIN_LENGTH) {
    ids.push(next)
    next = (await store.get(next))?.replayOf
  }
  return ids
}

async function* listReplays(store: MessageStore, ids: readonly string[]): AsyncGenerator<MessageRecord> {
  for (let start = 0; start < ids.length; start += PAGE) {
    yield* everyMatch(store, { replayOf: ids.slice(start, start + PAGE) })
  }
}

/** All messages that match a filter at the moment of the call, newest first. Rejects with StoreUnavailable. */
export async function* everyMatch(
  store: MessageStore,
  filter: Parameters<MessageStore['find']>[0],
): AsyncGenerator<MessageRecord> {
  let before: string | undefined
  for (;;) {
    const page = await store.find(filter, PAGE, before)
    yield* page
    before = page.at(-1)?.id
    if (page.length < PAGE || before === undefined) return
  }
}

/** `alreadyDoneBy`: the id of an earlier replay whose outcome is done. Fails as Replay.run does. */
export type ReplayByHand = (
  record: MessageRecord,
  choices: ReplayChoices,
) => Promise<Readonly<{ replayed: Replayed; alreadyDoneBy: string | undefined }>>

export function createReplayByHand(store: MessageStore, replay: Replay, claims: Claims): ReplayByHand {
  return async (record, choices) => {
    const ids = await callMessageLog(() => findOriginals(store, record))
    if (ids.some((id) => claims.underWay.has(id))) {
      return { replayed: { blocker: blocker('under-way') }, alreadyDoneBy: undefined }
    }
    for (const id of ids) claims.underWay.add(id)
    try {
      const logged = await callMessageLog(() => succeededAmong(store, ids))
      const [alreadyDoneBy] = ids.flatMap((id) => claims.succeeded.get(id) ?? logged.get(id) ?? [])
      const replayed = await replay.run(record, { ...choices, original: ids.at(-1) })
      if ('completed' in replayed && replayed.completed.outcome === 'done') {
        for (const id of ids) rememberSuccess(claims, id, replayed.completed.messageId)
      }
      return { replayed, alreadyDoneBy }
    } finally {
      for (const id of ids) claims.underWay.delete(id)
    }
  }
}

type Replayable = Readonly<{
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
type ReadReplayable = (record: MessageRecord) => Promise<Replayable>

export function createReadReplayable(store: MessageStore, replay: Replay, claims: Claims): ReadReplayable {
  return async (record) => {
    const ids = await callMessageLog(() => findOriginals(store, record))
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
