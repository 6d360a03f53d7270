/** Every store that exists, so that one suite of cases runs over each: a new adapter is one more entry. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe } from 'node:test'
import { openSqliteStore } from '../../src/adapters/sqlite/open-sqlite-store.ts'
import type { EndpointStore, Logger, StateStore } from '../../src/domain/ports.ts'

export type OpenStore = Readonly<{ endpoints: EndpointStore; states: StateStore; close(): Promise<void> }>

export type StoreKind = Readonly<{
  name: string
  /** Whether what was written is there again after closing and opening. */
  durable: boolean
  /** A new, empty database. */
  create(): Database
}>

export type Database = Readonly<{ open(): Promise<OpenStore>; drop(): void }>

export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

export const STORES: readonly StoreKind[] = [
  { name: 'SQLite in a file', durable: true, create: createSqliteFile },
  {
    name: 'SQLite in memory',
    durable: false,
    create: () => ({ open: () => openSqliteStore({ path: ':memory:', logger: silent }), drop() {} }),
  },
]

function createSqliteFile(): Database {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-store-'))
  return {
    open: () => openSqliteStore({ path: join(folder, 'data', 'crosswalk.db'), logger: silent }),
    drop: () => rmSync(folder, { recursive: true }),
  }
}

/** What the cases of a suite work with: an empty store for each case. */
export type Stage = { kind: StoreKind; store: OpenStore; reopen(): Promise<void> }

/** Declares a suite for every store; `store` is open and empty at the start of each case. */
export function describeStores(subject: string, declareCases: (stage: Stage) => void): void {
  for (const kind of STORES) {
    describe(`${subject} over ${kind.name}`, () => {
      let database: Database | undefined
      const stage: Stage = {
        kind,
        store: undefined as never,
        async reopen() {
          await stage.store.close()
          if (database !== undefined) stage.store = await database.open()
        },
      }
      const drop = async () => {
        if (database === undefined) return
        await stage.store.close()
        database.drop()
      }
      beforeEach(async () => {
        await drop()
        database = kind.create()
        stage.store = await database.open()
      })
      after(drop)
      declareCases(stage)
    })
  }
}
