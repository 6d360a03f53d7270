/** `inputMapping`: the entries of every version of the peer, with sources and targets as this service reads them. */

import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { ROOTS } from '../../src/core/message.ts'
import { checkPath } from '../../src/document/checks/path-roots.ts'
import { compileMapping } from '../../src/language/mapping/mapping.ts'
import { TARGET_KEYS } from '../../src/language/mapping/mapping-targets.ts'
import { parseTarget } from '../../src/language/mapping/target.ts'
import { parsePath } from '../../src/language/paths/path.ts'
import { pathText } from '../../src/language/paths/path-steps.ts'
import { freeName, type PathContext } from './convert-requests.ts'
import { type DocumentPart, faultsIn } from './draft.ts'
import { type Lookup, readsAllLookups, withData } from './lookup-forms.ts'
import { sharedConstants } from './shared-constants.ts'

type Entry = Readonly<{ location: DocumentPart; source: string; target: Json }>

/** A constant without a value: a source for entries that write something although they find nothing. */
const NOTHING = 'notDefined'

const DATA_MOVED = 'The data of a lookup is under "data" here'

export type MappingContext = PathContext & Readonly<{ peerVersion: string | undefined }>

export function convertMapping(draft: DocumentPart, context: MappingContext): void {
  const mapping = draft.at('inputMapping')
  const { value } = mapping
  const found = isObject(value) ? listEntries(mapping, value, context) : []
  if (found.length === 0) {
    writeDefaultOutput(mapping, context)
    return
  }
  const entries = found.flatMap((entry) => convertEntry(entry, draft, context))
  noteShared(entries, draft)
  if (entries.length > 0) {
    mapping.replace(toMapping(entries))
    return
  }
  const nothing = { [defineNothing(draft)]: NOTHING }
  mapping.note(
    'changed',
    'None of the entries had an effect there, and the output was empty; without entries, it would be the body.',
    { after: nothing },
  )
  mapping.replace(nothing)
}

const toMapping = (entries: readonly Entry[]): JsonObject =>
  Object.fromEntries(entries.map(({ source, target }) => [source, target]))

/** The peer wrote into the constants themselves. */
function noteShared(entries: readonly Entry[], draft: DocumentPart): void {
  const shared = sharedConstants({
    inputMapping: toMapping(entries),
    constants: draft.at('constants').clean() ?? {},
  })
  for (const source of new Set(shared.map((one) => one.source))) {
    entries
      .find((entry) => entry.source === source)
      ?.location.note(
        'differs',
        'Later entries write into this constant. That service kept what they wrote for the messages after; here each message starts with the constant as written.',
      )
  }
}

