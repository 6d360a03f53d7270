/**
 * The change feed of a file that several processes of one service work on. Each change of an endpoint adds a row to
 * `endpoint_versions` in its own transaction, so the number of the newest row shows whether anything is new.
 */
import type { DatabaseSync } from 'node:sqlite'
import { documentOf } from '../sql/schema.ts'
import { type NoValues, sql } from '../sql/sql.ts'
import type { ChangeFeed } from '../store.ts'
import { prepare } from './sqlite-database.ts'

export type ClosableChangeFeed = ChangeFeed & Readonly<{ close(): void }>

/** The processes of one service notify each other of changes; polling finds the notifications that were lost. */
const POLL_MS = 5_000

type VersionRow = Readonly<{ version: number }>
type SinceRow = VersionRow & Readonly<{ id: string | null; document: string | null; number: number | null }>

/** One above the newest row, so that a file without endpoints has a version too. */
const VERSION = sql<NoValues, VersionRow>`select coalesce(max(rowid), 0) + 1 as version from endpoint_versions`

/** One statement, so that version and documents are of one moment. It returns one row if nothing is new. */
const SINCE = sql<{ since: number }, SinceRow>`
  with newest as (${VERSION}),
    changed as (
      select endpoint_id, max(version) as number from endpoint_versions where rowid >= :since group by endpoint_id
    )
  select newest.version, endpoints.id, coalesce(changed.number, 1) as number,
    case when :since = 0 or changed.number is not null then endpoints.document end as document
  from newest
    left join endpoints on newest.version > :since
    left join changed on changed.endpoint_id = endpoints.id
  order by endpoints.id`

/** Builds the feed over a connection whose tables are in place. */
export function compileChangeFeed(db: DatabaseSync): ClosableChangeFeed {
  const since = prepare(db, SINCE)
  const version = prepare(db, VERSION)
  let timer: NodeJS.Timeout | undefined

  return {
    since: async (known) => {
      const rows = since.all({ since: known })
      const changed = rows.filter(({ document }) => document !== null)
      return {
        version: rows[0]?.version as number,
        documents: changed.flatMap(({ document }) => (document === null ? [] : [documentOf({ document })])),
        versions: new Map(changed.map(({ id, number }) => [id as string, number as number])),
        ids: new Set(rows.flatMap(({ id }) => id ?? [])),
      }
    },
    watch: (notify) => {
      const poll = () => {
        try {
          notify((version.first({}) as VersionRow).version)
        } catch {
          // The calls that need the file report that it does not answer; the next poll finds the change.
        }
      }
      timer ??= setInterval(poll, POLL_MS).unref()
    },
    close: () => clearInterval(timer),
  }
}
