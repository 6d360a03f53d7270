/** The targets of an entry of `inputMapping`, which a document can write in several forms. */
import { isObject, type Json, type JsonObject, typeName } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import { compileFunction, type MappingFunction, type MappingTables, nearestOrAll } from './mapping-functions.ts'
import { type MappingTarget, parseTarget, spreads } from './target.ts'

/** The keys of a target that is an object, each with what it is for. */
export const TARGET_KEYS = {
  key: 'Where the value goes.',
  default: 'Replaces a value that is missing, null or cannot be converted.',
  transform: 'The function that converts the value.',
  each: 'Entries that map every element of the source; the last [] of the key is the list that they make.',
  when: 'The JSONata expression that lets an element into "each".',
} as const

/** One target of an entry. `fill`: its default. */
export type Plan = Readonly<{
  target: MappingTarget
  function: MappingFunction | undefined
  fill: Json | undefined
  /** The document has a default, which may be a null that writes nothing. */
  hasDefault: boolean
  /** Of a target with `each`. */
  each?: EachPlan
  sink: LintSink
}>

/** What maps each element of a list. `when`: the expression that lets an element through. */
export type EachPlan = Readonly<{ entries: JsonObject; when: string | undefined }>

/** Gets each sound `each` of an entry, also where another part of the entry is faulty. `sink`: of its target. */
type NoteEach = (each: EachPlan, target: MappingTarget | undefined, sink: LintSink) => void

type Parts = Readonly<Partial<Record<'key' | 'transform' | 'fill', Json | undefined>>>

/** In: the value of an entry. Out: undefined if any target is faulty; `sink` then has an error. */
export function readTargets(
  declared: Json,
  sink: LintSink,
  tables?: MappingTables,
  noteEach?: NoteEach,
): readonly Plan[] | undefined {
  const given = { tables, noteEach }
  if (!Array.isArray(declared)) return requireAll([readTarget(declared, sink, false, given)])
  if (declared.length === 0) {
    sink.error('The array names no target; write at least one, or remove the entry.')
    return undefined
  }
  return requireAll(declared.map((item: Json, at) => readTarget(item, sink.at(at), true, given)))
}

const requireAll = (plans: readonly (Plan | undefined)[]): readonly Plan[] | undefined =>
  plans.every((plan) => plan !== undefined) ? plans : undefined

/** What reading a target needs: the tables of its function, and who gets its `each`. */
type Given = Readonly<{ tables: MappingTables | undefined; noteEach: NoteEach | undefined }>

function readTarget(declared: Json, sink: LintSink, inArray: boolean, given: Given): Plan | undefined {
  if (typeof declared === 'string') return readParts({ key: declared }, [sink, sink, sink], given)
  if (isObject(declared)) {
    const known = checkKeys(declared, Object.keys(TARGET_KEYS), sink)
    if (declared.each !== undefined) return readEachTarget(declared, known, sink, given.noteEach)
    if (declared.when !== undefined) {
      sink.at('when').error('"when" lets elements of "each" through, and this target has no "each"; remove it.')
    }
    const sound = known && declared.when === undefined
    const { key, transform, default: fill } = declared
    const plan = readParts({ key, transform, fill }, [sink, sink.at('key'), sink.at('transform')], given)
    return sound ? plan : undefined
  }
  if (inArray && Array.isArray(declared)) {
    const [key, transform, fill]: readonly Json[] = declared
    if (declared.length > 3) sink.error('The short form is [key, transform, default]; remove the other elements.')
    const plan = readParts({ key, transform, fill }, [sink, sink.at(0), sink.at(1)], given)
    return declared.length > 3 ? undefined : plan
  }
  const shortForm = inArray ? ', or the short form [key, transform, default]' : ', or an array of these'
  sink.error(`A target is text such as "a.b", or an object with a key${shortForm}; this is ${typeName(declared)}.`)
  return undefined
}

