/**
 * The message log in a file of its own, beside that of the store: writing it neither waits for the writes of state nor
 * delays them. It has two threads, so that a long search does not delay the writing either.
 */
import { existsSync } from 'node:fs'
import { extname, format, parse } from 'node:path'
import { Worker } from 'node:worker_threads'
import { idFrom } from '../../core/id.ts'
import { storeClosed } from '../sql/database.ts'
import { createLogShares, type OldRecord, olderQuery, oldestQuery, type PurgedLog, USED } from '../sql/message-purge.ts'
import {
  createMessageHolds,
  createMessageReads,
  type MessageRow,
  type MessageStore,
  type RunOnce,
  toMessageRecord,
} from '../sql/messages.ts'
import { render, type Sql } from '../sql/sql.ts'
import { StoreUnavailable } from '../store-access.ts'
import { DONE_USED, doneOlder, encodeBatch, newestFirst, selectOldestDone } from './message-file.ts'
import type { LogCall, LogReply, ThreadData } from './message-worker.ts'

/** `crosswalk.db` → `crosswalk-messages.db`. */
export function messagePath(storePath: string): string {
  if (storePath === ':memory:') return storePath
  const { root, dir, name, ext } = parse(storePath)
  return format({ root, dir, name: `${name}-messages`, ext })
}

/** An empty file: removing more gives the disk nothing. */
const MIN_BYTES = 1024 * 1024

type SqliteMessageStore = MessageStore &
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
    findOldest: async (endpointId, bytes) => {
      const records = await write(oldestQuery(endpointId, bytes))
      const lines = await write(selectOldestDone(endpointId))
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
      return [...done.map(toMessageRecord), ...others].sort(newestFirst).slice(0, limit)
    },
    get: async (id) => {
      const other = await rows.get(id)
      if (other !== undefined) return other
      const row = await reader.call<MessageRow | undefined>({ kind: 'get-done', id })
      return row && toMessageRecord(row)
    },
    count: async (filter) => (await rows.count(filter)) + (await reader.call<number>({ kind: 'count-done', filter })),
    purge: async (before, maxBytes) => {
      if (!exists()) return 0
      const old = await older(idFrom(before))
      const usedBytes = await writer.call<number>({ kind: 'used-bytes' })
      const missingBytes = usedBytes > MIN_BYTES ? await writer.call<number>({ kind: 'missing-bytes' }) : 0
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

/** In the folder of this file, in the source as in the bundle. */
const WORKER = new URL(`message-worker${extname(import.meta.url)}`, import.meta.url)

type PendingCall = Readonly<{ resolve(value: unknown): void; reject(reason: unknown): void }>

/** Starts the thread at the first call, and a new one after a thread has ended. An idle thread keeps no process alive. */
export class MessageThread {
  readonly #data: () => ThreadData
  #worker: Worker | undefined
  #pending: PendingCall[] = []
  #closing: Promise<void> | undefined

  constructor(data: () => ThreadData) {
    this.#data = data
  }

  /** Rejects with StoreUnavailable if the file does not answer. */
  async call<T>(call: LogCall, transfer: readonly ArrayBuffer[] = []): Promise<T> {
    if (this.#closing !== undefined) throw storeClosed()
    return this.#send(call, transfer)
  }

  /** Accepts no more calls; resolves when the earlier ones are done and the file is closed. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  #send<T>(call: LogCall, transfer: readonly ArrayBuffer[]): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#worker ??= this.#start()
      this.#pending.push({ resolve: (value) => resolve(value as T), reject })
      this.#worker.ref()
      this.#worker.postMessage(call, transfer)
    })
  }

  #start(): Worker {
    const started = startWorker(this.#data())
    let fault: unknown
    started.on('message', (reply: LogReply) => {
      const next = this.#pending.shift()
      if (this.#pending.length === 0) started.unref()
      if ('value' in reply) next?.resolve(reply.value)
      else next?.reject('unavailable' in reply ? new StoreUnavailable(reply.unavailable) : new Error(reply.fault))
    })
    // The pending calls are rejected at the `exit` that follows.
    started.on('error', (thrown) => {
      fault = thrown
    })
    started.on('exit', () => this.#lose(started, fault))
    return started
  }

  #lose(ended: Worker, cause: unknown): void {
    if (this.#worker !== ended) return
    this.#worker = undefined
    const lost = this.#pending
    this.#pending = []
    for (const { reject } of lost) reject(threadFault('ended', cause))
  }

  async #end(): Promise<void> {
    if (this.#worker === undefined) return
    await this.#send({ kind: 'close' }, [])
    await this.#worker?.terminate()
  }
}

function startWorker(workerData: ThreadData): Worker {
  try {
    return new Worker(WORKER, { workerData })
  } catch (thrown) {
    throw threadFault('could not be started', thrown)
  }
}

/** For lack of file descriptors or memory, for example: a retry may succeed. */
function threadFault(what: string, cause: unknown): StoreUnavailable {
  const reason = cause instanceof Error ? `: ${cause.message}` : ''
  return new StoreUnavailable(`The thread of the message log ${what}${reason}`.replace(/\.?$/, '.'), { cause })
}
