/** State of endpoints in SQLite: read without a promise, written in the next transaction. */
import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import type { StateFilter, StateStore } from '../../domain/ports.ts'
import { compileAppend, compileNewest, type NewestValues } from '../sql/state-statements.ts'
import { type StateRow, stateOf, stateRow, type Tables } from '../sql/tables.ts'
import type { GroupCommit } from './group-commit.ts'
import { type Prepared, prepare } from './prepare.ts'

export type StateStoreOptions = Readonly<{ db: DatabaseSync; queries: Kysely<Tables>; writer: GroupCommit }>

type Newest = Prepared<NewestValues, StateRow>

/**
 * Builds the store over a connection whose tables are in place.
 *
 * `newest` answers at once, and throws StoreUnavailable where it cannot. Each filter object is compiled once: keep it
 * with the endpoint rather than making one for each message.
 */
export function compileStateStore({ db, queries, writer }: StateStoreOptions): StateStore {
  const append = prepare(db, compileAppend(queries))
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

  return {
    newest: (endpointId, filter) => {
      const read = readOf(filter)
      if (read === 'nothing passes') return undefined
      const row = read.first({ endpointId })
      return row && stateOf(row)
    },
    append: async (endpointId, record) => {
      const { lookup_status: lookupStatus, network_error: networkError, state } = stateRow(record)
      await writer.write(() => append.run({ endpointId, lookupStatus, networkError, state }))
    },
  }
}
