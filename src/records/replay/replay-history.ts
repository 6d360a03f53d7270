/** Which messages were replayed already, or are being replayed, so that plans replay each message once. */

import type { MessageRecord } from '../../core/records/message-record.ts'
import type { MessageStore } from '../../store/sql/messages.ts'

/**
 * The replays of this process, by hand and by plans alike. `underWay` has the ids of messages that are being replayed;
 * `succeeded` has the id of the successful replay by that of the message, whose record may not be in the log yet.
 */
export type Claims = Readonly<{ underWay: Set<string>; succeeded: Map<string, string> }>

export const createClaims = (): Claims => ({ underWay: new Set(), succeeded: new Map() })

/** Enough entries to outlast the time that a record takes until it is in the log. */
const MOST_SUCCEEDED = 100_000

export function rememberSuccess({ succeeded }: Claims, id: string, replayId: string): void {
  succeeded.set(id, replayId)
  const [oldest] = succeeded.size > MOST_SUCCEEDED ? succeeded.keys() : []
  if (oldest !== undefined) succeeded.delete(oldest)
}

/** Replays of replays: nothing but repeated calls by hand makes a longer chain. */
const LONGEST_CHAIN = 10
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
  for (let length = 0; roots.size > 0 && length < LONGEST_CHAIN; length++) {
    const further = new Map<string, string>()
    for await (const { id, replayOf = '', outcome } of replaysOf(store, [...roots.keys()])) {
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
export async function originalsOf(store: MessageStore, { id, replayOf }: MessageRecord): Promise<readonly string[]> {
  const ids = [id]
  let next = replayOf
  while (next !== undefined && ids.length < LONGEST_CHAIN) {
    ids.push(next)
    next = (await store.get(next))?.replayOf
  }
  return ids
}

async function* replaysOf(store: MessageStore, ids: readonly string[]): AsyncGenerator<MessageRecord> {
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
