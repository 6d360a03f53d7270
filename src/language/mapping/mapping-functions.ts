/**
 * The functions that a mapping entry can name: one table, so that what exists, what it does and what the guide says
 * about it cannot drift apart.
 */
import { isObject, type Json, type JsonObject, typeName } from '../../domain/json.ts'
import type { LintSink } from '../../domain/lint.ts'
import { nearest } from '../../domain/nearest.ts'
import { isArray } from '../paths/path-read.ts'

/** From the value that a path found (undefined: none) to the one to write; undefined or null: nothing to write. */
export type Convert = (value: Json | undefined) => Json | undefined

/** How a value gets into the output; see `compileWrite`. */
export type Placement = 'spread' | 'all' | 'concat' | 'root'

export type MappingFunction = Readonly<{
  convert: Convert | undefined
  /** The same for a value that is spread over the elements of the target, one each. */
  convertEach: Convert | undefined
  placement: Placement
}>

type FunctionSpec = Readonly<{
  /** One sentence for the user's guide. */
  means: string
  placement: Placement
  /** `element`: an array is converted element by element; `value`: as it is, unless the target spreads it. */
  scope: 'element' | 'value'
  parameters: 'none' | 'required'
  compile?: (parameters: JsonObject) => Convert
}>

export const FUNCTIONS = {
  booleanFlip: {
    means: 'Turns true to false and false to true; any other value gives nothing.',
    placement: 'spread',
    scope: 'element',
    parameters: 'none',
    compile: () => (value) => (typeof value === 'boolean' ? !value : undefined),
  },
  booleanify: {
    means:
      'Makes a boolean: false from `0`, `""` and the texts `false` and `0` in any case, true from every other value; null gives nothing.',
    placement: 'spread',
    scope: 'element',
    parameters: 'none',
    compile: () => booleanify,
  },
  numberify: {
    means:
      'Makes a number from decimal text (`"12"`, `" -1.5e3 "`), 1 from true and 0 from false; what is no number gives nothing.',
    placement: 'spread',
    scope: 'element',
    parameters: 'none',
    compile: () => numberify,
  },
  stringify: {
    means:
      'Makes text: numbers and booleans as JSON writes them, objects and arrays as JSON text (each element by itself where the target has `[]` before a name); null gives nothing.',
    placement: 'spread',
    scope: 'value',
    parameters: 'none',
    compile: () => stringify,
  },
  dateTimeToDate: {
    means:
      'Cuts a date and time to its date as written, without change of time zone (`2024-03-01T23:00:00-05:00` gives `2024-03-01`; a number is milliseconds since 1970 in UTC); what is no valid date gives nothing.',
    placement: 'spread',
    scope: 'element',
    parameters: 'none',
    compile: () => dateTimeToDate,
  },
  mapCodes: {
    means:
      'Looks the value up in its parameters; parameter `default` is for unknown codes, `null` (else `default`) for null and missing values; an unknown code without `default` gives nothing.',
    placement: 'spread',
    scope: 'element',
    parameters: 'required',
    compile: mapCodes,
  },
  appendArray: {
    means: 'Appends each element of an array (or a single value) to the array at the target.',
    placement: 'concat',
    scope: 'value',
    parameters: 'none',
  },
  oneToAllElements: {
    means:
      'Writes the value into every element that earlier entries made, at every `[]` of the target before a name; no element, nothing written.',
    placement: 'all',
    scope: 'value',
    parameters: 'none',
  },
  passThroughObject: {
    means:
      'Writes every field of an object into the output itself, whatever the target; a value that is no object gives nothing.',
    placement: 'root',
    scope: 'value',
    parameters: 'none',
  },
} as const satisfies Record<string, FunctionSpec>

/** Arrays within arrays that are converted element by element; deeper ones give nothing, instead of a full stack. */
const NESTING_MAX = 256

/**
 * The function of that name, made ready with its parameters.
 *
 * Lints: a name that does not exist (with the nearest one), parameters missing or of the wrong type; undefined then.
 * Warns of parameters that the function does not read.
 */
export function compileFunction(
  name: string,
  parameters: Json | undefined,
  lint: LintSink,
): MappingFunction | undefined {
  if (!isFunctionName(name)) {
    const names = Object.keys(FUNCTIONS)
    const near = nearest(name, names)
    const hint = near === undefined ? `the functions are ${names.join(', ')}` : `did you mean "${near}"?`
    lint.at('function').error(`There is no function "${name}"; ${hint}${near === undefined ? '.' : ''}`)
    return undefined
  }
  const spec: FunctionSpec = FUNCTIONS[name]
  if (!checkParameters(name, spec, parameters, lint.at('parameters'))) return undefined
  const convert = spec.compile?.(isObject(parameters) ? parameters : {})
  if (convert === undefined) return { convert, convertEach: convert, placement: spec.placement }
  if (spec.scope === 'value')
    return { convert, convertEach: overElements(convert, 1, convert), placement: spec.placement }
  const each = overElements(convert, NESTING_MAX, () => undefined)
  return { convert: each, convertEach: each, placement: spec.placement }
}

const isFunctionName = (name: string): name is keyof typeof FUNCTIONS => Object.hasOwn(FUNCTIONS, name)

function checkParameters(name: string, spec: FunctionSpec, parameters: Json | undefined, lint: LintSink): boolean {
  const given = parameters !== undefined && parameters !== null
  if (given && !isObject(parameters)) {
    lint.error(`The parameters of ${name} are an object, not ${typeName(parameters)}.`)
    return false
  }
  const count = given ? Object.keys(parameters).length : 0
  if (spec.parameters === 'required' && count === 0) {
    lint.error(`The function ${name} needs parameters: an object of codes and their values, such as { "F": "female" }.`)
    return false
  }
  if (spec.parameters === 'none' && count > 0) lint.warning(`The function ${name} reads no parameters; remove them.`)
  return true
}

/** Converts arrays element by element, `depth` arrays deep, `deeper` ones whole; null stands where an element gives nothing. */
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
  // Number() also reads "", "Infinity" and "0x1F", which are no decimal numbers.
  return text === '' || !Number.isFinite(number) || hasRadix(text) ? undefined : number
}

const hasRadix = (text: string): boolean => text.startsWith('0') && 'xXoObB'.includes(text.charAt(1) || ' ')

function stringify(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value)
  } catch {
    // Text longer than the engine can hold, or nesting beyond its stack: neither can be written as text.
    return undefined
  }
}

/** Lengths of `YYYY`, `YYYY-MM` and `YYYY-MM-DD`, each a date: https://hl7.org/fhir/R4/datatypes.html#dateTime */
const DATE_LENGTHS: readonly number[] = [4, 7, 10]

/** Dates and times that need no calendar: asking one takes longer than mapping ten fields. */
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
  // Date.parse takes other forms and days such as 30 February too: only what comes back unchanged was a date.
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
