/** The state store of PostgreSQL: every instance reads the newest state that any instance has committed. */

import { storeClosed } from '../sql/database.ts'
import { render, sql } from '../sql/sql.ts'
import {
  appendStates,
  cacheNewestReads,
  newestByKey,
  type StateFilter,
  type StateItem,
  type StateRecord,
  type StateStore,
  stateFromRow,
  stateRow,
} from '../sql/states.ts'
import { StoreUnavailable } from '../store-access.ts'
import { type Connections, prepare, prepareText, splitIntoChunks } from './connection-pool.ts'

const APPEND = prepareText<readonly StateItem[], never>(
  render(
    appendStates(sql`select * from
      unnest($1::text[], $2::integer[], $3::integer[], $4::text[]) as item (endpoint_id, lookup_status, network_error, state)`),
    'postgres',
  ).text,
  (items) => [
    items.map((item) => item.endpointId),
    items.map((item) => item.lookup_status),
    items.map((item) => item.network_error),
    items.map((item) => item.state),
  ],
)

type QueuedState = Readonly<{ item: StateItem; resolve(): void; reject(reason: unknown): void }>

/**
 * The store over a database whose tables are up to date. Each filter object is compiled once: keep it.
 *
 * Its group commit: calls that are queued at the same time share one write, and so one flush of the server. The calls that
 * arrive while a batch is written are the next batch.
 */
export class PostgresStateStore implements StateStore {
  readonly #connections: Connections
  readonly #readFor = cacheNewestReads(prepare)
  readonly #queue: QueuedState[] = []
  #writing: Promise<void> | undefined
  #isClosed = false

  constructor(connections: Connections) {
    this.#connections = connections
  }

  async newest(endpointId: string, filter: StateFilter): Promise<StateRecord | undefined> {
    const read = this.#readFor(filter)
    if (read === undefined) return undefined
    const [row] = await this.#connections.run(read, { endpointId })
    return row && stateFromRow(row)
  }

  async append(endpointId: string, record: StateRecord): Promise<void> {
    if (this.#isClosed) throw storeClosed()
    const item = { endpointId, ...stateRow(record) }
    await new Promise<void>((resolve, reject) => {
      this.#queue.push({ item, resolve, reject })
      this.#writing ??= this.#writeAll()
    })
  }

  /** Accepts no more states; resolves when every queued one is written or rejected. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    // Calls of the same iteration of the event loop belong to the first batch.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#queue.length > 0) await this.#writeBatch(this.#takeBatch())
    this.#writing = undefined
  }

  /** As many as one statement may hold; a single state may be larger. */
  #takeBatch(): readonly QueuedState[] {
    const [batch = []] = splitIntoChunks(this.#queue, ({ item }) => item.state.length)
    return this.#queue.splice(0, batch.length)
  }

  /** All of them, or one by one where one of them is at fault. */
  async #writeBatch(batch: readonly QueuedState[]): Promise<void> {
    try {
      await this.#connections.run(APPEND, newestByKey(batch.map(({ item }) => item)))
      for (const { resolve } of batch) resolve()
    } catch (thrown) {
      const mayDivide = batch.length > 1 && !(thrown instanceof StoreUnavailable)
      if (mayDivide) for (const one of batch) await this.#writeBatch([one])
      else for (const { reject } of batch) reject(thrown)
    }
  }
}
