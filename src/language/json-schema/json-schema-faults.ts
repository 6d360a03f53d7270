/** The errors of Ajv as sentences for the people who send messages. */
import type { ErrorObject } from 'ajv'
import { typeName } from '../../core/json.ts'
import { pointerTo, shown } from '../../core/lint.ts'
import { EMPTY_NAME } from './json-schema-empty-name.ts'

export type SchemaFault = Readonly<{
  /** JSON Pointer (RFC 6901) into the data. */
  pointer: string
  /** Continues the pointer, or is a whole sentence if `custom`. */
  message: string
  /** Whether the message is from `errorMessage`, or about the message as a whole. */
  custom: boolean
  /** A missing field, a wrong value, or a broken rule between values; undefined if the fault is about the message as a whole. */
  issue?: 'required' | 'value' | 'invariant'
  /** Whether it only says that no alternative matches: the faults of the alternatives say why. */
  ofAlternatives?: true
}>

const FAULT_LIMIT = 100

/** The faults of these errors without repeats: at most FAULT_LIMIT, and a last one with the number of the others, where all of these are. */
export function faultsOf(errors: readonly ErrorObject[]): SchemaFault[] {
  const faults = new Map<string, SchemaFault>()
  let left = 0
  let place: string | undefined
  let unmatched: SchemaFault | undefined
  for (const error of errors) {
    // The failed branch of an `if` has errors of its own.
    if (error.keyword === 'if') continue
    const fault = faultOf(error)
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
function faultOf(error: ErrorObject): SchemaFault {
  if (error.keyword === 'errorMessage') return customFault(error)
  const fault = { pointer: pointerOf(error), message: shown(messageOf(error)), custom: false, issue: issueOf(error) }
  return isOfAlternatives(error) ? { ...fault, ofAlternatives: true } : fault
}

/** Where several of `oneOf` match, no alternative has a fault. */
function isOfAlternatives({ keyword, params }: ErrorObject): boolean {
  return keyword === 'anyOf' || (keyword === 'oneOf' && params.passingSchemas === null)
}

/** Where all errors are that a custom message replaces. */
function customFault(error: ErrorObject): SchemaFault {
  const replaced = (error.params as { errors?: ErrorObject[] }).errors ?? []
  const causes = replaced.filter((one) => !isOfAlternatives(one))
  const placed = causes.length === 0 ? replaced : causes
  const pointer = placed.length === 0 ? shown(error.instancePath) : placed.map(pointerOf).reduce(sharedPointer)
  const [issue = 'invariant', ...others] = new Set(replaced.map(issueOf))
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

function issueOf({ keyword }: ErrorObject): NonNullable<SchemaFault['issue']> {
  if (keyword === 'required' || keyword === EMPTY_NAME) return 'required'
  return OF_ONE_VALUE.has(keyword) ? 'value' : 'invariant'
}

/** Ajv reports errors about a field at its object. */
function pointerOf({ instancePath, params }: ErrorObject): string {
  const { missingProperty, additionalProperty, unevaluatedProperty } = params
  const field = missingProperty ?? additionalProperty ?? unevaluatedProperty
  const place = shown(instancePath)
  return typeof field === 'string' ? pointerTo(place, field) : place
}

function messageOf(error: ErrorObject): string {
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
