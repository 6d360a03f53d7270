/**
 * The list of endpoints for people: a row each, searched, sorted and page by page. Rows are made from the endpoints in
 * memory, so that a list of ten thousand neither reads nor parses their documents.
 */
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { cutPage, encodePosition } from '../core/records/cursor.ts'
import type { QueryOf } from '../core/schema.ts'
import type { StoredDocument } from '../core/stored-document.ts'
import type { CompiledEndpoint } from './compiled-endpoint.ts'
import { type FaultReason, faultReason } from './endpoint-faults.ts'
import { compileFilters } from './endpoint-reads.ts'
import type { Registry } from './endpoint-registry.ts'
import type { InactiveDocuments, RefusedEndpoint } from './stored-endpoints.ts'
import { readSummaryQuery, type SUMMARY_QUERY, type SummaryQuery, type SummarySort } from './summary-query.ts'

export type EndpointSummary = Readonly<{
  id: string
  name: string
  description?: string
  labels: JsonObject
  /** Of the route, if there is one. */
  method?: string
  pattern?: string
  /** Format of incoming messages; absent if they have no body. */
  input?: string
  output: string
  kafkaConsumerTopic?: string
  mllpPort?: number
  /** Left out unless it is true. */
  paused?: boolean
  /** The times of its schedule. */
  timetable?: string
  /** Where its schedule stands; absent while it has none. */
  schedule?: JsonObject
  version: number
  createdAt: string
  updatedAt: string
  active: boolean
  /** Why the endpoint has faults; absent without faults. */
  reason?: FaultReason
  /** The number of its faults. */
  faults: number
  /** The counts of its messages. */
  stats: JsonObject
}>

/** `total`: how many endpoints match; `next`: the cursor of the next page, if there is one. */
export type SummaryPage = Readonly<{ endpoints: readonly EndpointSummary[]; total: number; next?: string }>

/**
 * `filters`: field paths with the values that they must have, as in the list of documents. Fails with FILTER_INVALID,
 * STORE_UNAVAILABLE.
 */
export type ListSummaries = (
  query: QueryOf<typeof SUMMARY_QUERY>,
  filters: readonly (readonly [path: string, values: readonly string[]])[],
) => Promise<SummaryPage>

export type ListSummariesOptions = Readonly<{
  registry: Pick<Registry, 'all' | 'get'>
  inactive: InactiveDocuments
  /** The counts of the messages of these endpoints. */
  readStats: (endpointIds: readonly string[]) => Promise<ReadonlyMap<string, JsonObject>>
  /** The schedules of all endpoints; asked for if the page has one. */
  readSchedules: () => Promise<ReadonlyMap<string, JsonObject>>
}>

type Row = Readonly<{
  summary: Omit<EndpointSummary, 'stats' | 'schedule'>
  document: StoredDocument
  /** In lower case. */
  searched: string
  keys: Readonly<Record<SummarySort, string>>
}>

/** Cursors hold keys, and a URL must hold a cursor. */
const MAX_KEY_CHARACTERS = 200

export function createListSummaries({
  registry,
  inactive,
  readStats,
  readSchedules,
}: ListSummariesOptions): ListSummaries {
  // Compiled endpoints and refusals never change, so their rows hold as long as they are there.
  const known = new WeakMap<CompiledEndpoint | RefusedEndpoint, Row>()
  const rowFor = <T extends CompiledEndpoint | RefusedEndpoint>(one: T, describe: (one: T) => Row): Row => {
    const row = known.get(one) ?? describe(one)
    known.set(one, row)
    return row
  }
  const rows = (): readonly Row[] => [
    ...registry.all().map((one) => withPending(rowFor(one, activeRow), inactive)),
    ...[...inactive.refused.values()].flatMap((one) =>
      registry.get(one.document._id) === undefined ? [rowFor(one, refusedRow)] : [],
    ),
  ]
  return async (written, filters) => {
    const query = readSummaryQuery(written)
    const isFiltered = compileFilters(filters)
    const matching = rows().filter(
      ({ document, searched, summary }) =>
        (!query.isFaulty || summary.reason !== undefined) &&
        query.words.every((word) => searched.includes(word)) &&
        isFiltered(document),
    )
    const { page, next } = cutPage(firstRows(matching, query).map(withId), query.limit)
    const last = page.at(-1)
    const [stats, schedules] = await Promise.all([
      readStats(page.map(({ id }) => id)),
      page.some(({ row }) => row.summary.timetable !== undefined) ? readSchedules() : undefined,
    ])
    return {
      endpoints: page.map(({ id, row }) => {
        const schedule = row.summary.timetable === undefined ? undefined : schedules?.get(id)
        return { ...row.summary, ...(schedule === undefined ? {} : { schedule }), stats: stats.get(id) ?? {} }
      }),
      total: matching.length,
      ...(last === undefined || next === undefined ? {} : { next: encodeRowCursor(last.row, query) }),
    }
  }
}

