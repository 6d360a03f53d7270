/**
 * The message log in a file of its own, beside that of the store: writing it neither waits for the writes of state nor
 * delays them. It has two threads, so that a long search does not delay the writing either.
 */
import { existsSync } from 'node:fs'
import { format, parse } from 'node:path'
import { idFrom } from '../../core/id.ts'
import {
  createLogShares,
  type OldRecord,
  olderQuery,
  oldestOfQuery,
  type PurgedLog,
  USED,
} from '../sql/message-purge.ts'
import {
  createMessageHolds,
  createMessageReads,
  type MessageRow,
  type MessageStore,
  type RunOnce,
  recordOf,
} from '../sql/messages.ts'
import { render, type Sql } from '../sql/sql.ts'
import { DONE_USED, doneOlder, doneOldestOf, newestFirst } from './done-messages.ts'
import { encodeBatch } from './message-file.ts'
import { MessageThread } from './message-thread.ts'
import type { ThreadData } from './message-worker.ts'

/** `crosswalk.db` → `crosswalk-messages.db`. */
export function messagePath(storePath: string): string {
  if (storePath === ':memory:') return storePath
  const { root, dir, name, ext } = parse(storePath)
  return format({ root, dir, name: `${name}-messages`, ext })
}

/** An empty file: removing more gives the disk nothing. */
const LEAST_BYTES = 1024 * 1024

export type SqliteMessageStore = MessageStore &
  Readonly<{
    /** Makes a checkpoint of the store's file on the thread that writes the message log; rejects if it cannot now. */
    checkpoint(storeFile: string): Promise<void>
  }>

/** The message log of the store at `storePath`. Opens the file at the first call. */
export function createMessageStore(storePath: string, reserveBytes?: number): SqliteMessageStore {
  const path = messagePath(storePath)
  const data = (): ThreadData => ({ path, reserveBytes })
  const writer = new MessageThread(data)
  const reader = path === ':memory:' ? writer : new MessageThread(data)
  /** The records that have rows of their own: those of all messages that lines do not hold. */
  const rows = createMessageReads(runOn(reader))
  const write = runOn(writer)

  const shares = createLogShares<LogRow>()
  const log: PurgedLog<LogRow> = {
    used: async () => [...(await write(USED)), ...(await write(DONE_USED))],
    oldestOf: async (endpointId, bytes) => {
      const records = await write(oldestOfQuery(endpointId, bytes))
      const lines = await write(doneOldestOf(endpointId))
      return firstBytes([...records, ...lines].sort(oldestFirst), bytes)
    },
  }
  const older = async (beforeId: string): Promise<readonly LogRow[]> => [
    ...(await write(olderQuery(beforeId))),
    ...(await write(doneOlder(beforeId))),
  ]

  // Where nothing was ever recorded, as with MESSAGE_LOG=off, looking for old records would start the thread.
  const exists = () => path === ':memory:' || existsSync(path)
  const holds = createMessageHolds(write)

  return {
    ...rows,
    ...holds,
    release: async (planIds, before) => {
      if (exists()) await holds.release(planIds, before)
    },
    append: async (batch) => {
      const encoded = encodeBatch(batch)
      await writer.call({ kind: 'append', batch: encoded }, [encoded.contents])
    },
    appendDone: (lines) => writer.call({ kind: 'append-done', lines }),
    find: async (filter, limit, before) => {
      const [done, others] = await Promise.all([
        reader.call<MessageRow[]>({ kind: 'find-done', filter, limit, before }),
        rows.find(filter, limit, before),
      ])
      return [...done.map(recordOf), ...others].sort(newestFirst).slice(0, limit)
    },
    get: async (id) => {
      const other = await rows.get(id)
      if (other !== undefined) return other
      const row = await reader.call<MessageRow | undefined>({ kind: 'get-done', id })
      return row && recordOf(row)
    },
    count: async (filter) => (await rows.count(filter)) + (await reader.call<number>({ kind: 'count-done', filter })),
    purge: async (before, maxBytes) => {
      if (!exists()) return 0
      const old = await older(idFrom(before))
      const usedBytes = await writer.call<number>({ kind: 'used-bytes' })
      const missingBytes = usedBytes > LEAST_BYTES ? await writer.call<number>({ kind: 'missing-bytes' }) : 0
      const keptBytes = Math.min(maxBytes, usedBytes - missingBytes)
      const removed = old.length > 0 ? old : await shares.exceeding(log, keptBytes / usedBytes)
      if (removed.length === 0) return 0
      return writer.call<number>({
        kind: 'remove',
        ids: removed.flatMap(({ id, last_id }) => (last_id === undefined ? id : [])),
        lines: removed.flatMap(({ last_id }) => last_id ?? []),
      })
    },
    ping: async () => {
      if (exists()) await writer.call({ kind: 'ping' })
    },
    checkpoint: (storeFile) => writer.call({ kind: 'checkpoint', path: storeFile }),
    close: async () => {
      await Promise.all([writer.close(), reader.close()])
    },
  }
}

const runOn =
  (thread: MessageThread): RunOnce =>
  <Row>(statement: Sql<never, Row>) => {
    const { text, bind } = render(statement, 'sqlite')
    return thread.call<Row[]>({ kind: 'all', query: { text, values: bind({}) } })
  }

/** A row of a record, or of many lines with the last of their ids. */
type LogRow = OldRecord & Readonly<{ last_id?: string }>

const oldestFirst = (one: OldRecord, other: OldRecord): number => (one.id < other.id ? -1 : 1)

function firstBytes(rows: readonly LogRow[], bytes: number): readonly LogRow[] {
  let before = 0
  return rows.filter((row) => {
    const isNeeded = before < bytes
    before += Number(row.bytes)
    return isNeeded
  })
}
