/** Reads the filters of the message log as people write them, in a query or in JSON. */
import { Failure } from '../../core/failure.ts'
import { FAILURES } from '../../core/failure-table.ts'
import { isId } from '../../core/id.ts'
import { readTime, TIME_ACCEPTS } from '../../core/iso-time.ts'
import { didYouMean } from '../../core/nearest.ts'
import { OUTCOMES, SOURCES } from '../../core/records/message-record.ts'
import { STAGE_NAMES } from '../../core/tracing/stages.ts'
import type { GroupKey, MessageFilter } from '../../store/sql/messages.ts'
import { groupFilter, readGroupKey } from './groups/group-key.ts'

type FilterContext = Readonly<{
  /** The active ones. */
  endpoints: readonly Readonly<{ _id: string; name: string }>[]
  nowMs: number
}>

/** The values of each filter; a message must match one of them. */
export type FilterTexts = ReadonlyMap<string, readonly string[]>

/** Fails with FILTER_INVALID. */
type Read = (name: string, values: readonly string[], context: FilterContext) => MessageFilter

const FILTERS: Readonly<Record<string, Read>> = {
  endpoint: (_name, values, { endpoints }) => ({ endpointId: values.map((value) => endpointIdOf(value, endpoints)) }),
  outcome: (name, values) => ({ outcome: values.map((value) => oneOf(name, value, OUTCOMES)) }),
  code: (name, values) => ({
    code: values.map((value) => oneOf(name, value, Object.keys(FAILURES), 'docs/failures.md')),
  }),
  stage: (name, values) => ({ stage: values.map((value) => oneOf(name, value, STAGE_NAMES)) }),
  path: (name, values) => ({ path: few(name, values).map((value) => textOf(name, value)) }),
  error: (name, values) => ({ error: few(name, values).map((value) => textOf(name, value)) }),
  version: (name, values) => ({ version: few(name, values).map((value) => versionOf(name, value)) }),
  group: (name, values) => groupFilter(groupOf(onceOf(name, values))),
  id: (name, values) => ({ id: few(name, values, MOST_IDS).map((value) => messageIdOf(name, value)) }),
  source: (name, values) => ({ source: values.map((value) => oneOf(name, value, SOURCES)) }),
  key: (_name, values) => ({ key: values.flatMap(keysOf) }),
  status: (name, values) => ({ status: values.flatMap((value) => statusesOf(name, value)) }),
  replayOf: (name, values) => ({ replayOf: values.map((value) => messageIdOf(name, value)) }),
  replayed: (name, values) => ({ replayed: flagOf(name, values) }),
  captured: (name, values) => ({ captured: flagOf(name, values) }),
  from: (name, values, { nowMs }) => ({ from: timeOf(name, values, nowMs) }),
  to: (name, values, { nowMs }) => ({ to: timeOf(name, values, nowMs) }),
}

/** Messages that one search names by their ids. */
export const MOST_IDS = 1_000
/** Values of a filter by path, error or version, and characters of a value. */
const MOST_VALUES = 50
const LONGEST_TEXT = 1_000

/** What a search by the text of errors needs beside it, so that the store does not read all failures. */
const NARROWS_ERROR = ['endpoint', 'code', 'path', 'group', 'id', 'from'] as const

/** What the key of a group says already. */
const PARTS_OF_GROUP = ['endpoint', 'stage', 'code', 'path'] as const

export const FILTER_NAMES: readonly string[] = Object.keys(FILTERS)

/** `others`: names that are no filters and are left out. Fails with FILTER_INVALID. */
export function readFilter(texts: FilterTexts, context: FilterContext, others: readonly string[] = []): MessageFilter {
  const known = [...FILTER_NAMES, ...others]
  const parts: MessageFilter[] = []
  for (const [name, values] of texts) {
    const read = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined
    if (read !== undefined) parts.push(read(name, values, context))
    else if (!others.includes(name)) {
      throw invalid(`There is no filter "${name}"${didYouMean(name, known)} There are: ${known.join(', ')}.`)
    }
  }
  const twice = texts.has('group') ? PARTS_OF_GROUP.find((name) => texts.has(name)) : undefined
  if (twice !== undefined) throw invalid(`group says the ${twice} already: leave one of them out.`)
  if (texts.has('version') && !texts.has('endpoint') && !texts.has('group')) {
    throw invalid('version needs endpoint beside it: each endpoint counts its own versions.')
  }
  if (texts.has('error') && !NARROWS_ERROR.some((name) => texts.has(name))) {
    throw invalid(
      `error needs another filter beside it, so that not every failure is read: one of ${NARROWS_ERROR.join(', ')}, such as from=-1d.`,
    )
  }
  return Object.assign({}, ...parts)
}

