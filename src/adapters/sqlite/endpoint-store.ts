/** Endpoints in SQLite: reads at once, writes in the next transaction. */
import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import type { EndpointStore } from '../../domain/ports.ts'
import { clashOf, compileEndpointStatements, endpointValues } from '../sql/endpoint-statements.ts'
import { documentOf, documentText, type Tables } from '../sql/tables.ts'
import {
  compileVersionStatements,
  deletionValues,
  newestOf,
  summaryOf,
  type VersionValues,
  versionOf,
  versionValues,
} from '../sql/version-statements.ts'
import type { GroupCommit } from './group-commit.ts'
import { prepare } from './prepare.ts'

export type EndpointStoreOptions = Readonly<{
  db: DatabaseSync
  queries: Kysely<Tables>
  writer: GroupCommit
  close(): Promise<void>
}>

/** Builds the store over a connection whose tables are in place. */
export function compileEndpointStore({ db, queries, writer, close }: EndpointStoreOptions): EndpointStore {
  const statements = compileEndpointStatements(queries)
  const list = prepare(db, statements.list)
  const get = prepare(db, statements.get)
  const clashes = prepare(db, statements.clashes)
  const insert = prepare(db, statements.insert)
  const replace = prepare(db, statements.replace)
  const remove = prepare(db, statements.remove)

  const versions = compileVersionStatements(queries)
  const add = prepare(db, versions.add)
  const trim = prepare(db, versions.trim)
  const trimDeleted = prepare(db, versions.trimDeleted)
  const listVersions = prepare(db, versions.list)
  const getVersion = prepare(db, versions.get)
  const newest = prepare(db, versions.newest)

  /** A change with its version: both or neither, whatever else is in the transaction. */
  function change(work: () => void, version: VersionValues): void {
    db.exec('SAVEPOINT change')
    try {
      work()
      add.run(version)
      trim.run(version)
      if (version.document === '') trimDeleted.run({})
      db.exec('RELEASE change')
    } catch (thrown) {
      if (db.isTransaction) db.exec('ROLLBACK TO change; RELEASE change')
      throw thrown
    }
  }

  function compare(id: string, expected: string): 'gone' | 'stale' | undefined {
    const row = get.first({ id })
    if (row === undefined) return 'gone'
    return row.document === expected ? undefined : 'stale'
  }

  return {
    list: async () => list.all({}).map(documentOf),
    get: async (id) => {
      const row = get.first({ id })
      return row && documentOf(row)
    },
    insert: async (record, about) => {
      const values = endpointValues(record)
      const version = versionValues('create', record, about)
      return writer.write(() => {
        const clash = clashOf(clashes.all(values), values)
        if (clash !== undefined) return clash
        change(() => insert.run(values), version)
        return 'stored'
      })
    },
    replace: async (record, expected, about) => {
      const values = endpointValues(record)
      const version = versionValues('replace', record, about)
      const expectedText = documentText(expected)
      return writer.write(() => {
        const refused = compare(values.id, expectedText) ?? clashOf(clashes.all(values), values)
        if (refused !== undefined) return refused
        change(() => replace.run(values), version)
        return 'stored'
      })
    },
    remove: async (expected, about) => {
      const version = deletionValues(expected, about)
      const expectedText = documentText(expected)
      return writer.write(() => {
        const refused = compare(expected._id, expectedText)
        if (refused !== undefined) return refused
        change(() => remove.run({ id: expected._id }), version)
        return 'removed'
      })
    },
    versions: async (id) => listVersions.all({ id }).map(summaryOf),
    version: async (id, version) => {
      const row = getVersion.first({ id, version })
      return row && versionOf(row)
    },
    newestVersions: async () => newestOf(newest.all({})),
    ping: async () => {
      get.first({ id: '' })
    },
    close,
  }
}
