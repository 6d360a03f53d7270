/** The store as what is killed: how to start the process that writes to it, and how to look at what that leaves. */
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import type { StateFilter, StateStore } from '../../../src/store/sql/states.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { silent } from '../../support/silent.ts'
import { sealOf, stateOfRegister } from './crash-documents.ts'
import type { CrashSubject } from './crash-rounds.ts'

const CHILD = fileURLToPath(new URL('./store-crash-child.ts', import.meta.url))
const EVERYTHING: StateFilter = { networkErrors: 'no-filter', statuses: { any: true, ranges: [] } }
const TORN = 'torn'

/** A store in the file at `path`, written by one process after another. */
export function compileStoreSubject(path: string): CrashSubject {
  return {
    command: (seed) => [CHILD, path, `${seed}`],
    async inspect(registers) {
      const faults = [...unsound(path)]
      const store = await openSqliteStore({ path, logger: silent })
      const found = new Map<string, string>()
      for (const document of await store.endpoints.list()) found.set(document._id, sealOf(document) ?? TORN)
      for (const document of await store.endpoints.list()) {
        const [last] = await store.endpoints.versions(document._id)
        const version = last && (await store.endpoints.version(document._id, last.version))
        if (JSON.stringify(version?.document) !== JSON.stringify(document))
          faults.push(`the newest version of ${document._id} is not what is stored`)
      }
      const newest = new Map<string, number>()
      for (const register of registers) {
        const state = await stateIn(store.states, register)
        if (state === undefined) continue
        found.set(register, state.seal)
        newest.set(state.id, Math.max(state.n, newest.get(state.id) ?? 0))
      }
      for (const [id, n] of newest) {
        const values = (await store.states.newest(id, EVERYTHING))?.values
        if (values?.n !== n) faults.push(`the newest state of ${id} has the number ${values?.n}, and not ${n}`)
      }
      await store.close()
      return { found, faults }
    },
  }
}

async function stateIn(states: StateStore, register: string) {
  const key = stateOfRegister(register)
  const record = key && (await states.newest(key.id, key.filter))
  return record && { id: key.id, seal: sealOf(record.values) ?? TORN, n: Number(record.values.n) }
}

/** What SQLite itself finds wrong with the file. */
function* unsound(path: string): Generator<string> {
  const db = new DatabaseSync(path, { timeout: 5_000 })
  try {
    for (const { integrity_check: line } of db.prepare('PRAGMA integrity_check').all())
      if (line !== 'ok') yield `integrity_check: ${line}`
    for (const row of db.prepare('PRAGMA foreign_key_check').all()) yield `foreign_key_check: ${JSON.stringify(row)}`
  } finally {
    db.close()
  }
}
