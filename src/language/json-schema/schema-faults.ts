/**
 * The errors of Ajv: as sentences for the people who send messages, and as a path in the schema, without names of the
 * message.
 */
import type { ErrorObject } from 'ajv'
import { isObject, type Json, type JsonObject, typeName } from '../../core/json.ts'
import { documentPath, pointerTo, shown } from '../../core/lint.ts'
import { EMPTY_NAME } from './bounded-ajv.ts'
import { OTHER_NAMES, pointerNames } from './read-schema.ts'

export type SchemaFault = Readonly<{
  /** JSON Pointer (RFC 6901) into the data. */
  pointer: string
  /** Continues the pointer, or is a whole sentence if `custom`. */
  message: string
  /** The message is from `errorMessage`, or about the message as a whole. */
  custom: boolean
  /**
   * A missing field, a wrong value, or a broken rule between values; undefined if the fault is about the message as a
   * whole.
   */
  issue?: 'required' | 'value' | 'invariant'
  /** It only says that no alternative matches: the faults of the alternatives say why. */
  ofAlternatives?: true
}>

const FAULT_LIMIT = 100

/**
 * The faults of these errors without repeats: at most FAULT_LIMIT, and a last one with the number of the others, where all
 * of these are.
 */
export function toSchemaFaults(errors: readonly ErrorObject[]): SchemaFault[] {
  const faults = new Map<string, SchemaFault>()
  let left = 0
  let place: string | undefined
  let unmatched: SchemaFault | undefined
  for (const error of errors) {
    // The failed branch of an `if` has errors of its own.
    if (error.keyword === 'if') continue
    const fault = toSchemaFault(error)
    const key = `${fault.pointer} ${fault.message}`
    if (faults.size < FAULT_LIMIT) faults.set(key, fault)
    else if (!faults.has(key)) {
      left++
      if (fault.ofAlternatives) unmatched = fault
      else place = place === undefined ? fault.pointer : sharedPointer(place, fault.pointer)
    }
  }
  const all = [...faults.values()]
  const rest = { message: `there are ${left} more faults`, custom: true }
  if (place !== undefined) all.push({ pointer: place, ...rest })
  else if (unmatched !== undefined) all.push({ pointer: unmatched.pointer, ...rest, ofAlternatives: true })
  return all
}

/** Names come from the sender, messages from the author; both may be as long as the message or the document. */
function toSchemaFault(error: ErrorObject): SchemaFault {
  if (error.keyword === 'errorMessage') return customFault(error)
  const fault = {
    pointer: toPointer(error),
    message: shown(formatMessage(error)),
    custom: false,
    issue: toIssueType(error),
  }
  return isAlternative(error) ? { ...fault, ofAlternatives: true } : fault
}

/** Where several of `oneOf` match, no alternative has a fault. */
function isAlternative({ keyword, params }: ErrorObject): boolean {
  return keyword === 'anyOf' || (keyword === 'oneOf' && params.passingSchemas === null)
}

/** Where all errors are that a custom message replaces. */
function customFault(error: ErrorObject): SchemaFault {
  const replaced = (error.params as { errors?: ErrorObject[] }).errors ?? []
  const causes = replaced.filter((one) => !isAlternative(one))
  const reported = causes.length === 0 ? replaced : causes
  const pointer = reported.length === 0 ? shown(error.instancePath) : reported.map(toPointer).reduce(sharedPointer)
  const [issue = 'invariant', ...others] = new Set(replaced.map(toIssueType))
  const message = shown(error.message ?? 'is not valid')
  return { pointer, message, custom: true, issue: others.length === 0 ? issue : 'invariant' }
}

/** The longest pointer to a value that contains what both point to. */
function sharedPointer(one: string, other: string): string {
  const names = one.split('/')
  const others = other.split('/')
  const differs = names.findIndex((name, at) => name !== others[at])
  return differs < 0 ? one : names.slice(0, differs).join('/')
}

/** Keywords about one value by itself. Any other but `required` is a rule between values, or a combination of schemas. */
const OF_ONE_VALUE: ReadonlySet<string> = new Set([
  'type',
  'enum',
  'const',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
])

function toIssueType({ keyword }: ErrorObject): NonNullable<SchemaFault['issue']> {
  if (keyword === 'required' || keyword === EMPTY_NAME) return 'required'
  return OF_ONE_VALUE.has(keyword) ? 'value' : 'invariant'
}

