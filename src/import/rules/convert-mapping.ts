/** `inputMapping`: the entries of every version of the peer, with sources and targets as this service reads them. */
import { checkPath } from '../../config/checks/path-roots.ts'
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'
import { collectInto, type Lint } from '../../domain/lint.ts'
import { ROOTS } from '../../domain/message.ts'
import { compileMapping } from '../../language/mapping/mapping.ts'
import { sharedConstants } from '../../language/mapping/shared-constants.ts'
import { parsePath } from '../../language/paths/path.ts'
import { pathText } from '../../language/paths/path-steps.ts'
import { convertTarget, valueForNone } from './convert-target.ts'
import type { DocumentPart } from './draft.ts'
import { readsAllLookups, withData } from './lookup-paths.ts'
import type { PathContext } from './requests/convert-parameters.ts'
import { freeName } from './requests/convert-requests.ts'

type Entry = Readonly<{ place: DocumentPart; source: string; target: Json }>

/** A constant without a value: a source for entries that write something although they find nothing. */
const NOTHING = 'notDefined'

export type MappingContext = PathContext & Readonly<{ peerVersion: string | undefined }>

export function convertMapping(draft: DocumentPart, context: MappingContext): void {
  const mapping = draft.at('inputMapping')
  const { value } = mapping
  const found = isObject(value) ? entriesOf(mapping, value, context) : []
  if (found.length === 0) {
    writeDefaultOutput(mapping, context)
    return
  }
  const entries = found.flatMap((entry) => convertEntry(entry, draft, context))
  noteShared(entries, draft)
  if (entries.length === 0) {
    const constant = defineNothing(draft)
    const nothing = { [constant]: NOTHING }
    mapping.note({
      level: 'changed',
      after: nothing,
      reason:
        'None of the entries had an effect there, and the output was empty; without entries, it would be the body.',
    })
    mapping.replace(nothing)
    return
  }
  mapping.replace(Object.fromEntries(entries.map(({ source, target }) => [source, target])))
}

/** The peer wrote into the constants themselves. */
function noteShared(entries: readonly Entry[], draft: DocumentPart): void {
  const inputMapping = Object.fromEntries(entries.map(({ source, target }) => [source, target]))
  const shared = sharedConstants({ inputMapping, constants: draft.at('constants').clean() ?? {} })
  for (const source of new Set(shared.map((one) => one.source))) {
    entries
      .find((entry) => entry.source === source)
      ?.place.note({
        level: 'differs',
        reason:
          'Later entries write into this constant. That service kept what they wrote for the messages after; here each message starts with the constant as it is written.',
      })
  }
}

/** The entries, with roots: version 0 had mappings of the body alone, and in two parts. */
function entriesOf(mapping: DocumentPart, value: JsonObject, { peerVersion }: MappingContext): readonly Entry[] {
  const whole = Object.entries(value).map(([source, target]): Entry => ({ place: mapping.at(source), source, target }))
  if (peerVersion === undefined || !/^v?0\b/.test(peerVersion)) return whole
  const { input, constants } = value
  if ([input, constants].some(isPart) && whole.every(({ source }) => source === 'input' || source === 'constants')) {
    const part = (name: 'input' | 'constants', root: string): Entry[] =>
      Object.entries(isObject(value[name]) ? (value[name] as JsonObject) : {}).map(([source, target]) =>
        rooted({ place: mapping.at(name, source), source, target }, root),
      )
    return [...part('constants', 'constants'), ...part('input', 'requestBody')]
  }
  const isRooted = whole.some(({ source }) => hasRoot(source))
  return isRooted ? whole : whole.map((entry) => rooted(entry, 'requestBody'))
}

const isPart = (value: Json | undefined): boolean => isObject(value) && typeof value.key !== 'string'

