/** Which messages were repeated already, so that nothing is done twice. */
import type { MessageRecord } from '../domain/message-record.ts'
import type { MessageStore } from '../domain/ports/message-store-port.ts'

/** Replays of replays: a chain longer than this was made by hand. */
const LONGEST_CHAIN = 10
const PAGE = 500

/**
 * Those of `ids` of which a replay, or a replay of a replay, ended done, each with the id of that replay. Rejects with
 * StoreUnavailable.
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

/** The message, and those that it repeats, up to the one that came from outside. Rejects with StoreUnavailable. */
export async function lineOf(store: MessageStore, { id, replayOf }: MessageRecord): Promise<readonly string[]> {
  const line = [id]
  let next = replayOf
  while (next !== undefined && line.length < LONGEST_CHAIN) {
    line.push(next)
    next = (await store.get(next))?.replayOf
  }
  return line
}

async function* replaysOf(store: MessageStore, ids: readonly string[]): AsyncGenerator<MessageRecord> {
  for (let start = 0; start < ids.length; start += PAGE) {
    yield* everyMatch(store, { replayOf: ids.slice(start, start + PAGE) })
  }
}

/** All messages of a filter that there are at the moment of the call, newest first. Rejects with StoreUnavailable. */
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
