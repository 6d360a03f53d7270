/**
 * The state store of SQLite: reads without a promise, writes in the next transaction. Messages that wait for the same
 * transaction share work: one read and one parse serve all of them until the next commit, and of states that would
 * replace each other only the newest is written.
 */
import type { DatabaseSync } from 'node:sqlite'
import { storeClosed } from '../sql/database.ts'
import {
  APPEND_STATE,
  cacheNewestReads,
  type StateFilter,
  type StateRecord,
  type StateStore,
  stateFromRow,
  stateRow,
} from '../sql/states.ts'
import type { GroupCommit } from './group-commit.ts'
import { prepare } from './sqlite-database.ts'

type StateStoreOptions = Readonly<{ db: DatabaseSync; writer: GroupCommit }>

type CachedState = Readonly<{ filter: StateFilter; record: StateRecord | undefined }>

/** A state that waits for its transaction. `replaced`: the older state, which is written if this one is rejected. */
type PendingState = { readonly endpointId: string; readonly record: StateRecord; replaced: PendingState | undefined }

/**
 * Builds the store over a connection whose tables are up to date.
 *
 * `newest` returns at once and throws StoreUnavailable if it cannot. Each filter object is compiled once: keep it with the
 * endpoint rather than creating one per message.
 */
export function compileStateStore({ db, writer }: StateStoreOptions): StateStore {
  const write = prepare(db, APPEND_STATE)
  const readFor = cacheNewestReads((statement) => prepare(db, statement))

  function read(endpointId: string, filter: StateFilter): StateRecord | undefined {
    const row = readFor(filter)?.first({ endpointId })
    return row && stateFromRow(row)
  }

  // The states read in this iteration of the event loop, by endpoint. Not longer, as another process may write to the file: a
  // message of the same iteration cannot know of a write after the read.
  const cache = new Map<string, CachedState>()
  const clearCache = () => cache.clear()
  writer.onTransaction(clearCache)

  /** The newest of its endpoint, status and network error: a state that no filter could ever select is not written. */
  const pending = new Map<string, PendingState>()

  function writeState({ endpointId, record }: PendingState): void {
    const { lookup_status: lookupStatus, network_error: networkError, state } = stateRow(record)
    write.run({ endpointId, lookupStatus, networkError, state })
  }

  /** If it cannot be written either, the transaction is rolled back: the states that it replaced count as written. */
  function writeReplaced(state: PendingState): void {
    try {
      writeState(state)
    } catch (thrown) {
      if (db.isTransaction) db.exec('ROLLBACK')
      throw thrown
    }
  }

  return {
    newest: (endpointId, filter) => {
      if (!db.isOpen) throw storeClosed()
      const known = cache.get(endpointId)
      if (known?.filter === filter) return known.record
      const record = read(endpointId, filter)
      if (cache.size === 0) setImmediate(clearCache)
      cache.set(endpointId, { filter, record })
      return record
    },
    append: (endpointId, record) => {
      const key = `${endpointId} ${record.lookupStatus} ${record.networkError}`
      const state: PendingState = { endpointId, record, replaced: pending.get(key) }
      if (state.replaced !== undefined) state.replaced.replaced = undefined
      pending.set(key, state)
      return writer.write(() => {
        if (pending.get(key) !== state) return
        pending.delete(key)
        try {
          writeState(state)
        } catch (thrown) {
          if (state.replaced !== undefined && db.isTransaction) writeReplaced(state.replaced)
          throw thrown
        }
      }, 'message')
    },
  }
}
