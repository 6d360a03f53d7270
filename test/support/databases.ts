/**
 * The databases that a service keeps everything in, so that one suite of cases runs over each: a new kind is one more entry.
 * The short form has SQLite alone.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, type TestContext } from 'node:test'
import { openStore } from '../../src/app/open-store.ts'
import type { MessageTables } from '../../src/store/sql/messages.ts'
import { messagePath } from '../../src/store/sqlite/message-store.ts'
import type { Store } from '../../src/store/store.ts'
import { LONG } from './form.ts'
import { readTestSettings, type Service, startService } from './service.ts'
import { createDatabase, postgresMissing } from './services/postgres.ts'
import { silent } from './silent.ts'

/** Empty when it is made; `url` is for DATABASE_URL. */
export type Database = Readonly<{
  url: string
  /** All of a table of the message log, as it is stored, when no service uses the database. */
  messageRows(table: keyof MessageTables): Promise<readonly object[]>
  /** Bytes of the message log, at the same time: what counts for its bound, and what it takes on the disk. */
  messageBytes(): Promise<Readonly<{ counted: number; onDisk: number }>>
  drop(): Promise<void>
}>

export type DatabaseKind = Readonly<{
  name: string
  /** Whether several services can use one of them at once. */
  shared: boolean
  /** Why its cases cannot run here. */
  missing?: string | undefined
  create(): Promise<Database>
}>

export const DATABASES: readonly DatabaseKind[] = [
  { name: 'SQLite', shared: false, create: createFile },
  ...(LONG ? [{ name: 'PostgreSQL', shared: true, missing: postgresMissing(), create: createSharedDatabase }] : []),
]

async function createFile(): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-database-'))
  const path = join(folder, 'test.db')
  const log = messagePath(path)
  const query = (text: string) => {
    const file = new DatabaseSync(log, { readOnly: true })
    try {
      return file.prepare(text).all()
    } finally {
      file.close()
    }
  }
  const pragma = (name: string) => Number(Object.values(query(`pragma ${name}`)[0] ?? {})[0])
  return {
    url: `sqlite:${path}`,
    messageRows: async (table) => query(`select * from ${table}`),
    messageBytes: async () => ({
      counted: (pragma('page_count') - pragma('freelist_count')) * pragma('page_size'),
      onDisk: ['', '-wal', '-shm'].reduce(
        (sum, end) => sum + (statSync(log + end, { throwIfNoEntry: false })?.size ?? 0),
        0,
      ),
    }),
    drop: async () => rmSync(folder, { recursive: true }),
  }
}

async function createSharedDatabase(): Promise<Database> {
  const { url, query, drop } = await createDatabase()
  return {
    url,
    messageRows: (table) => query(`select * from ${table}`),
    messageBytes: async () => {
      const [sizes] = await query<{ counted: string; disk: string }>(
        `select (select coalesce(sum(bytes), 0) from message_sizes) as counted,
          (select sum(pg_total_relation_size(oid)) from pg_class
            where relname in ('messages', 'message_bodies', 'message_keys', 'message_sizes')) as disk`,
      )
      return { counted: Number(sizes?.counted), onDisk: Number(sizes?.disk) }
    },
    drop,
  }
}

export type DatabaseCases = Readonly<{
  kind: DatabaseKind
  /** The body of a case that has an empty database to itself. */
  withDatabase(work: (database: Database, test: TestContext) => Promise<void>): (test: TestContext) => Promise<void>
}>

/** Declares the cases for each kind of database. */
export function describeDatabases(subject: string, declareCases: (cases: DatabaseCases) => void): void {
  for (const kind of DATABASES) {
    const withDatabase: DatabaseCases['withDatabase'] = (work) => async (test) => {
      const database = await kind.create()
      try {
        await work(database, test)
      } finally {
        await database.drop()
      }
    }
    describe(`${subject} over ${kind.name}`, { skip: kind.missing ?? false }, () =>
      declareCases({ kind, withDatabase }),
    )
  }
}

/** Declares the cases for each kind of database; the service over it is there from the first case to the last. */
export function describeServices(
  subject: string,
  env: Readonly<Record<string, string>>,
  declareCases: (stage: Readonly<{ kind: DatabaseKind; service: Service }>) => void,
): void {
  describeDatabases(subject, ({ kind }) => {
    const stage = { kind, service: undefined as unknown as Service }
    let database: Database | undefined
    before(async () => {
      database = await kind.create()
      stage.service = await startService({ DATABASE_URL: database.url, ...env })
    })
    after(async () => {
      await stage.service.stop()
      await database?.drop()
    })
    declareCases(stage)
  })
}

/** What a service that has stopped left in its database. */
export const openDatabase = ({ url }: Pick<Database, 'url'>): Promise<Store> =>
  openStore(readTestSettings({ DATABASE_URL: url }), silent)
