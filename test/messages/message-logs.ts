/** Services over each store whose message log is read once they have stopped: by then everything must be in it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { openSqliteStore } from '../../src/adapters/sqlite/open-sqlite-store.ts'
import type { MessageRecord, MessageStore } from '../../src/domain/message-record.ts'
import { openPostgres, silent } from '../contracts/stores.ts'
import { type Service, startService } from '../service.ts'
import { createDatabase, postgresMissing } from '../services/postgres.ts'

export type Logged = Readonly<{
  /** Newest first. */
  records: readonly MessageRecord[]
  /** The bodies of a record by their names, as texts. */
  bodies(record: MessageRecord | undefined): Promise<Record<string, string>>
}>

export type LogDatabase = Readonly<{
  url: string
  openLog(): Promise<Readonly<{ messages: MessageStore; close(): Promise<void> }>>
  drop(): Promise<void>
}>

type Kind = Readonly<{ name: string; missing: string | undefined; create(): Promise<LogDatabase> }>

export const LOG_STORES: readonly Kind[] = [
  { name: 'SQLite', missing: undefined, create: createFile },
  { name: 'PostgreSQL', missing: postgresMissing(), create: createSchema },
]

async function createFile(): Promise<LogDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-log-'))
  const path = join(folder, 'test.db')
  return {
    url: `sqlite:${path}`,
    openLog: () => openSqliteStore({ path, logger: silent }),
    drop: async () => rmSync(folder, { recursive: true }),
  }
}

async function createSchema(): Promise<LogDatabase> {
  const database = await createDatabase()
  return { url: database.url, openLog: () => openPostgres(database.url), drop: database.drop }
}

/** Runs `work` on a service of its own, stops it, and gives what is in its log to `check`. */
export async function runLogged(
  database: LogDatabase,
  env: Readonly<Record<string, string>>,
  work: (service: Service) => Promise<void>,
  check: (logged: Logged) => Promise<void> | void,
): Promise<void> {
  const service = await startService({ DATABASE_URL: database.url, ...env })
  try {
    await work(service)
  } finally {
    await service.stop()
  }
  const log = await database.openLog()
  try {
    await check({
      records: await log.messages.find({}, 10_000),
      bodies: async (record) => {
        const texts: Record<string, string> = {}
        for (const { which } of record?.bodies ?? []) {
          texts[which] = Buffer.from((await log.messages.body(record?.id ?? '', which))?.content ?? []).toString()
        }
        return texts
      },
    })
  } finally {
    await log.close()
  }
}

/** Declares the cases for each store; `withDatabase` gives a case an empty one. */
export function describeLogs(
  subject: string,
  declareCases: (withDatabase: (work: (database: LogDatabase) => Promise<void>) => () => Promise<void>) => void,
): void {
  for (const { name, missing, create } of LOG_STORES) {
    describe(`${subject} over ${name}`, { skip: missing ?? false }, () => {
      declareCases((work) => async () => {
        const database = await create()
        try {
          await work(database)
        } finally {
          await database.drop()
        }
      })
    })
  }
}