/** The entries, with roots: version 0 had mappings of the body alone, and in two parts. */
function listEntries(mapping: DocumentPart, value: JsonObject, { peerVersion }: MappingContext): readonly Entry[] {
  const within = (part: DocumentPart, entries: Json | undefined): Entry[] =>
    Object.entries(isObject(entries) ? entries : {}).map(([source, target]) => ({
      location: part.at(source),
      source,
      target,
    }))
  const whole = within(mapping, value)
  if (peerVersion === undefined || !/^v?0\b/.test(peerVersion)) return whole
  const { input, constants } = value
  const isPart = (one: Json | undefined) => isObject(one) && typeof one.key !== 'string'
  if ([input, constants].some(isPart) && whole.every(({ source }) => source === 'input' || source === 'constants')) {
    return [
      ...within(mapping.at('constants'), constants).map((entry) => rooted(entry, 'constants')),
      ...within(mapping.at('input'), input).map((entry) => rooted(entry, 'requestBody')),
    ]
  }
  const isRooted = whole.some(({ source }) => Object.hasOwn(ROOTS, /^[^.[]*/.exec(source)?.[0] ?? ''))
  return isRooted ? whole : whole.map((entry) => rooted(entry, 'requestBody'))
}

function rooted({ location, source, target }: Entry, root: string): Entry {
  const after = source.startsWith('[') ? `${root}${source}` : `${root}.${source}`
  location.note('changed', 'A source starts with the part of the message that it reads.', { before: source, after })
  return { location, source: after, target }
}

function convertEntry(entry: Entry, draft: DocumentPart, context: MappingContext): readonly Entry[] {
  const { location } = entry
  const { form, lookups, endpoint } = context
  if (form === 'bare' && readsAllLookups(entry.source)) return convertAllLookups(entry, context)
  const source = (form === 'bare' ? withData(entry.source, lookups) : undefined) ?? entry.source
  if (source !== entry.source) location.note('changed', `${DATA_MOVED}.`, { before: entry.source, after: source })
  const target = convertTarget(location, entry.target)
  if (target === undefined) return []
  const path = parsePath(source)
  const leftOut = (reason: string) => {
    location.note('lost', reason, { before: entry.target })
    return []
  }
  if (!path.ok) return leftOut(`The entry is left out: ${path.message}`)
  if (/^state\.currentLookup/.test(source)) {
    return leftOut('How the lookups of the same message went cannot be mapped here; the entry is left out.')
  }
  if (faultsIn((lint) => checkPath(path.value, 'map', endpoint, lint)).length > 0) {
    return convertUnfound({ ...entry, target }, draft)
  }
  const sound = soundTarget(source, target, location)
  return sound === undefined ? [] : [{ location, source, target: sound }]
}

/** An entry whose source finds nothing writes its default all the same. */
function convertUnfound({ location, source, target }: Entry, draft: DocumentPart): readonly Entry[] {
  const value = valueForNone(target)
  if (value === undefined) {
    const reason = 'The entry reads what is not defined and had no effect there; it is left out.'
    location.note('changed', reason, { before: target })
    return []
  }
  const sound = soundTarget('constants', target, location)
  if (sound === undefined) return []
  const constant = defineNothing(draft, value)
  const reason = 'The entry reads what is not defined, and writes what it wrote without a value.'
  location.note('changed', reason, { before: source, after: constant })
  return [{ location, source: constant, target: sound }]
}

/** The path of a new constant. */
function defineNothing(draft: DocumentPart, value: null | false = null): string {
  const constants = draft.at('constants')
  if (!isObject(constants.value)) constants.replace({})
  const taken = new Set(Object.keys(constants.value as JsonObject))
  const name = taken.has(NOTHING) ? freeName(NOTHING, taken) : NOTHING
  constants.at(name).set(value, 'changed', 'A constant for entries that find nothing.')
  return `constants.${name}`
}

/** The id of a lookup as a step of a path. */
const lookupStep = ({ id }: Lookup): string => pathText([{ kind: 'name', name: id }])

/** The object of all lookups, as one entry for each of them. */
function convertAllLookups({ location, source, target }: Entry, { lookups }: MappingContext): readonly Entry[] {
  const converted = convertTarget(location, target)
  const base = converted === undefined ? undefined : lookupTargetBase(converted)
  if (source !== 'lookupRequests' || base === undefined) {
    const reason =
      'The entry reads all lookups together, whose data is under "data" here; map each lookup by an entry of its own.'
    location.note('lost', reason, { before: target })
    return []
  }
  const entries = lookups.map(lookupStep).map((name) => ({
    location,
    source: `lookupRequests.${name}.data`,
    target: base === '' ? name : `${base}.${name}`,
  }))
  const reason = `${DATA_MOVED}, so each has an entry of its own.`
  location.note('changed', reason, { before: target, after: toMapping(entries) })
  return entries
}

/** The target below which each lookup is written; undefined for one that says more than a place. */
function lookupTargetBase(target: Json): string | undefined {
  if (typeof target === 'string') return /[\]+?]$/.test(target) ? undefined : target
  if (!isObject(target) || target.default !== undefined) return undefined
  if (isObject(target.transform)) return target.transform.function === 'passThroughObject' ? '' : undefined
  return target.transform === undefined && typeof target.key === 'string' ? lookupTargetBase(target.key) : undefined
}

/** The target, or those of its targets that compile. */
function soundTarget(source: string, target: Json, location: DocumentPart): Json | undefined {
  const compiles = (_one: Json, written: Json, at: DocumentPart) => {
    const [fault] = faultsIn((lint) => compileMapping({ [source]: written }, lint))
    if (fault !== undefined) at.note('lost', `The target is left out: ${fault.message}`, { before: written })
    return fault === undefined
  }
  if (!Array.isArray(target)) return compiles(target, target, location) ? target : undefined
  const sound = target.filter((one: Json, index) => compiles(one, [one], location.at(index)))
  return sound.length === 0 ? undefined : sound
}

/** Without a mapping, the peer gave out the body and the data of the lookups. */
function writeDefaultOutput(mapping: DocumentPart, { form, lookups, endpoint }: MappingContext): void {
  const { method } = endpoint.endpoint
  const hasNoBody = (method === 'GET' || method === 'DELETE') && endpoint.kafkaConsumerTopic === undefined
  if (lookups.length === 0 || (form === 'wrapped' && !hasNoBody)) return
  const data = lookups.map(lookupStep).map((name) => [`lookupRequests.${name}.data`, `lookupRequests.${name}`] as const)
  const entries = Object.fromEntries([
    ...(hasNoBody ? [] : [['requestBody', 'requestBody'] as const]),
    ...(form === 'bare' ? data : [['lookupRequests', 'lookupRequests'] as const]),
  ])
  mapping.set(entries, 'changed', 'Without entries, the output would not have the form that it had there.')
}

/** A key that nothing is written to. */
const UNUSED_KEY = 'unused'

/** The codes of a function that version 0 had. */
const GENDERS = { M: 'male', F: 'female', O: 'other', default: 'unknown' }

