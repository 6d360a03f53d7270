/**
 * Ajv with every cost bounded. Nothing can interrupt the synchronous code that Ajv generates, so that code itself counts;
 * keywords and formats of Ajv whose time or memory cannot be bounded are replaced.
 */
import { domainToASCII } from 'node:url'
import { _, Ajv, type AnySchemaObject, type ErrorObject, type KeywordCxt, type Options } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import contains from 'ajv/dist/vocabularies/applicator/contains.js'
import addFormats from 'ajv-formats'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { pointerName } from '../../core/lint.ts'
import { toEqualityKey } from '../jsonata/expression-functions.ts'
import { compilePattern } from '../re2-pattern.ts'

export type Draft = 'draft-07' | '2020-12'

/** The code that `counting` returns reads a Work from this property of the Ajv instance. */
const METER = 'crosswalkMeter'

/** Each compiled schema has its own instance: an instance keeps every schema that it compiles. */
export function openAjv(draft: Draft, options: Options, work: Work): Ajv {
  const common: Options = {
    ...options,
    strict: false,
    // `rewriteSchema` has checked the schema, with better sentences.
    validateSchema: false,
    logger: false,
    code: {
      regExp: Object.assign(linearRegExp(work), { code: 'linearRegExp' }),
      lines: true,
      // Few messages have their faults listed, so that counting may cost more there.
      process: (code) => counting(code, options.allErrors === true),
    },
  }
  const ajv = draft === '2020-12' ? new Ajv2020(common) : new Ajv(common)
  Object.assign(ajv, { [METER]: work })
  addAllFormats(ajv, work)
  addLengths(ajv, work)
  addEquality(ajv, work, draft === '2020-12' ? 'prefixItems' : 'items')
  addEmptyName(ajv)
  return ajv
}

/** For one validation: a third of a second, or some seconds on a slow or busy machine. */
const UNIT_LIMIT = 300_000_000

/** Comparing items and listing faults take some twenty times as long as their units say: some milliseconds. */
const SLICE = 200_000

/** For one step that costs more than a slice, such as a pattern on a long text. */
const MS_PER_UNIT = 1e-6

/** References followed for one message: a schema may have two at each level, and messages sixty levels. */
const STEP_LIMIT = 200_000

/** Faults that one validation may gather, including those of alternatives that do not match. */
const GATHERED_LIMIT = 10_000
/** Of the places of all of them: each has the names around it, which the sender chooses. */
const CHARACTER_LIMIT = 8_000_000

const UNITS_PER_FAULT = 200
const SHORT_NAME = 64
const UNITS_PER_NAME_CHARACTER = 10

/** Ends a validation that exceeds its budget. */
export class TooMuchWork extends Error {
  override readonly name: string = 'TooMuchWork'
}

/** Stops a validation that took longer than its caller lets it. */
export class OutOfTime extends TooMuchWork {
  override readonly name = 'OutOfTime'
}

/**
 * The budget of the running validation, which generated code spends. Validating is synchronous, so only one runs at a time;
 * compiling a schema may spend some, too.
 */
export class Work {
  /** References that the validation may still follow. */
  private steps = STEP_LIMIT
  /** About the nanoseconds that statements, texts and faults may still take before the clock is read. */
  private units = UNIT_LIMIT
  /** Further units for the time after that. */
  private reserve = 0
  /** Characters of the places of faults that may still be gathered. */
  private characters = CHARACTER_LIMIT
  /** Milliseconds since the epoch; 0 for a validation that only its work bounds. */
  private stopAt = 0

  /** In: when to stop the next runs, in milliseconds since the epoch; 0 for never. */
  stopAfter(stopAt: number): void {
    this.stopAt = stopAt
  }

  startRun(): void {
    this.steps = STEP_LIMIT
    this.units = this.stopAt === 0 ? UNIT_LIMIT : SLICE
    this.reserve = UNIT_LIMIT - this.units
    this.characters = CHARACTER_LIMIT
  }

  spend(units: number): void {
    this.units -= units
    if (this.units < 0) this.takeSlice()
  }

  private takeSlice(): void {
    const missing = -this.units
    const slice = Math.min(this.reserve, SLICE + missing)
    this.reserve -= slice
    this.units += slice
    if (this.units < 0) throw new TooMuchWork()
    if (Date.now() + missing * MS_PER_UNIT >= this.stopAt) throw new OutOfTime()
  }

  step(): void {
    if (--this.steps < 0) throw new TooMuchWork()
  }

  giveUp(): never {
    throw new TooMuchWork()
  }

