/** The filters of the message log: their schemas, in a query and in JSON, and what they select. */
import type { TSchema } from 'typebox'
import { Failure } from '../../core/failure.ts'
import { FAILURES } from '../../core/failure-table.ts'
import { isId } from '../../core/id.ts'
import { readTime } from '../../core/iso-time.ts'
import { didYouMean } from '../../core/nearest.ts'
import { SOURCES } from '../../core/origin.ts'
import { OUTCOMES } from '../../core/records/message-record.ts'
import {
  described,
  enumSchema,
  extend,
  flag,
  id,
  list,
  moment,
  noted,
  type QueryOf,
  text,
  whole,
} from '../../core/schema.ts'
import { TABLE_NAME_PATTERN } from '../../core/tables/table.ts'
import { STAGE_NAMES } from '../../core/tracing/stages.ts'
import type { MessageFilter, TableMiss } from '../../store/sql/messages.ts'
import { groupFilter, readGroupKey } from './group-key.ts'

/** Messages that one search names by their ids. */
const MAX_IDS = 1_000
/** Values of a filter by path, error or version, and characters of a value. */
const MAX_VALUES = 50
const MAX_CHARACTERS = 1_000

const messageId = noted(id, { expects: 'the id of a message, 24 lower-case hexadecimal digits' })
const someText = extend(text, { minLength: 1, maxLength: MAX_CHARACTERS })

/** A message matches any of several values. */
const several = <S extends TSchema>(schema: S, description: string) => described(list(schema), description)
const few = <S extends TSchema>(schema: S, description: string, maxItems = MAX_VALUES) =>
  extend(several(schema, description), { maxItems })

export const MESSAGE_FILTERS = {
  endpoint: several(text, 'Name or id of an endpoint.'),
  outcome: several(enumSchema(OUTCOMES), 'How the message ended.'),
  code: several(
    noted(text, {
      is: (code) => Object.hasOwn(FAILURES, code),
      fault: (code) => {
        const meant = didYouMean(code, Object.keys(FAILURES))
        return `There is no code "${code}"${meant}${meant === '.' ? ' docs/failures.md lists them.' : ''}`
      },
    }),
    'Code of its failure.',
  ),
  stage: several(enumSchema(STAGE_NAMES), 'Stage at which it failed.'),
  path: few(someText, 'Path at which it failed, exactly.'),
  error: few(
    someText,
    'Part of the sentence of its failure. Needs `endpoint`, `code`, `path`, `group`, `id` or `from` beside it.',
  ),
  version: few(
    noted(extend(whole, { minimum: 1 }), { expects: 'the number of a version, such as 3' }),
    'Version of its endpoint. Needs `endpoint` or `group` beside it.',
  ),
  group: noted(
    described(text, 'Key of a group of failures. Takes the place of `endpoint`, `stage`, `code` and `path`.'),
    {
      is: (key) => readGroupKey(key) !== undefined,
      fault: () => 'group must be the key of a group of failures, as GET /messages/groups gives it.',
    },
  ),
  id: few(messageId, `Id of the message; at most ${MAX_IDS}.`, MAX_IDS),
  source: several(enumSchema(SOURCES), 'How it arrived.'),
  key: several(
    noted(text, {
      is: (key) => key !== '',
      expects: 'a value such as 123, or a key and its value such as patient:123',
    }),
    'Value of a business key, or its name and value: `patient:123`.',
  ),
  status: several(
    noted(text, {
      is: (status) => /^[1-5](?:\d\d|xx)$/i.test(status),
      expects: 'an HTTP status such as 502, or 5xx',
    }),
    'HTTP status of its answer: `502`, or `5xx`.',
  ),
  replayOf: several(messageId, 'The message that it repeats.'),
  replayed: described(flag, 'Of messages that did not end done: whether a replay has.'),
  captured: described(flag, 'Whether a capture recorded it.'),
  missed: few(
    noted(someText, {
      is: (given) => new RegExp(TABLE_NAME_PATTERN).test(missFrom(given).table),
      expects: 'the name of a table, or a table and a code such as sex:M1',
    }),
    'Table that had nothing for a code of it or of a replay of it, or the table and the code: `sex:M1`.',
    MAX_IDS,
  ),
  from: moment('Inclusive'),
  to: moment('Exclusive'),
}