/** In: the place and the target of an entry. Out: the target as this service takes it; undefined if it writes nothing. */
function convertTarget(location: DocumentPart, target: Json): Json | undefined {
  if (!Array.isArray(target)) return convertOne(location, target, false)
  const converted = target.map((one: Json, index) => convertOne(location.at(index), one, true))
  const kept = converted.filter((one) => one !== undefined)
  if (kept.length > 0) return kept
  const reason = 'The entry names no target and had no effect there; it is left out.'
  location.note('changed', reason, { before: target })
  return undefined
}

function convertOne(location: DocumentPart, target: Json, inArray: boolean): Json | undefined {
  if (typeof target === 'string') {
    if (target.trim() !== '') return takesNull(target) ? convertObject(location, { key: target }) : target
    location.note('lost', 'A target without a name cannot be written; it is left out.', { before: target })
    return undefined
  }
  if (isObject(target)) return convertObject(location, target)
  if (inArray && Array.isArray(target)) {
    const [key, transform, fill] = target as readonly (Json | undefined)[]
    const named: JsonObject = {
      ...(key === undefined ? {} : { key }),
      ...(transform === undefined || transform === null ? {} : { transform }),
      ...(fill === undefined ? {} : { default: fill }),
    }
    const after = convertObject(location, named)
    if (after === named && target.length <= 3) return target
    if (after !== undefined) location.note('changed', 'The target is written with names.', { before: target, after })
    return after
  }
  location.note('changed', 'This is not a target and had no effect there; it is left out.', { before: target })
  return undefined
}

/** Notes of single fields of a target or its transform. */
function noteUnknown(location: DocumentPart, fields: JsonObject): void {
  for (const [name, before] of Object.entries(fields)) {
    const unknown = Object.hasOwn(TARGET_KEYS, name) ? 'was unknown there' : 'is unknown here'
    location.at(name).note('changed', `The field ${unknown} and had no effect there.`, { before })
  }
}

function convertObject(location: DocumentPart, target: JsonObject): JsonObject | undefined {
  const { key: written, transform, default: fill, ...others } = target
  noteUnknown(location, others)
  const applied =
    transform === undefined || transform === null ? undefined : convertTransform(location.at('transform'), transform)
  if (transform === null)
    location.at('transform').note('changed', 'The value means that the field is left out.', { before: null })
  const key = typeof written === 'string' && written.trim() !== '' ? written : undefined
  if (key === undefined) {
    if (!isObject(applied) || applied.function !== 'passThroughObject') {
      location.note('changed', 'A target without a key had no effect there; it is left out.', { before: target })
      return undefined
    }
    const reason = 'Here a target has a key; passThroughObject writes nothing to it.'
    location.at('key').note('changed', reason, { after: UNUSED_KEY })
  }
  const writesNull = typeof written === 'string' && takesNull(written)
  const hasDefault = isDefault(fill)
  if (writesNull && !hasDefault && fill !== null) {
    const reason = 'There a target that ends in "?" got null for a missing value too; here that is a default.'
    location.note('changed', reason, { before: written, after: { default: null } })
  }
  if (fill !== undefined && !hasDefault && !(writesNull && fill === null)) {
    const reason = 'That service took such a default for none, so it had no effect there.'
    location.at('default').note('changed', reason, { before: fill })
  }
  if (hasDefault && applied !== undefined) {
    const reason = 'There the function converted the default too; here it is written unchanged.'
    location.at('default').note('differs', reason, { before: fill })
  }
  const converted: JsonObject = {
    key: key ?? UNUSED_KEY,
    ...(hasDefault ? { default: fill } : writesNull ? { default: null } : {}),
    ...(applied === undefined ? {} : { transform: applied }),
  }
  return JSON.stringify(sorted(converted)) === JSON.stringify(sorted(target)) ? target : converted
}

const isDefault = (fill: Json | undefined): fill is Json =>
  fill !== undefined && fill !== null && fill !== false && fill !== 0 && fill !== ''

/** Such a target ends in a `?` that no backslash escapes. */
const takesNull = (key: string): boolean => {
  const target = parseTarget(key)
  return target.ok && target.value.takesNull
}

const sorted = (object: JsonObject): readonly (readonly [string, Json])[] =>
  Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1))

function convertTransform(location: DocumentPart, transform: Json): Json | undefined {
  if (!isObject(transform) || typeof transform.function !== 'string') {
    const reason = 'A transform is an object with a function; this one had no effect there.'
    location.note('changed', reason, { before: transform })
    return undefined
  }
  const { function: name, parameters, ...others } = transform
  noteUnknown(location, others)
  if (name === 'getGenderFromCode') {
    const after = { function: 'mapCodes', parameters: GENDERS }
    location.note('changed', 'The function mapCodes does the same.', { before: transform, after })
    return after
  }
  if (Object.keys(others).length === 0) return transform
  return { function: name, ...(parameters === undefined ? {} : { parameters }) }
}

/**
 * The value in place of none with which a target writes what the peer wrote without a value: its default, or what its
 * function makes of nothing. Undefined if it then writes nothing.
 */
function valueForNone(target: Json): null | false | undefined {
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