const hasRoot = (source: string): boolean => Object.hasOwn(ROOTS, /^[^.[]*/.exec(source)?.[0] ?? '')

function rooted({ place, source, target }: Entry, root: string): Entry {
  const after = source.startsWith('[') ? `${root}${source}` : `${root}.${source}`
  place.note({
    level: 'changed',
    before: source,
    after,
    reason: 'A source starts with the part of the message that it reads.',
  })
  return { place, source: after, target }
}

function convertEntry(entry: Entry, draft: DocumentPart, context: MappingContext): readonly Entry[] {
  const { form, lookups } = context
  if (form === 'bare' && readsAllLookups(entry.source)) return convertAllLookups(entry, context)
  const moved = form === 'bare' ? withData(entry.source, lookups) : undefined
  if (moved !== undefined) {
    entry.place.note({
      level: 'changed',
      before: entry.source,
      after: moved,
      reason: 'The data of a lookup is under "data" here.',
    })
  }
  const source = moved ?? entry.source
  const target = convertTarget(entry.place, entry.target)
  if (target === undefined) return []
  const path = parsePath(source)
  if (!path.ok) {
    entry.place.note({ level: 'lost', before: entry.target, reason: `The entry is left out: ${path.message}` })
    return []
  }
  if (/^state\.currentLookup/.test(source)) {
    entry.place.note({
      level: 'lost',
      before: entry.target,
      reason: 'How the lookups of the same message went cannot be mapped here; the entry is left out.',
    })
    return []
  }
  const lints: Lint[] = []
  checkPath(path.value, 'map', context.endpoint, collectInto(lints))
  if (lints.some(({ severity }) => severity === 'error')) return convertUnfound({ ...entry, target }, draft)
  const sound = soundTarget(source, target, entry.place)
  return sound === undefined ? [] : [{ ...entry, source, target: sound }]
}

/** An entry whose source finds nothing writes its default all the same. */
function convertUnfound({ place, source, target }: Entry, draft: DocumentPart): readonly Entry[] {
  const value = valueForNone(target)
  if (value === undefined) {
    place.note({
      level: 'changed',
      before: target,
      reason: 'The entry reads what is not defined and had no effect there; it is left out.',
    })
    return []
  }
  const sound = soundTarget('constants', target, place)
  if (sound === undefined) return []
  const constant = defineNothing(draft, value)
  place.note({
    level: 'changed',
    before: source,
    after: constant,
    reason: 'The entry reads what is not defined, and writes what it wrote without a value.',
  })
  return [{ place, source: constant, target: sound }]
}

/** The path of a new constant. */
function defineNothing(draft: DocumentPart, value: null | false = null): string {
  const constants = draft.at('constants')
  if (!isObject(constants.value)) constants.replace({})
  const taken = new Set(Object.keys(constants.value as JsonObject))
  const name = taken.has(NOTHING) ? freeName(NOTHING, taken) : NOTHING
  constants.at(name).set(value, { level: 'changed', reason: 'A constant for entries that find nothing.' })
  return `constants.${name}`
}

/** The object of all lookups, as one entry for each of them. */
function convertAllLookups({ place, source, target }: Entry, { lookups }: MappingContext): readonly Entry[] {
  const converted = convertTarget(place, target)
  const base = converted === undefined ? undefined : baseOf(converted)
  if (source !== 'lookupRequests' || base === undefined) {
    place.note({
      level: 'lost',
      before: target,
      reason:
        'The entry reads all lookups together, whose data is under "data" here; map each lookup by an entry of its own.',
    })
    return []
  }
  const entries = lookups.map(({ id }): Entry => {
    const name = pathText([{ kind: 'name', name: id }])
    return { place, source: `lookupRequests.${name}.data`, target: base === '' ? name : `${base}.${name}` }
  })
  const after = Object.fromEntries(entries.map((one) => [one.source, one.target]))
  place.note({
    level: 'changed',
    before: target,
    after,
    reason: 'The data of a lookup is under "data" here, so each has an entry of its own.',
  })
  return entries
}

/** The target below which each lookup is written; undefined for one that says more than a place. */
function baseOf(target: Json): string | undefined {
  if (typeof target === 'string') return /[\]+?]$/.test(target) ? undefined : target
  if (!isObject(target) || target.default !== undefined) return undefined
  if (isObject(target.transform)) return target.transform.function === 'passThroughObject' ? '' : undefined
  return target.transform === undefined && typeof target.key === 'string' ? baseOf(target.key) : undefined
}

/** The target, or those of its targets that compile. */
function soundTarget(source: string, target: Json, place: DocumentPart): Json | undefined {
  if (Array.isArray(target)) {
    const sound = target.filter((one: Json, index) => compiles(source, [one], place.at(index)))
    return sound.length === 0 ? undefined : sound
  }
  return compiles(source, target, place) ? target : undefined
}

function compiles(source: string, target: Json, place: DocumentPart): boolean {
  const lints: Lint[] = []
  compileMapping({ [source]: target }, collectInto(lints))
  const fault = lints.find(({ severity }) => severity === 'error')
  if (fault === undefined) return true
  place.note({ level: 'lost', before: target, reason: `The target is left out: ${fault.message}` })
  return false
}

/** Without a mapping, the peer gave out the body and the data of the lookups. */
function writeDefaultOutput(mapping: DocumentPart, { form, lookups, endpoint }: MappingContext): void {
  const { method } = endpoint.endpoint
  const hasNoBody = (method === 'GET' || method === 'DELETE') && endpoint.kafkaConsumerTopic === undefined
  if (lookups.length === 0 || (form === 'wrapped' && !hasNoBody)) return
  const names = lookups.map(({ id }) => pathText([{ kind: 'name', name: id }]))
  const data = names.map((name): readonly [string, string] => [`lookupRequests.${name}.data`, `lookupRequests.${name}`])
  const lookupEntries = form === 'bare' ? data : [['lookupRequests', 'lookupRequests'] as const]
  const entries = Object.fromEntries([
    ...(hasNoBody ? [] : [['requestBody', 'requestBody'] as const]),
    ...lookupEntries,
  ])
  mapping.set(entries, {
    level: 'changed',
    reason: 'Without entries, the output would not have the form that it had there.',
  })
}