  /** Pays for a fault that is gathered. */
  fault({ instancePath }: Readonly<{ instancePath: string }>): void {
    this.spend(UNITS_PER_FAULT)
    this.characters -= instancePath.length
    if (this.characters < 0) throw new TooMuchWork()
  }

  /** A name of the message in the place of a fault: not longer than the place may be. */
  name(name: string): string {
    const written = pointerName(name)
    if (written.length > SHORT_NAME) this.spend(written.length * UNITS_PER_NAME_CHARACTER)
    return written
  }

  /** As the global JSON, but cuts a long text after QUOTED_LENGTH characters. */
  readonly JSON = {
    stringify: (value: unknown): string => {
      const text = writeShort(value, { left: QUOTED_LENGTH })
      this.spend(text?.length ?? 0)
      // Ajv concatenates the result of JSON.stringify, undefined too.
      return text ?? String(undefined)
    },
  }
}

/** Code with fewer statements need not count them: a message of 1 MiB takes at most a second. */
const SHORT_LINES = 1_000

const FIRST = /^vErrors = \[(err\d+)\];$/
const PUSH = /^vErrors\.push\((err\d+)\);$/
/** How Ajv writes a name of the message in the place of a fault. A text of the schema has no such quotes. */
const NAME = /([\w$]+)\.replace\(\/~\/g, "~0"\)\.replace\(\/\\\/\/g, "~1"\)/g
const CONCAT = 'errors = vErrors.length;'
const LOOP = /^for ?\(.*\)\{$/
const FUNCTION = /^return function validate\d+\(/

/**
 * Rewrites Ajv's code so that it stops after too many references or faults. Long code, and any code if `always`, also stops
 * after too many statements: each function and each iteration of a loop pays for its lines. Ajv writes one statement a line
 * and no line end within a text, so a whole line shows what it does.
 */
function counting(code: string, always: boolean): string {
  const lines = code.split('\n')
  const counts = always || lines.length > SHORT_LINES
  const prices = counts ? computePrices(lines) : new Map<number, number>()
  const payForFault = (error = '') => (always ? `meter.fault(${error});` : payFor(UNITS_PER_FAULT))
  const rewritten = lines.map((written, at) => {
    const line = written.replace(NAME, 'meter.name($1)')
    // Ajv makes a function of each schema that a reference leads to, and inlines all others.
    if (FUNCTION.test(line)) return `${line}meter.step();${payFor(prices.get(at))}`
    const price = prices.get(at)
    if (price !== undefined) return `${line}${payFor(price)}`
    const first = FIRST.exec(line)
    if (first !== null) return `${payForFault(first[1])}${line}`
    const pushed = PUSH.exec(line)
    if (pushed !== null) return `if(vErrors.length>=${GATHERED_LIMIT})meter.giveUp();${payForFault(pushed[1])}${line}`
    if (line === CONCAT) return `${line}if(errors>=${GATHERED_LIMIT})meter.giveUp();`
    return line
  })
  // An `errorMessage` may quote the data, which Ajv writes with `JSON.stringify`.
  return `const meter=self.${METER};const JSON=meter.JSON;${rewritten.join('\n')}`
}

const payFor = (price: number | undefined) => (price === undefined ? '' : `meter.spend(${price});`)

/** The number of lines of each function and loop without its inner loops, by the index of its first line. */
function computePrices(lines: readonly string[]): Map<number, number> {
  const prices = new Map<number, number>()
  const blocks: { start: number; counts: boolean }[] = []
  const owners: number[] = []
  lines.forEach((line, at) => {
    const owner = owners.at(-1)
    if (owner !== undefined) prices.set(owner, (prices.get(owner) ?? 0) + 1)
    if (line.startsWith('}')) {
      if (blocks.pop()?.counts) owners.pop()
    }
    if (!line.endsWith('{')) return
    const counts = LOOP.test(line) || FUNCTION.test(line)
    blocks.push({ start: at, counts })
    if (counts) {
      owners.push(at)
      prices.set(at, 1)
    }
  })
  return prices
}

const QUOTED_LENGTH = 200

function writeShort(value: unknown, room: { left: number }): string | undefined {
  if (room.left <= 0) return '…'
  if (typeof value === 'string') {
    const text = JSON.stringify(value.length > room.left ? `${value.slice(0, room.left)}…` : value)
    room.left -= text.length
    return text
  }
  if (typeof value !== 'object' || value === null) {
    const text = JSON.stringify(value)
    room.left -= text?.length ?? 0
    return text
  }
  const parts: string[] = []
  const add = (name: string, item: unknown) => {
    room.left -= 1
    parts.push(`${name}${writeShort(item, room) ?? 'null'}`)
    return room.left > 0
  }
  if (Array.isArray(value)) {
    for (const item of value) if (!add('', item)) break
    return `[${parts.join(',')}${parts.length < value.length ? ',…' : ''}]`
  }
  const names = Object.keys(value)
  for (const name of names) {
    const written = `${writeShort(name, room)}:`
    if (!add(written, (value as Record<string, unknown>)[name])) break
  }
  return `{${parts.join(',')}${parts.length < names.length ? ',…' : ''}}`
}

const linearRegExp = (work: Work) => (source: string) => {
  const pattern = compilePattern(source)
  if (!pattern.ok) throw new TypeError(pattern.message)
  const { test, unitsPerCharacter } = pattern.value
  return {
    test: (text: string) => {
      work.spend(text.length * unitsPerCharacter)
      return test(text)
    },
    toString: () => source,
  }
}

type Check = { (data: unknown): boolean; errors?: Partial<ErrorObject>[] }

/**
 * `uniqueItems`, `enum` and `const` of Ajv take too long for large values, or call functions that a message names. Where a
 * message ends at its first fault, Ajv skips the keywords behind a list of schemas if the array is shorter than the list.
 * `contains` and `uniqueItems` are checked before it. `list`: the keyword with such a list.
 */
function addEquality(ajv: Ajv, work: Work, list: 'items' | 'prefixItems'): void {
  ajv.removeKeyword('contains')
  ajv.addKeyword({ ...contains.default, before: list })
  const compilers = { uniqueItems: compileUnique, enum: compileEnum, const: compileConst }
  for (const [keyword, compile] of Object.entries(compilers)) {
    ajv.removeKeyword(keyword)
    const type = keyword === 'uniqueItems' ? ({ type: 'array', before: list } as const) : {}
    const compileCheck = (schema: unknown, parentSchema: AnySchemaObject) => compile(schema, parentSchema, work)
    ajv.addKeyword({ keyword, ...type, errors: true, compile: compileCheck })
  }
}

/** Ajv compares each object with each other one. */
function compileUnique(unique: unknown, parentSchema: AnySchemaObject, work: Work): Check {
  const check: Check = (items) => {
    const indexes = new Map<unknown, number>()
    for (const [index, item] of (items as readonly unknown[]).entries()) {
      const key = equalityKeyFor(item, work)
      const before = indexes.get(key)
      if (before !== undefined) {
        check.errors = [{ keyword: 'uniqueItems', params: { i: index, j: before }, parentSchema }]
        return false
      }
      indexes.set(key, index)
    }
    return true
  }
  return unique === true ? check : () => true
}

const compileEnum = (schema: unknown, parentSchema: AnySchemaObject, work: Work): Check =>
  compileEquality(
    schema as readonly unknown[],
    { keyword: 'enum', params: { allowedValues: schema }, parentSchema },
    work,
  )

const compileConst = (schema: unknown, parentSchema: AnySchemaObject, work: Work): Check =>
  compileEquality([schema], { keyword: 'const', params: { allowedValue: schema }, parentSchema }, work)

/** Ajv calls the `valueOf` and `toString` of an object, which a message may hold as fields. */
function compileEquality(values: readonly unknown[], error: Partial<ErrorObject>, work: Work): Check {
  // No object equals a scalar, so scalars are compared without a key.
  const areScalars = values.every((value) => typeof value !== 'object' || value === null)
  const allowed = new Set(areScalars ? values : values.map(toEqualityKey))
  const check: Check = (data) => {
    if (allowed.has(areScalars ? data : equalityKeyFor(data, work))) return true
    // Ajv adds the place and the value of the message.
    check.errors = [{ ...error }]
    return false
  }
  return check
}

/** To make a key and to find it in a map. */
const UNITS_PER_KEY = 100
const UNITS_PER_KEY_CHARACTER = 60

function equalityKeyFor(value: unknown, work: Work): unknown {
  const key = toEqualityKey(value)
  work.spend(UNITS_PER_KEY + (typeof key === 'string' ? key.length * UNITS_PER_KEY_CHARACTER : 0))
  return key
}

/**
 * Ajv counts the characters of every text, these keywords only if the result depends on them. JSON Schema counts Unicode
 * code points (RFC 8259 section 1), each of which is one or two units of a text.
 */
function addLengths(ajv: Ajv, work: Work): void {
  const countCharacters = (text: string): number => {
    work.spend(text.length * UNITS_PER_COUNTED_CHARACTER)
    return lengthInCharacters(text)
  }
  for (const keyword of ['minLength', 'maxLength'] as const) {
    ajv.removeKeyword(keyword)
    ajv.addKeyword({
      keyword,
      type: 'string',
      schemaType: 'number',
      error: { message: keyword, params: ({ schemaCode }) => _`{limit: ${schemaCode}}` },
      code(context: KeywordCxt) {
        const { data, schema: limit, gen } = context
        const count = gen.scopeValue('func', { ref: countCharacters })
        context.fail(
          keyword === 'minLength'
            ? _`${data}.length < ${limit * 2} && ${count}(${data}) < ${limit}`
            : _`${data}.length > ${limit} && ${count}(${data}) > ${limit}`,
        )
      },
    })
  }
}

const UNITS_PER_COUNTED_CHARACTER = 10

function lengthInCharacters(text: string): number {
  let count = 0
  for (const _character of text) count++
  return count
}

/**
 * A keyword that only rewritten schemas have: Ajv's own `required` takes the empty name for none, and accepts every value.
 */
export const EMPTY_NAME = 'requiredEmptyName'

function addEmptyName(ajv: Ajv): void {
  ajv.addKeyword({
    keyword: EMPTY_NAME,
    type: 'object',
    schemaType: 'boolean',
    error: { message: EMPTY_NAME, params: () => _`{missingProperty: ""}` },
    code: (context: KeywordCxt) => context.fail(_`${context.data}[""] === undefined`),
  })
}

type FormatCheck = (text: string) => boolean

/** Longer texts match only formats whose checks are linear. */
const MAX_FORMAT_CHARACTERS = 4096
const UNITS_PER_FORMAT_CHARACTER = 20
const ANY_LENGTH = new Set(['byte', 'binary', 'password', 'json-pointer'])

/** Formats of JSON Schema 2020-12 section 7.3 that ajv-formats lacks; their ASCII form is checked. */
const INTERNATIONAL: Readonly<Record<string, Readonly<{ as: string; toAscii: (text: string) => string }>>> = {
  iri: { as: 'uri', toAscii: percentEncoded },
  'iri-reference': { as: 'uri-reference', toAscii: percentEncoded },
  'idn-hostname': { as: 'hostname', toAscii: domainToASCII },
  'idn-email': { as: 'email', toAscii: asciiAddress },
}

/** The formats that schemas may name; any other checks nothing. */
export const FORMAT_NAMES: readonly string[] = [...Object.keys(fullFormats), ...Object.keys(INTERNATIONAL)]

/** Some formats of ajv-formats backtrack: their texts are short, and paid for. */
function addAllFormats(ajv: Ajv, work: Work): void {
  addFormats.default(ajv)
  for (const [name, { as, toAscii }] of Object.entries(INTERNATIONAL)) {
    const check = findCheck(ajv.formats[as])
    if (check !== undefined) ajv.addFormat(name, (text) => check(toAscii(text)))
  }
  for (const [name, format] of Object.entries(ajv.formats)) {
    const check = findCheck(format)
    if (check !== undefined && !ANY_LENGTH.has(name)) {
      ajv.addFormat(name, (text) => {
        work.spend(Math.min(text.length, MAX_FORMAT_CHARACTERS) * UNITS_PER_FORMAT_CHARACTER)
        return text.length <= MAX_FORMAT_CHARACTERS && check(text)
      })
    }
  }
}

/** The check of a format for strings; undefined for a format of numbers or one that checks nothing. */
function findCheck(format: Ajv['formats'][string]): FormatCheck | undefined {
  if (format instanceof RegExp) return (text) => format.test(text)
  if (typeof format === 'function') return format as FormatCheck
  if (typeof format !== 'object' || format.type === 'number' || format.async === true) return undefined
  return findCheck(format.validate as Ajv['formats'][string])
}

/** Percent-encodes all that is not ASCII (RFC 3987 section 3.1). Lone surrogates stay, so that the check refuses them. */
function percentEncoded(text: string): string {
  return text.replace(/[^\0-\x7f]+/g, (part) => (part.isWellFormed() ? encodeURIComponent(part) : part))
}

/** RFC 6531 section 3.3: letters of any script count as letters. */
function asciiAddress(text: string): string {
  const at = text.lastIndexOf('@')
  return `${text.slice(0, Math.max(at, 0)).replace(/[^\0-\x7f]/gu, 'x')}@${domainToASCII(text.slice(at + 1))}`
}