/** Ajv reports errors about a field at its object. */
function toPointer({ instancePath, params }: ErrorObject): string {
  const { missingProperty, additionalProperty, unevaluatedProperty } = params
  const field = missingProperty ?? additionalProperty ?? unevaluatedProperty
  const place = shown(instancePath)
  return typeof field === 'string' ? pointerTo(place, field) : place
}

function formatMessage(error: ErrorObject): string {
  return MESSAGES[error.keyword]?.(error.params, error.data) ?? error.message ?? 'is not valid'
}

type Params = Readonly<Record<string, unknown>>

const count = (limit: unknown, what: string) => `${limit} ${what}${limit === 1 ? '' : 's'}`
const fields = (limit: unknown) => count(limit, 'field')

const COMPARISONS: Readonly<Record<string, string>> = {
  '>=': 'must be at least',
  '<=': 'must be at most',
  '>': 'must be more than',
  '<': 'must be less than',
}
const compared = ({ comparison, limit }: Params) => `${COMPARISONS[String(comparison)]} ${limit}`

const dependent = ({ missingProperty, property }: Params) =>
  missingProperty === undefined ? undefined : `is required where ${JSON.stringify(property)} is given`

const tooMany = ({ limit, len }: Params) => `must have at most ${count(limit ?? len, 'item')}`

const unknownField = () => 'is not a field of this schema'

