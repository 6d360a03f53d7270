/**
 * State of endpoints in SQLite: read without a promise, written in the next transaction. Messages that wait for the same
 * transaction share what they can: one read and one parse serve all until the next commit, and of states that would
 * replace each other only the newest is written.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import type { StateFilter, StateRecord, StateStore } from '../../domain/ports.ts'
import { compileAppend, compileNewest, type NewestValues } from '../sql/state-statements.ts'
import { type StateRow, stateOf, stateRow, type Tables } from '../sql/tables.ts'
import { storeClosed } from './faults.ts'
import type { GroupCommit } from './group-commit.ts'
import { type Prepared, prepare } from './prepare.ts'

export type StateStoreOptions = Readonly<{ db: DatabaseSync; queries: Kysely<Tables>; writer: GroupCommit }>

type Newest = Prepared<NewestValues, StateRow>

type Recalled = Readonly<{ filter: StateFilter; record: StateRecord | undefined }>

/** A state that waits for its transaction. `replaced`: the one that it made superfluous, should it be no good itself. */
type Waiting = { readonly endpointId: string; readonly record: StateRecord; replaced: Waiting | undefined }

/**
 * Builds the store over a connection whose tables are in place.
 *
 * `newest` answers at once, and throws StoreUnavailable where it cannot. Each filter object is compiled once: keep it
 * with the endpoint rather than making one for each message.
 */
export function compileStateStore({ db, queries, writer }: StateStoreOptions): StateStore {
  const write = prepare(db, compileAppend(queries))
  // Weak, so that the statements of an endpoint go with it.
  const reads = new WeakMap<StateFilter, Newest | 'nothing passes'>()

  function readOf(filter: StateFilter): Newest | 'nothing passes' {
    const known = reads.get(filter)
    if (known !== undefined) return known
    const statement = compileNewest(queries, filter)
    const read = statement === undefined ? 'nothing passes' : prepare(db, statement)
    reads.set(filter, read)
    return read
  }

  function read(endpointId: string, filter: StateFilter): StateRecord | undefined {
    const prepared = readOf(filter)
    if (prepared === 'nothing passes') return undefined
    const row = prepared.first({ endpointId })
    return row && stateOf(row)
  }

  // What was read in this turn of the event loop, by endpoint. No longer, since another process may write to the file
  // too: whoever is heard in the same turn cannot know of a write that came after the read.
  const recalled = new Map<string, Recalled>()
  const forget = () => recalled.clear()
  writer.onTransaction(forget)

  /** The newest of its endpoint, status and network error: what no filter could ever select is not written. */
  const waiting = new Map<string, Waiting>()

  function writeState({ endpointId, record }: Waiting): void {
    const { lookup_status: lookupStatus, network_error: networkError, state } = stateRow(record)
    write.run({ endpointId, lookupStatus, networkError, state })
  }

  /** Where it cannot be written either, the transaction is given up: those before it count as written by now. */
  function writeReplaced(state: Waiting): void {
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
      const known = recalled.get(endpointId)
      if (known?.filter === filter) return known.record
      const record = read(endpointId, filter)
      if (recalled.size === 0) setImmediate(forget)
      recalled.set(endpointId, { filter, record })
      return record
    },
    append: (endpointId, record) => {
      const key = `${endpointId} ${record.lookupStatus} ${record.networkError}`
      const state: Waiting = { endpointId, record, replaced: waiting.get(key) }
      if (state.replaced !== undefined) state.replaced.replaced = undefined
      waiting.set(key, state)
      return writer.write(() => {
        if (waiting.get(key) !== state) return
        waiting.delete(key)
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
