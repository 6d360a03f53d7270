/**
 * A real PostgreSQL for tests: the one of TEST_POSTGRES_URL, which a test run sets for all its files, else one that
 * the first test to ask starts for itself.
 */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { findBinaries, findUser } from './postgres-binaries.ts'
import { type ServiceProcess, servicesRequired, startServiceProcess } from './service-process.ts'

export const POSTGRES_URL = 'TEST_POSTGRES_URL'

/** Why there is none to test with; undefined where there is one. Throws where the tests must not go without. */
export const postgresMissing = (): string | undefined => (process.env[POSTGRES_URL] ? undefined : clusterMissing())

/** The same of one that a test starts for itself. */
export function clusterMissing(): string | undefined {
  if (findBinaries(findUser()) !== undefined) return undefined
  const reason = `no PostgreSQL to test with: set ${POSTGRES_URL}, or run npm ci with its optional packages`
  if (servicesRequired()) throw new Error(reason)
  return reason
}

export const startPostgres = (env: Record<string, string> = {}): Promise<ServiceProcess> =>
  startServiceProcess('postgres-server.ts', env)

let own: Promise<ServiceProcess> | undefined

/** Of a database that may create others. */
export async function postgresUrl(): Promise<string> {
  const given = process.env[POSTGRES_URL]
  if (given) return given
  own ??= startPostgres()
  return (await own).url
}

export type TestDatabase = Readonly<{
  url: string
  /** Runs one query on a connection of its own. */
  query<Row extends object = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>
  /** What works on the database closes before it is dropped, the last first. */
  uses(close: () => unknown): void
  /** Leaves it as a new one, which takes a tenth of the time; no connection may use it meanwhile. */
  empty(): Promise<void>
  drop(): Promise<void>
}>

/** A database that goes with the test, after what it `uses`. */
export async function freshDatabase(test: { after(work: () => Promise<void>): void }): Promise<TestDatabase> {
  const database = await createDatabase()
  test.after(database.drop)
  return database
}

/** A new, empty database. */
export async function createDatabase(): Promise<TestDatabase> {
  const server = await postgresUrl()
  const name = `crosswalk_test_${randomBytes(6).toString('hex')}`
  await queryOnce(server, `create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const users: (() => unknown)[] = []
  return {
    url: url.href,
    query: (text, values) => queryOnce(url.href, text, values),
    uses: (close) => void users.push(close),
    empty: async () => {
      await queryOnce(url.href, 'drop schema public cascade; create schema public')
    },
    drop: async () => {
      for (const close of users.reverse()) await close()
      await queryOnce(server, `drop database ${name} with (force)`)
    },
  }
}

async function queryOnce<Row extends object>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  // Dropping a database ends connections to it.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}
