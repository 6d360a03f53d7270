/** Services over each store whose message log is read once they have stopped: by then everything must be in it. */
import type { MessageRecord } from '../../../../src/core/records/message-record.ts'
import { type Database, openDatabase } from '../../../support/databases.ts'
import { type Service, startService } from '../../../support/service.ts'

export type Logged = Readonly<{
  /** Newest first. */
  records: readonly MessageRecord[]
  /** The bodies of a record by their names, as texts. */
  bodies(record: MessageRecord | undefined): Promise<Record<string, string>>
}>

/** Runs `work` on a service of its own, stops it, and gives what is in its log to `check`. */
export async function runLogged(
  database: Database,
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
  const log = await openDatabase(database)
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
