/** The functions that a mapping entry can name; docs/mapping.md says what each does. */
import { isObject, type Json, type JsonObject, typeName } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import { nearest } from '../../core/nearest.ts'
import { isArray } from '../paths/path-read.ts'
import {
  type Convert,
  checkTableParameters,
  compileTable,
  describeTableResult,
  type FunctionParameter,
  type MappingTables,
  TABLE_PARAMETERS,
} from './table-function.ts'

export type { Convert, MappingTables } from './table-function.ts'

/** How a value gets into the output; see `compileWrite`. */
export type Placement = 'spread' | 'all' | 'concat' | 'root'

export type MappingFunction = Readonly<{
  name: string
  convert: Convert | undefined
  /** What else than a default lets a message through whose value cannot be converted. */
  remedy: string
  placement: Placement
  /** JSON Schema of what it gives for a value that isn't an array; undefined if that is the value. */
  gives: JsonObject | undefined
}>

type FunctionSpec = Readonly<{
  /** One sentence for people who write a mapping. */
  means: string
  /** The types of JSON that it converts. */
  takes: string
  /** By default `spread`. */
  placement?: Placement
  /** By default, arrays are converted element by element, at any depth. */
  takesWholeArrays?: true
  needsParameters?: true
  /** By default, none. */
  parameters?: readonly FunctionParameter[]
  /** By default, any names and values. Lints what is wrong. Out: whether they are sound. */
  check?: (parameters: JsonObject, lint: LintSink) => boolean
  /** By default, a transform. */
  remedy?: string
  compile?: (parameters: JsonObject, tables: MappingTables, path: string) => Convert
  /** JSON Schema of its results; by default a result is the value itself. */
  gives?: (parameters: JsonObject) => JsonObject
}>

const always = (schema: JsonObject) => () => schema

export const FUNCTIONS = {
  booleanFlip: {
    means: 'The opposite of a boolean; nothing for any other value.',
    takes: 'any',
    gives: always({ type: 'boolean' }),
    compile: () => booleanFlip,
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
    means: 'Text unchanged, any other value as JSON; an array becomes one text.',
    takes: 'any',
    gives: always({ type: 'string' }),
    compile: () => stringify,
    takesWholeArrays: true,
  },
  dateTimeToDate: {
    means: 'The text before the "T" of a date and time; a number is milliseconds since 1970 in UTC.',
    takes: 'string or number',
    gives: always({ type: 'string' }),
    compile: () => dateTimeToDate,
  },
  mapCodes: {
    means:
      'The value that the parameters have for a code; "default" for an unknown code, "null" for a missing or null value.',
    takes: 'string, number or boolean',
    gives: (codes) => ({ enum: [...new Set(Object.values(codes))].filter((value) => value !== null) }),
    compile: mapCodes,
    remedy: 'Add the code, or "default", to its parameters',
    needsParameters: true,
    parameters: [
      {
        name: '<code>',
        kind: 'json',
        means: 'What is written for this code; "default" is any other code, "null" a missing value.',
        isRequired: true,
      },
    ],
  },
  table: {
    means: 'What a table has for a code; an unknown code fails the message, is kept, or gets a value ("missing").',
    takes: 'string, number or boolean',
    gives: describeTableResult,
    check: checkTableParameters,
    compile: compileTable,
    remedy: 'Read the field of it that has the code, a text, number or boolean',
    needsParameters: true,
    parameters: TABLE_PARAMETERS,
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
    compile: () => asObject,
    takesWholeArrays: true,
  },
} as const satisfies Record<string, FunctionSpec>

/** Levels of arrays that are converted element by element; deeper ones cannot be converted, to spare the stack. */
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
  tables: MappingTables = NO_TABLES,
): MappingFunction | undefined {
  if (!isFunctionName(name)) {
    lint
      .at('function')
      .error(`There is no function "${name}"; ${nearestOrAll(name, 'functions', Object.keys(FUNCTIONS))}`)
    return undefined
  }
  const spec: FunctionSpec = FUNCTIONS[name]
  if (!checkParameters(name, spec, parameters, lint.at('parameters'))) return undefined
  const { placement = 'spread', remedy = 'Convert the value in inputTransforms', takesWholeArrays, compile } = spec
  const given = isObject(parameters) ? parameters : {}
  if (spec.check?.(given, lint.at('parameters')) === false) return undefined
  const compiled = compile?.(given, tables, lint.path)
  const convert = compiled === undefined || takesWholeArrays ? compiled : overLists(compiled)
  return { name, convert, remedy, placement, gives: spec.gives?.(given) }
}

const NO_TABLES: MappingTables = {
  reader: () => ({ tables: new Map(), trace: { tableReads: undefined } }),
  miss: () => undefined,
}
const EXAMPLE_CODES = 'an object of codes and their values, such as { "F": "female" }'

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
    const example = name === 'table' ? 'the name of a table, such as { "table": "sex" }' : EXAMPLE_CODES
    lint.error(`The function ${name} needs parameters: ${example}.`)
    return false
  }
  if (!spec.needsParameters && count > 0) lint.warning(`The function ${name} reads no parameters; remove them.`)
  return true
}

/** Converts arrays element by element, where all elements can be. Null means nothing. */
function overLists(convert: Convert): Convert {
  const at = (value: Json | undefined, left: number, context: unknown): Json | undefined => {
    if (!isArray(value)) return convert(value, context)
    if (left === 0) return undefined
    const converted = new Array<Json>(value.length)
    for (let index = 0; index < value.length; index++) {
      const element = value[index] ?? null
      const result = at(element, left - 1, context)
      if (result === undefined && element !== null) return undefined
      converted[index] = result ?? null
    }
    return converted
  }
  return (value, context) => at(value, NESTING_MAX, context)
}

/**
 * Of an array that is spread over the elements of a target, each element alone. `otherwise`: for one that cannot be
 * converted.
 */
export function convertEach(convert: Convert, otherwise: (element: Json) => Json | undefined): Convert {
  return (value, context) => {
    if (!isArray(value)) return convert(value, context)
    const converted = new Array<Json>(value.length)
    for (let at = 0; at < value.length; at++) {
      const element = value[at] ?? null
      const result = convert(element, context)
      converted[at] = (result === undefined && element !== null ? otherwise(element) : result) ?? null
    }
    return converted
  }
}

function booleanFlip(value: Json | undefined): boolean | null | undefined {
  if (typeof value === 'boolean') return !value
  return value === undefined ? undefined : null
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

function dateTimeToDate(value: Json | undefined): string | undefined {
  if (typeof value === 'number') return isoDate(value)
  if (typeof value !== 'string') return undefined
  const end = value.indexOf('T')
  return end === -1 ? value : value.slice(0, end)
}

/** `YYYY-MM-DD` in UTC of milliseconds since 1970; undefined outside the years 0 to 9999. */
function isoDate(timeMs: number): string | undefined {
  const date = new Date(timeMs)
  if (Number.isNaN(date.getTime())) return undefined
  const text = date.toISOString()
  return text.startsWith('+') || text.startsWith('-') ? undefined : text.slice(0, 10)
}

/** Some systems write an object without fields as an empty array, and XML as an empty text. */
function asObject(value: Json | undefined): Json | undefined {
  if (value === '' || (isArray(value) && value.length === 0)) return null
  return isObject(value) ? value : undefined
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
