/** Searches the message log: by filter, page by page, by id, in groups. */

import { Failure } from '../../core/failure.ts'
import { isId, timeFromId } from '../../core/id.ts'
import { didYouMean } from '../../core/nearest.ts'
import { cutPage, readCursor } from '../../core/records/cursor.ts'
import type { MessageRecord, RecordedBody } from '../../core/records/message-record.ts'
import type { Clock } from '../../core/run.ts'
import type { TableSet } from '../../core/tables/table-set.ts'
import type { Registry } from '../../endpoints/endpoint-registry.ts'
import type { MessageFilter, MessageStore } from '../../store/sql/messages.ts'
import { callStore } from '../../store/store-access.ts'
import { NOT_DONE } from './group-key.ts'
import { invalid, type MessageQuery, readFilter } from './message-filter.ts'

export const DEFAULT_LIMIT = 50
export const MAX_LIMIT = 500

/** A record in a list: without its calls, of which there may be hundreds. */
export type ListedMessage = Omit<MessageRecord, 'calls' | 'callsOmitted' | 'notMade' | 'deliveries'>

/** `next`: the cursor of the next page, if there is one. */
type MessagePage = Readonly<{ messages: readonly ListedMessage[]; next?: string }>

/** Fails with FILTER_INVALID, ID_MALFORMED, MESSAGE_UNKNOWN, MESSAGE_BODY_UNKNOWN, STORE_UNAVAILABLE. */
export interface MessageSearch {
  /** Newest first. */
  list(query: MessageQuery & Readonly<{ limit?: number; cursor?: string }>): Promise<MessagePage>
  get(id: string): Promise<MessageRecord>
  body(id: string, which: string): Promise<RecordedBody>
  filter(query: MessageQuery): Promise<MessageFilter>
  /** Resolves when messages that were completed before can be found; see `Recorder`. */
  caughtUp(): Promise<void>
}

/** `newestVersion`: 0 of a name that never had a table. */
export type KnownTables = Readonly<{ current: TableSet; newestVersion(name: string): Promise<number> }>

type MessageSearchOptions = Readonly<{
  store: MessageStore
  registry: Registry
  tables: KnownTables
  clock: Clock
  caughtUp: () => Promise<void>
}>

export function createMessageSearch({ store, registry, tables, clock, caughtUp }: MessageSearchOptions): MessageSearch {
  const filter = async (query: MessageQuery): Promise<MessageFilter> => {
    const read = readFilter(query, { endpoints: registry.all().map(({ document }) => document), nowMs: clock() })
    for (const { table } of read.missed ?? []) {
      // Messages of a table that was deleted are found still.
      if ((await callMessageLog(() => tables.newestVersion(table))) > 0) continue
      throw invalid(`There is no table "${table}"${didYouMean(table, [...tables.current.keys()])}`)
    }
    return read
  }

  const get = async (id: string): Promise<MessageRecord> => {
    if (!isId(id)) throw new Failure('ID_MALFORMED', `'${id}' is not an ID: 24 lower-case hexadecimal digits.`)
    await caughtUp()
    const record = await callMessageLog(() => store.get(id))
    if (record === undefined) throw unknown(id, clock())
    return record
  }

  return {
    list: async ({ limit = DEFAULT_LIMIT, cursor, ...query }) => {
      const read = await filter(query)
      const wanted = query.group === undefined ? read : { outcome: NOT_DONE, ...read }
      await caughtUp()
      const found = await callMessageLog(() => store.find(wanted, limit + 1, readCursor(cursor)))
      const { page, ...next } = cutPage(found, limit)
      return { messages: page.map(listed), ...next }
    },
    get,
    body: async (id, which) => {
      const record = await get(id)
      const body = record.bodies.some((one) => one.which === which)
        ? await callMessageLog(() => store.body(id, which))
        : undefined
      if (body === undefined) throw bodyUnknown(record, which)
      return body
    },
    filter,
    caughtUp,
  }
}

function listed({ calls, callsOmitted, notMade, deliveries, ...rest }: MessageRecord): ListedMessage {
  return rest
}

/** Runs `work` on the message log. Fails with STORE_UNAVAILABLE. */
export const callMessageLog = <T>(work: () => Promise<T>): Promise<T> => callStore('The message log', work)

/** A generator of ids may be a little ahead of the clock. */
function unknown(id: string, nowMs: number): Failure {
  const madeMs = timeFromId(id)
  const why =
    madeMs > nowMs + 60_000
      ? 'the id is not one that this service has given yet'
      : `${agoText(nowMs - madeMs)} it was recorded nowhere (MESSAGE_LOG, or messageLog of its endpoint), or its record was removed since (MESSAGE_LOG_DAYS, MESSAGE_LOG_MAX_MB)`
  return new Failure('MESSAGE_UNKNOWN', `There is no record of a message '${id}': ${why}.`)
}

function agoText(ms: number): string {
  const [amount, unit] =
    ms < 3_600_000 ? [ms / 60_000, 'minute'] : ms < 172_800_000 ? [ms / 3_600_000, 'hour'] : [ms / 86_400_000, 'day']
  const whole = Math.max(0, Math.floor(amount))
  return `its id is ${whole} ${unit}${whole === 1 ? '' : 's'} old;`
}

function bodyUnknown({ id, bodies }: MessageRecord, which: string): Failure {
  const kept = bodies.map((one) => one.which)
  const why =
    kept.length === 0
      ? 'none of its bodies was kept (MESSAGE_LOG, or messageLog of its endpoint, says whose are)'
      : kept.includes(which)
        ? 'it was removed a moment ago'
        : `kept are ${kept.join(', ')}`
  return new Failure('MESSAGE_BODY_UNKNOWN', `The message '${id}' has no body '${which}': ${why}.`)
}