/** In: a target with `each`. `known`: it has no unknown keys. */
function readEachTarget(
  declared: JsonObject,
  known: boolean,
  sink: LintSink,
  noteEach: NoteEach | undefined,
): Plan | undefined {
  const { key, each: entries, when } = declared
  const target = readKey(key, sink.at('key'))
  const list = target && checkList(target, sink.at('key'))
  const others = (['default', 'transform'] as const).filter((name) => declared[name] !== undefined)
  for (const name of others) {
    sink.at(name).error(`"${name}" has no meaning beside "each"; remove it, or write it in the entries of "each".`)
  }
  const isText = when === undefined || (typeof when === 'string' && when.trim() !== '')
  if (!isText) {
    sink.at('when').error('"when" is the text of an expression that is true or false, such as "item.active = true".')
  }
  if (!isObject(entries) || Object.keys(entries).length === 0) {
    sink
      .at('each')
      .error('"each" is an object with an entry for each value of an element, such as { "item.id": "id" }.')
    return undefined
  }
  const each: EachPlan = { entries, when: isText ? when : undefined }
  noteEach?.(each, list, sink)
  if (!known || !isText || others.length > 0 || list === undefined) return undefined
  return { target: list, function: undefined, fill: undefined, hasDefault: false, each, sink }
}

/** Out: undefined for a target that no elements can be added to. */
function checkList(target: MappingTarget, sink: LintSink): MappingTarget | undefined {
  const { text, steps, takesNull } = target
  if (takesNull) sink.error('"each" writes no null; remove the "?" at the end.')
  else if (steps.every(({ kind }) => kind !== 'each')) {
    sink.error(
      `"each" adds elements to a list, and "${text}" has none; put "[]" behind the name of the list, such as "${text}[]".`,
    )
  } else return target
  return undefined
}

/** `sinks`: of the target, of its key and of its function. */
function readParts(
  parts: Parts,
  [sink, keySink, transformSink]: readonly [LintSink, LintSink, LintSink],
  { tables }: Given,
): Plan | undefined {
  const { key, transform, fill } = parts
  const target = readKey(key === undefined && writesToRoot(transform) ? UNUSED_KEY : key, keySink)
  const applied = readTransform(transform, transformSink, tables)
  if (target === undefined || applied === 'faulty') return undefined
  if (fill === null && !target.takesNull && applied?.convert === undefined) {
    keySink.warning('A default of null writes nothing, unless the key ends in "?".')
  }
  if (applied?.placement === 'all' && !spreads(target)) {
    keySink.warning('oneToAllElements writes one value here; put "[]" before the name that every element should have.')
  }
  const hasDefault = fill !== undefined
  if (hasDefault && applied?.name === 'table' && !namesMissing(transform)) {
    transformSink.warning(
      'The default is for a message without a code; one that the table has not fails the message. Say what it gets in the parameter "missing", or "fail" if it is to.',
    )
  }
  return { target, function: applied, fill: fill === null && !target.takesNull ? undefined : fill, hasDefault, sink }
}

const namesMissing = (transform: Json | undefined): boolean =>
  isObject(transform) && isObject(transform.parameters) && transform.parameters.missing !== undefined

/** Replaces the key of a function that writes to no place of its own. */
const UNUSED_KEY = 'unused'

/** True if the target has no place of its own. */
const writesToRoot = (transform: Json | undefined): boolean =>
  (isObject(transform) ? transform.function : transform) === 'passThroughObject'

function readKey(key: Json | undefined, sink: LintSink): MappingTarget | undefined {
  if (typeof key !== 'string') {
    sink.error(`The key is the text of a target, such as "a.b"; this is ${typeName(key)}.`)
    return undefined
  }
  const target = parseTarget(key)
  if (target.ok) return target.value
  sink.error(target.message)
  return undefined
}

function readTransform(
  transform: Json | undefined,
  sink: LintSink,
  tables: MappingTables | undefined,
): MappingFunction | undefined | 'faulty' {
  if (transform === undefined || transform === null) return undefined
  if (typeof transform === 'string') return compileFunction(transform, undefined, sink, tables) ?? 'faulty'
  if (!isObject(transform)) {
    sink.error(`A transform is an object with a function, or the function's name; this is ${typeName(transform)}.`)
    return 'faulty'
  }
  const sound = checkKeys(transform, ['function', 'parameters'], sink)
  const { function: name, parameters } = transform
  if (typeof name !== 'string') {
    sink.at('function').error(`The function is the name of one, such as "stringify"; this is ${typeName(name)}.`)
    return 'faulty'
  }
  const compiled = compileFunction(name, parameters, sink, tables)
  return sound && compiled !== undefined ? compiled : 'faulty'
}

function checkKeys(object: JsonObject, known: readonly string[], sink: LintSink): boolean {
  const unknown = Object.keys(object).filter((key) => !known.includes(key))
  for (const key of unknown) sink.at(key).error(`There is no key "${key}" here; ${nearestOrAll(key, 'keys', known)}`)
  return unknown.length === 0
}