export const invalid = (sentence: string): Failure => new Failure('FILTER_INVALID', sentence)

export const wrongValue = (name: string, value: string, accepts: string): Failure =>
  invalid(`${name} cannot be "${value}"; it is ${accepts}.`)

/** Fails with FILTER_INVALID if the value is not a known one. `listedIn`: the page that has the values, if they are many. */
export function oneOf<T extends string>(name: string, value: string, known: readonly T[], listedIn?: string): T {
  const found = known.find((one) => one === value)
  if (found !== undefined) return found
  const meant = didYouMean(value, known)
  const others = meant === '.' ? ` ${listedIn} lists them.` : ''
  throw invalid(
    `There is no ${name} "${value}"${meant}${listedIn === undefined ? ` There are: ${known.join(', ')}.` : others}`,
  )
}

/** The name of an active endpoint, or the id of any, deleted ones too. */
function endpointIdOf(value: string, endpoints: FilterContext['endpoints']): string {
  if (isId(value)) return value
  const found = endpoints.find(({ name }) => name === value)
  if (found !== undefined) return found._id
  const suggestion = didYouMean(
    value,
    endpoints.map(({ name }) => name),
  )
  throw invalid(
    `No active endpoint has the name "${value}"${suggestion} The messages of a deleted one are found by its id.`,
  )
}

function groupOf(key: string): GroupKey {
  const group = readGroupKey(key)
  if (group !== undefined) return group
  throw invalid('group must be the key of a group of failures, as GET /messages/groups gives it.')
}

function few(name: string, values: readonly string[], most = MOST_VALUES): readonly string[] {
  if (values.length <= most) return values
  throw invalid(`${name} takes ${most} values at most, and has ${values.length}.`)
}

function textOf(name: string, value: string): string {
  if (value !== '' && value.length <= LONGEST_TEXT) return value
  throw invalid(`${name} must have from 1 to ${LONGEST_TEXT} characters, and has ${value.length}.`)
}

function versionOf(name: string, value: string): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value)
  throw wrongValue(name, value, 'the number of a version, such as 3')
}

function messageIdOf(name: string, value: string): string {
  if (isId(value)) return value
  throw wrongValue(name, value, 'the id of a message, 24 lower-case hexadecimal digits')
}

/** `patient:123` and `patient=123` are the value 123 of the key patient, or, as `urn:oid:1`, the value of any key. */
function keysOf(text: string): readonly Readonly<{ name?: string; value: string }>[] {
  if (text === '') throw wrongValue('key', text, 'a value such as 123, or a key and its value such as patient:123')
  const named = [':', '='].flatMap((separator) => {
    const at = text.indexOf(separator)
    return at < 1 || at === text.length - 1 ? [] : [{ name: text.slice(0, at), value: text.slice(at + 1) }]
  })
  return [...named, { value: text }]
}

function statusesOf(name: string, text: string): readonly number[] {
  const [, hundred] = /^([1-5])xx$/i.exec(text) ?? []
  if (hundred !== undefined) return Array.from({ length: 100 }, (_, index) => Number(hundred) * 100 + index)
  if (/^[1-5]\d\d$/.test(text)) return [Number(text)]
  throw wrongValue(name, text, 'an HTTP status such as 502, or 5xx')
}

function onceOf(name: string, [text = '', ...more]: readonly string[]): string {
  if (more.length > 0) throw invalid(`${name} can be given once only.`)
  return text
}

function flagOf(name: string, values: readonly string[]): boolean {
  const text = onceOf(name, values)
  if (text !== 'true' && text !== 'false') throw wrongValue(name, text, 'true or false')
  return text === 'true'
}

function timeOf(name: string, values: readonly string[], nowMs: number): number {
  const text = onceOf(name, values)
  const ms = readTime(text, nowMs)
  if (ms === undefined) throw wrongValue(name, text, TIME_ACCEPTS)
  return ms
}
