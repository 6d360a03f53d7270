/** `inputMapping`: the entries of every version of the peer, with sources and targets as this service reads them. */
import { checkPath } from '../../src/config/checks/path-roots.ts'
import { isObject, type Json, type JsonObject } from '../../src/domain/json.ts'
import { collectInto, type Lint } from '../../src/domain/lint.ts'
import { ROOTS } from '../../src/domain/message.ts'
import { compileMapping } from '../../src/language/mapping/mapping.ts'
import { sharedConstants } from '../../src/language/mapping/shared-constants.ts'
import { parseTarget } from '../../src/language/mapping/target.ts'
import { parsePath } from '../../src/language/paths/path.ts'
import { pathText } from '../../src/language/paths/path-steps.ts'
import { freeName, type PathContext } from './convert-requests.ts'
import type { DocumentPart } from './draft.ts'
import { readsAllLookups, withData } from './lookup-forms.ts'

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

/** A key that nothing is written to. */
const UNUSED_KEY = 'unused'

/** The codes of a function that version 0 had. */
const GENDERS = { M: 'male', F: 'female', O: 'other', default: 'unknown' }

/** In: the place and the target of an entry. Out: the target as this service takes it; undefined if it writes nothing. */
export function convertTarget(place: DocumentPart, target: Json): Json | undefined {
  if (!Array.isArray(target)) return convertOne(place, target, false)
  const converted = target.map((one: Json, index) => convertOne(place.at(index), one, true))
  const kept = converted.filter((one) => one !== undefined)
  if (kept.length > 0) return kept
  place.note({
    level: 'changed',
    before: target,
    reason: 'The entry names no target and had no effect there; it is left out.',
  })
  return undefined
}

function convertOne(place: DocumentPart, target: Json, inArray: boolean): Json | undefined {
  if (typeof target === 'string') {
    const key = convertKey(place, target)
    return key !== undefined && takesNull(key) ? convertObject(place, { key }) : key
  }
  if (isObject(target)) return convertObject(place, target)
  if (inArray && Array.isArray(target)) {
    const [key, transform, fill] = target as readonly (Json | undefined)[]
    const named: JsonObject = {
      ...(key === undefined ? {} : { key }),
      ...(transform === undefined || transform === null ? {} : { transform }),
      ...(fill === undefined ? {} : { default: fill }),
    }
    const converted = convertObject(place, named)
    if (converted === named && target.length <= 3) return target
    if (converted !== undefined)
      place.note({ level: 'changed', before: target, after: converted, reason: 'The target is written with names.' })
    return converted
  }
  place.note({ level: 'changed', before: target, reason: 'This is no target and had no effect there; it is left out.' })
  return undefined
}

function convertKey(place: DocumentPart, key: string): string | undefined {
  if (key.trim() !== '') return key
  place.note({ level: 'lost', before: key, reason: 'A target without a name cannot be written; it is left out.' })
  return undefined
}

function convertObject(place: DocumentPart, target: JsonObject): JsonObject | undefined {
  const { key, transform, default: fill, ...others } = target
  for (const [name, value] of Object.entries(others)) {
    place
      .at(name)
      .note({ level: 'changed', before: value, reason: 'The field is unknown here and had no effect there.' })
  }
  const applied =
    transform === undefined || transform === null ? undefined : convertTransform(place.at('transform'), transform)
  if (transform === null)
    place
      .at('transform')
      .note({ level: 'changed', before: null, reason: 'The value stands for a field that is left out.' })
  const isSpread = isObject(applied) && applied.function === 'passThroughObject'
  if (typeof key !== 'string' || key.trim() === '') {
    if (!isSpread) {
      place.note({
        level: 'changed',
        before: target,
        reason: 'A target without a key had no effect there; it is left out.',
      })
      return undefined
    }
    place.at('key').note({
      level: 'changed',
      after: UNUSED_KEY,
      reason: 'Here a target has a key; passThroughObject writes nothing to it.',
    })
  }
  const writesNull = typeof key === 'string' && takesNull(key)
  if (writesNull && !isDefault(fill) && fill !== null) {
    place.note({
      level: 'changed',
      before: key,
      after: { default: null },
      reason: 'There a target that ends in "?" got null for a missing value too; here that is a default.',
    })
  }
  const isKept = fill === undefined || isDefault(fill) || (writesNull && fill === null)
  if (!isKept)
    place.at('default').note({
      level: 'changed',
      before: fill,
      reason: 'That service took such a default for none, so it had no effect there.',
    })
  if (isDefault(fill) && applied !== undefined) {
    place.at('default').note({
      level: 'differs',
      before: fill,
      reason: 'There the function converted the default too; here it is written as it is.',
    })
  }
  const converted: JsonObject = {
    key: typeof key === 'string' && key.trim() !== '' ? key : UNUSED_KEY,
    ...(isDefault(fill) ? { default: fill } : writesNull ? { default: null } : {}),
    ...(applied === undefined ? {} : { transform: applied }),
  }
  return JSON.stringify(sorted(converted)) === JSON.stringify(sorted(target)) ? target : converted
}

const isDefault = (fill: Json | undefined): fill is Json =>
  fill !== undefined && fill !== null && fill !== false && fill !== 0 && fill !== ''

/** Whether a target writes null: it ends in a `?` that no backslash escapes. */
const takesNull = (key: string): boolean => {
  const target = parseTarget(key)
  return target.ok && target.value.takesNull
}

const sorted = (object: JsonObject): readonly (readonly [string, Json])[] =>
  Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1))

function convertTransform(place: DocumentPart, transform: Json): Json | undefined {
  if (!isObject(transform) || typeof transform.function !== 'string') {
    place.note({
      level: 'changed',
      before: transform,
      reason: 'A transform is an object with a function; this one had no effect there.',
    })
    return undefined
  }
  const { function: name, parameters, ...others } = transform
  for (const [other, value] of Object.entries(others)) {
    place
      .at(other)
      .note({ level: 'changed', before: value, reason: 'The field is unknown here and had no effect there.' })
  }
  if (name === 'getGenderFromCode') {
    const after = { function: 'mapCodes', parameters: GENDERS }
    place.note({ level: 'changed', before: transform, after, reason: 'The function mapCodes does the same.' })
    return after
  }
  return Object.keys(others).length === 0
    ? transform
    : { function: name, ...(parameters === undefined ? {} : { parameters }) }
}

/**
 * The value in place of none with which a target writes what the peer wrote without a value: its default, or what its
 * function makes of nothing. Undefined if it then writes nothing.
 */
export function valueForNone(target: Json): null | false | undefined {
  if (Array.isArray(target)) return target.map((one: Json) => valueForNone(one)).find((value) => value !== undefined)
  if (!isObject(target)) return undefined
  if (target.default !== undefined) return null
  const { transform } = target
  if (!isObject(transform)) return undefined
  if (transform.function === 'booleanify') return false
  const { parameters } = transform
  const writes =
    transform.function === 'mapCodes' && isObject(parameters) && ('null' in parameters || 'default' in parameters)
  return writes ? null : undefined
}