const MESSAGES: Readonly<Record<string, (params: Params, data: unknown) => string | undefined>> = {
  required: () => 'is required',
  [EMPTY_NAME]: () => 'is required',
  dependencies: dependent,
  dependentRequired: dependent,
  additionalProperties: unknownField,
  unevaluatedProperties: unknownField,
  type: ({ type }, data) => `must be ${alternatives(type)}, not ${withArticle(typeName(data))}`,
  enum: ({ allowedValues }) => `must be one of ${values(allowedValues)}`,
  const: ({ allowedValue }) => `must be ${short(allowedValue)}`,
  minimum: compared,
  maximum: compared,
  exclusiveMinimum: compared,
  exclusiveMaximum: compared,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${multipleOf}`,
  minLength: ({ limit }) => `must have at least ${count(limit, 'character')}`,
  maxLength: ({ limit }) => `must have at most ${count(limit, 'character')}`,
  minItems: ({ limit }) => `must have at least ${count(limit, 'item')}`,
  maxItems: ({ limit }) => `must have at most ${count(limit, 'item')}`,
  items: tooMany,
  additionalItems: tooMany,
  unevaluatedItems: tooMany,
  minProperties: ({ limit }) => `must have at least ${fields(limit)}`,
  maxProperties: ({ limit }) => `must have at most ${fields(limit)}`,
  uniqueItems: ({ i, j }) => `must not have the same item twice (items ${j} and ${i})`,
  pattern: ({ pattern }) => `must match the pattern ${short(pattern)}`,
  format: ({ format }) => `must be a valid ${format}`,
  propertyNames: ({ propertyName }) => `has a field with a name that is not allowed, ${short(propertyName)}`,
  contains: ({ minContains, maxContains }) =>
    `must have ${maxContains === undefined ? `at least ${minContains}` : `${minContains} to ${maxContains}`} matching items`,
  anyOf: () => 'must match at least one of the alternatives',
  oneOf: ({ passingSchemas }) =>
    passingSchemas === null ? 'must match one of the alternatives' : 'must match one of the alternatives only',
  not: () => 'must not match what the schema excludes',
  'false schema': () => 'is not allowed',
}

const withArticle = (type: string) =>
  /^(null|nothing)$/.test(type) ? type : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`

function alternatives(type: unknown): string {
  const names = (Array.isArray(type) ? type : [type]).map((name) => withArticle(String(name)))
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
}

function values(allowed: unknown): string {
  const all = Array.isArray(allowed) ? allowed : []
  return all.length > 10
    ? `${all.slice(0, 10).map(short).join(', ')} and ${all.length - 10} more`
    : all.map(short).join(', ')
}

function short(value: unknown): string {
  const text = JSON.stringify(typeof value === 'string' ? shown(value) : value) ?? 'nothing'
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}

type Segments = readonly (string | number)[]

/** The parts of the schema that Ajv names in its errors. */
type Parts = Readonly<{
  /** By the object that Ajv compiled; `schema` is the one of the document. */
  schemas: Map<unknown, Readonly<{ segments: Segments; schema: JsonObject }>>
  falses: Segments[]
  hasReferences: boolean
}>

/** Paths are keys of groups. A path that would be longer names the deepest part that fits. */
const MAX_PATH = 1_000

/**
 * In: the schema of a document, and as `readSchema` rewrote it for Ajv. Out: of the errors of a validation that stopped at
 * its first fault, the path of the keyword in the schema, for example `properties.age.minimum` or `required[1]`; '' if it
 * is not known. The schema is searched when the first message fails.
 */
export function createFindPath(schema: JsonObject, written: Json): (errors: readonly ErrorObject[]) => string {
  let parts: Parts | undefined
  return (errors) => {
    // The last error is the keyword around the failed alternatives. That of an `if` follows the fault in its branch.
    const error = errors.findLast(({ keyword }) => keyword !== 'if')
    if (error === undefined) return ''
    parts ??= collectParts(schema, written)
    return shortPath(findSegments(error, parts))
  }
}

function collectParts(schema: JsonObject, written: Json): Parts {
  const schemas: Parts['schemas'] = new Map()
  const falses: Segments[] = []
  let hasReferences = false
  const visit = (at: Json, own: Json | undefined, segments: Segments): void => {
    if (at === false && own === false) falses.push(segments)
    else if (Array.isArray(at) && Array.isArray(own)) {
      for (const [index, item] of (at as readonly Json[]).entries()) visit(item, own[index], [...segments, index])
    } else if (isObject(at) && isObject(own)) {
      schemas.set(at, { segments, schema: own })
      hasReferences ||= '$ref' in at || '$dynamicRef' in at
      for (const [name, item] of Object.entries(at)) {
        visit(item, Object.hasOwn(own, name) ? own[name] : undefined, [...segments, name])
      }
    }
  }
  visit(written, schema, [])
  return { schemas, falses, hasReferences }
}

function findSegments(error: ErrorObject, parts: Parts): Segments {
  if (error.keyword === 'false schema') return falseAt(error.schemaPath, parts)
  const at = parts.schemas.get(error.parentSchema)
  return at === undefined ? [] : [...at.segments, ...keywordSegments(error, at.schema)]
}

/** Ajv names a false schema from the nearest reference on, so several may fit. */
function falseAt(schemaPath: string, { falses, hasReferences }: Parts): Segments {
  const names = pointerNames(schemaPath.slice(schemaPath.indexOf('#') + 1)).slice(0, -1)
  const fits = falses.filter(
    (segments) =>
      segments.length >= names.length &&
      names.every((name, index) => name === String(segments.at(index - names.length))),
  )
  const [only, ...others] = hasReferences ? fits : fits.filter(({ length }) => length === names.length)
  return only === undefined || others.length > 0 ? [] : only
}

/** From the schema on; empty if the keyword is one that only the rewritten schema has. */
function keywordSegments({ keyword, params }: ErrorObject, schema: JsonObject): Segments {
  const { property, missingProperty } = params as Readonly<Record<string, string>>
  switch (keyword) {
    case 'required':
    case EMPTY_NAME:
      return withIndex(['required'], schema.required, missingProperty)
    case 'dependencies':
    case 'dependentRequired': {
      const names = schema[keyword]
      return isObject(names) && property !== undefined
        ? withIndex([keyword, property], names[property], missingProperty)
        : [keyword]
    }
    default: {
      const name = [keyword, ...otherNames(keyword)].find((one) => Object.hasOwn(schema, one))
      return name === undefined ? [] : [name]
    }
  }
}

function withIndex(segments: Segments, names: Json | undefined, name: string | undefined): Segments {
  const index = Array.isArray(names) && name !== undefined ? names.indexOf(name) : -1
  return index === -1 ? segments : [...segments, index]
}

/** The keywords that `rewriteSchema` replaces by this one. */
function otherNames(keyword: string): readonly string[] {
  if (keyword === 'enum') return ['const']
  return Object.keys(OTHER_NAMES).filter((name) => OTHER_NAMES[name] === keyword)
}

function shortPath(segments: Segments): string {
  let path = ''
  for (const segment of segments) {
    const longer = documentPath(path, segment)
    if (longer.length > MAX_PATH) return path
    path = longer
  }
  return path
}