export const FILTER_NAMES: readonly string[] = Object.keys(MESSAGE_FILTERS)

export type MessageQuery = QueryOf<typeof MESSAGE_FILTERS>

export type FilterContext = Readonly<{
  /** The active ones. */
  endpoints: readonly Readonly<{ _id: string; name: string }>[]
  nowMs: number
}>

/** What a search by the text of errors needs beside it, so that the store does not read all failures. */
const NARROWS_ERROR = ['endpoint', 'code', 'path', 'group', 'id', 'from'] as const

/** What the key of a group says already. */
const PARTS_OF_GROUP = ['endpoint', 'stage', 'code', 'path'] as const

/** Fails with FILTER_INVALID for an unknown endpoint, and for filters that do not go together. */
export function readFilter(query: MessageQuery, { endpoints, nowMs }: FilterContext): MessageFilter {
  const { endpoint, group, key, status, missed, from, to, ...others } = query
  const endpointId = endpoint?.map((value) => resolveEndpointId(value, endpoints))
  const has = (name: keyof MessageQuery): boolean => query[name] !== undefined
  const twice = has('group') ? PARTS_OF_GROUP.find(has) : undefined
  if (twice !== undefined) throw invalid(`group says the ${twice} already: leave one of them out.`)
  if (has('version') && !has('endpoint') && !has('group')) {
    throw invalid('version needs endpoint beside it: each endpoint counts its own versions.')
  }
  if (has('error') && !NARROWS_ERROR.some(has)) {
    throw invalid(
      `error needs another filter beside it, so that not every failure is read: one of ${NARROWS_ERROR.join(', ')}, such as from=-1d.`,
    )
  }
  const groupKey = group === undefined ? undefined : readGroupKey(group)
  return {
    ...others,
    ...(endpointId && { endpointId }),
    ...(groupKey && groupFilter(groupKey)),
    ...(key && { key: key.flatMap(keysFrom) }),
    ...(missed && { missed: missed.map(missFrom) }),
    ...(status && { status: status.flatMap(statusesFrom) }),
    ...timesIn({ from, to }, nowMs),
  } as MessageFilter
}

export const invalid = (sentence: string): Failure => new Failure('FILTER_INVALID', sentence)

/** In: the name of an active endpoint, or the id of any, deleted ones too; `what` is looked for. Fails with FILTER_INVALID. */
export function resolveEndpointId(value: string, endpoints: FilterContext['endpoints'], what = 'messages'): string {
  if (isId(value)) return value
  const found = endpoints.find(({ name }) => name === value)
  if (found !== undefined) return found._id
  const suggestion = didYouMean(
    value,
    endpoints.map(({ name }) => name),
  )
  throw invalid(
    `No active endpoint has the name "${value}"${suggestion} The ${what} of a deleted one are found by its id.`,
  )
}

/** `patient:123` and `patient=123` are the value 123 of the key patient, or, as `urn:oid:1`, the value of any key. */
function keysFrom(text: string): readonly Readonly<{ name?: string; value: string }>[] {
  const named = [':', '='].flatMap((separator) => {
    const at = text.indexOf(separator)
    return at < 1 || at === text.length - 1 ? [] : [{ name: text.slice(0, at), value: text.slice(at + 1) }]
  })
  return [...named, { value: text }]
}

/** No name of a table has a colon. */
export function missFrom(text: string): TableMiss {
  const at = text.indexOf(':')
  return at === -1 ? { table: text } : { table: text.slice(0, at), code: text.slice(at + 1) }
}

function statusesFrom(text: string): readonly number[] {
  if (/^\d+$/.test(text)) return [Number(text)]
  return Array.from({ length: 100 }, (_, index) => Number(text[0]) * 100 + index)
}

/** Times in a query in milliseconds since the epoch. */
export function timesIn(
  { from, to }: Readonly<{ from?: string | undefined; to?: string | undefined }>,
  nowMs: number,
): Readonly<{ from?: number; to?: number }> {
  const fromMs = from === undefined ? undefined : readTime(from, nowMs)
  const toMs = to === undefined ? undefined : readTime(to, nowMs)
  return { ...(fromMs === undefined ? {} : { from: fromMs }), ...(toMs === undefined ? {} : { to: toMs }) }
}
