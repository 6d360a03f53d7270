/** The functions that a mapping entry can name; docs/mapping.md says what each does. */
import { isObject, type Json, type JsonObject, typeName } from '../../domain/json.ts'
import type { LintSink } from '../../domain/lint.ts'
import { nearest } from '../../domain/nearest.ts'
import { isArray } from '../paths/path-read.ts'

/** In: the value at a path, undefined for none. Out: the value to write; undefined or null to write nothing. */
export type Convert = (value: Json | undefined) => Json | undefined

/** How a value gets into the output; see `compileWrite`. */
export type Placement = 'spread' | 'all' | 'concat' | 'root'

export type MappingFunction = Readonly<{
  convert: Convert | undefined
  /** The same for an array that is spread over the elements of the target. */
  convertEach: Convert | undefined
  placement: Placement
  /** JSON Schema of what it gives for a value that is no array; undefined if that is the value. */
  gives: JsonObject | undefined
}>

type FunctionSpec = Readonly<{
  /** One sentence for people who write a mapping. */
  means: string
  /** The types of JSON that it converts; any other value gives nothing. */
  takes: string
  /** By default `spread`. */
  placement?: Placement
  /** By default, arrays are converted element by element, at any depth. */
  takesWholeArrays?: true
  needsParameters?: true
  compile?: (parameters: JsonObject) => Convert
  /** JSON Schema of its results; by default a result is the value itself. */
  gives?: (parameters: JsonObject) => JsonObject
}>

const always = (schema: JsonObject) => () => schema

export const FUNCTIONS = {
  booleanFlip: {
    means: 'The opposite of a boolean.',
    takes: 'boolean',
    gives: always({ type: 'boolean' }),
    compile: () => (value) => (typeof value === 'boolean' ? !value : undefined),
  },
  booleanify: {
    means: 'False for 0, an empty text and the texts "false" and "0"; true for any other value.',
    takes: 'any',
    gives: always({ type: 'boolean' }),
    compile: () => booleanify,
  },
  numberify: {
    means: 'The number that a text holds; 1 or 0 for a boolean.',
    takes: 'string, number or boolean',
    gives: always({ type: 'number' }),
    compile: () => numberify,
  },
  stringify: {
    means: 'A text as it is, any other value as JSON; an array becomes one text.',
    takes: 'any',
    gives: always({ type: 'string' }),
    compile: () => stringify,
    takesWholeArrays: true,
  },
  dateTimeToDate: {
    means: 'The date of a date and time as written; a number is milliseconds since 1970 in UTC.',
    takes: 'string or number',
    gives: always({ type: 'string', pattern: '^[0-9]{4}(?:-[0-9]{2}){0,2}$' }),
    compile: () => dateTimeToDate,
  },
  mapCodes: {
    means:
      'The value that the parameters have for a code; "default" for an unknown code, "null" for a missing or null value.',
    takes: 'string, number or boolean',
    gives: (codes) => ({ enum: [...new Set(Object.values(codes))].filter((value) => value !== null) }),
    compile: mapCodes,
    needsParameters: true,
  },
  appendArray: {
    means: 'Appends each element of an array, or a single value, to the array at the target.',
    takes: 'any',
    placement: 'concat',
  },
  oneToAllElements: {
    means: 'Writes one value into every element that earlier entries made, at every [] before a name.',
    takes: 'any',
    placement: 'all',
  },
  passThroughObject: {
    means: 'Writes every field of an object into the output itself; the key is ignored.',
    takes: 'object',
    placement: 'root',
  },
} as const satisfies Record<string, FunctionSpec>

/** Levels of arrays that are converted element by element; deeper ones convert to nothing, to spare the stack. */
const NESTING_MAX = 256

/**
 * In: the function's name and its parameters as the document has them. Out: undefined if the lint has an error.
 *
 * Lints: an unknown name (with the nearest known one), parameters that are missing or of the wrong type. Warns of
 * parameters that the function does not read.
 */
export function compileFunction(
  name: string,
  parameters: Json | undefined,
  lint: LintSink,
): MappingFunction | undefined {
  if (!isFunctionName(name)) {
    lint
      .at('function')
      .error(`There is no function "${name}"; ${nearestOrAll(name, 'functions', Object.keys(FUNCTIONS))}`)
    return undefined
  }
  const spec: FunctionSpec = FUNCTIONS[name]
  if (!checkParameters(name, spec, parameters, lint.at('parameters'))) return undefined
  const { placement = 'spread', takesWholeArrays, compile } = spec
  const given = isObject(parameters) ? parameters : {}
  const convert = compile?.(given)
  const gives = spec.gives?.(given)
  if (convert === undefined) return { convert, convertEach: convert, placement, gives }
  if (takesWholeArrays) return { convert, convertEach: overElements(convert, 1, convert), placement, gives }
  const each = overElements(convert, NESTING_MAX, () => undefined)
  return { convert: each, convertEach: each, placement, gives }
}