const withId = (row: Row) => ({ id: row.summary.id, row })

const encodeRowCursor = ({ keys, summary: { id } }: Row, { sort, descending }: SummaryQuery): string =>
  encodePosition({ sort: descending ? `-${sort}` : sort, key: keys[sort], id })

/** The first rows after the cursor, one more than the page has. Only these are sorted: pages are short and lists long. */
function firstRows(rows: readonly Row[], { sort, descending, limit, after }: SummaryQuery): readonly Row[] {
  const sign = descending ? -1 : 1
  const compare = (key: string, id: string, row: Row): number =>
    sign * (compareTexts(key, row.keys[sort]) || compareTexts(id, row.summary.id))
  const first: Row[] = []
  for (const row of rows) {
    const { id } = row.summary
    const key = row.keys[sort]
    if (after !== undefined && compare(after.key, after.id, row) >= 0) continue
    const last = first.at(-1)
    if (first.length > limit && last !== undefined && compare(key, id, last) >= 0) continue
    let low = 0
    let high = first.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (compare(key, id, first[middle] as Row) < 0) high = middle
      else low = middle + 1
    }
    first.splice(low, 0, row)
    if (first.length > limit + 1) first.pop()
  }
  return first
}

const compareTexts = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

const activeRow = ({ document, version, toleratedFaults = [] }: CompiledEndpoint): Row =>
  rowFrom(document, version, true, toleratedFaults.length === 0 ? undefined : 'tolerated', toleratedFaults.length)

const refusedRow = (one: RefusedEndpoint): Row =>
  rowFrom(one.document, one.version, false, faultReason(one), one.faults.length + one.clashes.length)

/** While the compilation of a newer document is pending, the row is that of the earlier one, which is active. */
function withPending(row: Row, { pending }: InactiveDocuments): Row {
  return pending.has(row.summary.id) ? { ...row, summary: { ...row.summary, reason: 'pending' } } : row
}

/** The document of a refused endpoint may hold anything. */
function rowFrom(
  document: StoredDocument,
  version: number,
  active: boolean,
  reason: FaultReason | undefined,
  faults: number,
): Row {
  const { _id: id, createdAt, updatedAt, description, labels, endpoint, transformation, kafkaConsumerTopic } = document
  const name = asText(document.name)
  const route = asObject(endpoint)
  const formats = asObject(transformation)
  const { port: mllpPort } = asObject(document.mllp)
  const timetable = showTimes(asObject(document.schedule))
  const pattern = asText(route.pattern)
  const method = pattern === '' ? '' : asText(route.method) || 'POST'
  const summary = {
    id,
    name,
    ...(typeof description === 'string' ? { description } : {}),
    labels: asObject(labels),
    ...(pattern === '' ? {} : { method, pattern }),
    ...(typeof formats.input === 'string' ? { input: formats.input } : {}),
    output: asText(formats.output),
    ...(typeof kafkaConsumerTopic === 'string' ? { kafkaConsumerTopic } : {}),
    ...(typeof mllpPort === 'number' ? { mllpPort } : {}),
    ...(document.paused === true ? { paused: true } : {}),
    ...(timetable === '' ? {} : { timetable }),
    version,
    createdAt,
    updatedAt,
    active,
    ...(reason === undefined ? {} : { reason }),
    faults,
  }
  const searchable = [name, description, pattern, id, kafkaConsumerTopic, ...Object.values(summary.labels)]
  return {
    summary,
    document,
    searched: searchable.map(asText).join('\n').toLowerCase(),
    keys: {
      name: name.toLowerCase().slice(0, MAX_KEY_CHARACTERS),
      pattern: pattern.toLowerCase().slice(0, MAX_KEY_CHARACTERS),
      method,
      createdAt,
      updatedAt,
    },
  }
}

/** Empty without a schedule. */
function showTimes({ cron, every, timezone }: JsonObject): string {
  if (typeof every === 'string') return `every ${every}`
  return [cron, timezone].map(asText).join(' ').trim()
}

const asText = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
const asObject = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})