const isFunctionName = (name: string): name is keyof typeof FUNCTIONS => Object.hasOwn(FUNCTIONS, name)

/** The end of a sentence about an unknown name. */
export function nearestOrAll(name: string, plural: string, known: readonly string[]): string {
  const near = nearest(name, known)
  return near === undefined ? `the ${plural} are ${known.join(', ')}.` : `did you mean "${near}"?`
}

function checkParameters(name: string, spec: FunctionSpec, parameters: Json | undefined, lint: LintSink): boolean {
  const given = parameters !== undefined && parameters !== null
  if (given && !isObject(parameters)) {
    lint.error(`The parameters of ${name} are an object, not ${typeName(parameters)}.`)
    return false
  }
  const count = given ? Object.keys(parameters).length : 0
  if (spec.needsParameters && count === 0) {
    lint.error(`The function ${name} needs parameters: an object of codes and their values, such as { "F": "female" }.`)
    return false
  }
  if (!spec.needsParameters && count > 0) lint.warning(`The function ${name} reads no parameters; remove them.`)
  return true
}

/** Converts arrays element by element down to `depth` levels, and arrays below by `deeper`. Null stands for nothing. */
function overElements(convert: Convert, depth: number, deeper: Convert): Convert {
  const at = (value: Json | undefined, left: number): Json | undefined => {
    if (!isArray(value)) return convert(value)
    if (left === 0) return deeper(value)
    return value.map((element) => at(element, left - 1) ?? null)
  }
  return (value) => at(value, depth)
}

function booleanify(value: Json | undefined): boolean | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') return Boolean(value)
  const text = value.trim().toLowerCase()
  return text !== '' && text !== 'false' && text !== '0'
}

function numberify(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  const number = Number(text)
  // Number() also reads "", "Infinity" and "0x1F".
  return text === '' || !Number.isFinite(number) || hasRadix(text) ? undefined : number
}

const hasRadix = (text: string): boolean => text.startsWith('0') && 'xXoObB'.includes(text.charAt(1) || ' ')

function stringify(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value)
  } catch {
    // The text is longer than V8 allows, or the nesting deeper than its stack.
    return undefined
  }
}

/** Lengths of `YYYY`, `YYYY-MM` and `YYYY-MM-DD`, each a date: https://hl7.org/fhir/R4/datatypes.html#dateTime */
const DATE_LENGTHS: readonly number[] = [4, 7, 10]

/** Dates that exist in every month need no Date, which takes longer than mapping ten fields. */
const DAY_OF_EVERY_MONTH =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?$/

function dateTimeToDate(value: Json | undefined): string | undefined {
  if (typeof value === 'number') return isoDate(value)
  if (typeof value !== 'string') return undefined
  if (DAY_OF_EVERY_MONTH.test(value)) return value.slice(0, 10)
  const text = value.trim()
  const date = text.slice(0, 10)
  if (text.length > 10 && (!'Tt '.includes(text.charAt(10)) || Number.isNaN(Date.parse(text)))) return undefined
  if (!DATE_LENGTHS.includes(date.length)) return undefined
  // Date.parse also takes other forms and days such as 30 February; for those, the text changes on its way.
  return isoDate(Date.parse(date))?.startsWith(date) ? date : undefined
}

/** `YYYY-MM-DD` in UTC of milliseconds since 1970; undefined outside the years 0 to 9999. */
function isoDate(timeMs: number): string | undefined {
  const date = new Date(timeMs)
  if (Number.isNaN(date.getTime())) return undefined
  const text = date.toISOString()
  return text.startsWith('+') || text.startsWith('-') ? undefined : text.slice(0, 10)
}

function mapCodes(parameters: JsonObject): Convert {
  const codes = new Map(Object.entries(parameters))
  const unknown = codes.get('default')
  const missing = codes.has('null') ? codes.get('null') : unknown
  return (value) => {
    if (value === undefined || value === null) return missing
    const code = typeof value === 'object' ? undefined : String(value)
    return code !== undefined && codes.has(code) ? codes.get(code) : unknown
  }
}
