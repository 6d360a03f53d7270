/** Comma-separated values (RFC 4180), with the delimiter and quote that an endpoint names. Each value is a text. */
import { isUtf8 } from 'node:buffer'
import { CsvError, parse } from 'csv-parse/sync'
import Type, { type Static } from 'typebox'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { TooLong, Unreadable, Unwritable } from './body-faults.ts'
import type { Codec } from './codec.ts'
import { failureTexts } from './failure-texts.ts'
import { type NameLimits, tooManyNames } from './name-limits.ts'
import { rewriteBody } from './rewrite-body.ts'
import { takeRows } from './rows.ts'
import { decodeText } from './text.ts'

const NAME = 'CSV'

const CsvOptionsSchema = Type.Object(
  {
    delimiter: Type.Optional(
      Type.String({
        pattern: '^[^"\'\\r\\n\\uFEFF]$',
        expects: 'one character, and neither a quote, a line break nor a byte order mark',
        description: 'The character between the values of a row.',
        assumed: '`,`',
        examples: [';'],
      }),
    ),
    header: Type.Optional(
      Type.Boolean({
        description:
          'Whether the first row has the names of the columns, so that each other row is an object; if not, every row is a list.',
        assumed: '`true`',
        examples: [false],
      }),
    ),
    quote: Type.Optional(
      Type.Enum(['"', "'", 'none'], {
        description:
          'The character around values that have delimiters or line breaks; `none` if the file has no quotes.',
        assumed: '`"`',
        examples: ["'"],
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'How the CSV of the endpoint is written: its messages, its output, and answers of other systems in CSV.',
  },
)

/** `quote`: empty for none. */
type CsvOptions = Readonly<{ delimiter: string; header: boolean; quote: string }>

const DEFAULTS: CsvOptions = { delimiter: ',', header: true, quote: '"' }

const FORMAT = {
  name: NAME,
  title: 'CSV, rows of values',
  mediaType: 'text/csv',
  profiles: {},
  aliases: ['application/csv'],
  suffix: undefined,
  fileEndings: ['.csv'],
  sample: 'id,name\n17,Ann\n',
  accept: 'text/csv, application/json;q=0.9, */*;q=0.8',
  looksLike: undefined,
  isLikely: (text: string) => hasColumns(text),
  detect: () => undefined,
  findRoot: () => undefined,
  hasTypes: false,
  schemaNotes: {
    read: 'The schema describes the value that the CSV is read as: `rows` is the list of its rows, in which every value is a string.',
    written: 'The schema describes the value that is written as CSV: a row for each element of `rows`.',
  },
  failureKeywords: {},
  emptyAnswer: '',
  nullBody: undefined,
  pathFault: undefined,
  markers: [],
  keyFault: () => undefined,
} as const

export const CSV_CODEC = {
  ...FORMAT,
  ...compileCsv(DEFAULTS),
  options: {
    field: 'csv',
    schema: CsvOptionsSchema,
    guess: (text: string) => {
      const delimiter = detectDelimiter(text)
      return delimiter === DEFAULTS.delimiter ? undefined : { delimiter }
    },
    configure: ({ quote = '"', ...given }: Static<typeof CsvOptionsSchema>): Codec => ({
      ...FORMAT,
      ...compileCsv({ ...DEFAULTS, ...given, quote: quote === 'none' ? '' : quote }),
    }),
  },
} as const satisfies Codec

function compileCsv(options: CsvOptions) {
  const reader = (bytes: Uint8Array, charset: string | undefined, limits?: NameLimits) =>
    readCsv(bytes, charset, options, limits)
  const writer = compileWriter(options)
  return {
    read: reader,
    build: writer,
    buildFailure: (body: JsonObject): string => {
      const texts = failureTexts(body)
      const written = options.quote === '' ? texts.map(([name, text]) => [name, withoutMarks(text, options)]) : texts
      return writer({ rows: options.header ? [Object.fromEntries(written)] : written.map(([...row]) => row) })
    },
    rewrite: (
      bytes: Uint8Array,
      charset: string | undefined,
      change: (value: Json) => Json,
      limits?: NameLimits,
    ): Uint8Array => {
      return rewriteBody(bytes, reader(bytes, charset, limits), change, writer)
    },
  }
}

/** Delimiters that a header shows; of equally frequent ones the first. */
const DELIMITERS = [',', ';', '\t'] as const

/** The one that the first line has most of. */
export function detectDelimiter(text: string): string {
  const [header = ''] = /[^\r\n]+/.exec(text) ?? []
  const unquoted = header.replace(/"(?:[^"]|"")*"/g, '')
  const counts = DELIMITERS.map((delimiter) => unquoted.split(delimiter).length)
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ','
}

/** The first rows are some, each with as many delimiters as the header. */
function hasColumns(text: string): boolean {
  const lines = text.trim().split(/\r?\n/, 5)
  const delimiter = detectDelimiter(text)
  const [columns = 0, ...others] = lines.map((line) => line.replace(/"(?:[^"]|"")*"/g, '').split(delimiter).length)
  return columns > 1 && others.length > 0 && others.every((count) => count === columns)
}

/** Without quotes, a row cannot hold them. */
const withoutMarks = (text: string, { delimiter }: CsvOptions): string =>
  text.replaceAll(delimiter, ' ').replace(/[\r\n]/g, ' ')

const LF = 0x0a
const CR = 0x0d

/** The names of the columns and the rows, as they are read. Counts what takes more memory than its bytes. */
class RowReader {
  readonly rows: Json[] = []
  readonly #codeAt: (index: number) => number | undefined
  /** Where the last record ended, with or without its line break. */
  #end = 0
  readonly #isNamed: boolean
  readonly #maxColumns: number
  readonly #maxNames: number
  #columns: readonly string[] | undefined
  #names = 0

  /** `codeAt`: of the text, in bytes or characters. */
  constructor(
    codeAt: (index: number) => number | undefined,
    isNamed: boolean,
    { parserMaxNames = Infinity, parserMaxNamesPerObject = Infinity }: NameLimits,
  ) {
    this.#codeAt = codeAt
    this.#isNamed = isNamed
    this.#maxColumns = parserMaxNamesPerObject
    this.#maxNames = parserMaxNames
  }

  get hasHeader(): boolean {
    return this.#columns !== undefined
  }

  /** The line at which the record begins that is read now. Counted where there is a fault only. */
  get line(): number {
    let [line, at] = [1, 0]
    for (let code = this.#codeAt(at); at < this.#end || code === LF || code === CR; code = this.#codeAt(at)) {
      at += 1
      if (code === LF || (code === CR && this.#codeAt(at) !== LF)) line += 1
    }
    return line
  }

  add(record: readonly string[], end: number): void {
    if (!this.#isNamed) this.#push(record, 1)
    else if (this.#columns === undefined) this.#columns = this.#readHeader(record)
    else this.#push(this.#toObject(record, this.#columns), record.length)
    this.#end = end
  }

  #push(row: Json, names: number): void {
    this.#names += names
    if (this.#names > this.#maxNames) {
      throw tooManyNames('The CSV has more values', this.#maxNames, 'PARSER_MAX_NAMES', ` at line ${this.line}`)
    }
    this.rows.push(row)
  }

  #readHeader(record: readonly string[]): readonly string[] {
    if (record.length > this.#maxColumns) {
      throw tooManyNames('The CSV has more columns', this.#maxColumns, 'PARSER_MAX_NAMES_PER_OBJECT')
    }
    const first = new Map<string, number>()
    record.forEach((name, index) => {
      const earlier = first.get(name)
      if (earlier !== undefined) {
        throw malformed(
          `at line ${this.line}, the columns ${earlier + 1} and ${index + 1} have the same name; give each its own`,
        )
      }
      first.set(name, index)
    })
    return record
  }

  #toObject(record: readonly string[], columns: readonly string[]): JsonObject {
    if (record.length !== columns.length) {
      throw malformed(
        `at line ${this.line}, the row has ${count(record.length, 'value')}, but the header has ${count(columns.length, 'column')}`,
      )
    }
    // An assignment would set the prototype; elsewhere, it takes less time.
    if (columns.includes('__proto__'))
      return Object.fromEntries(columns.map((name, index) => [name, record[index] ?? '']))
    const row: Record<string, string> = {}
    for (let index = 0; index < columns.length; index++) row[columns[index] as string] = record[index] as string
    return row
  }
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`

const malformed = (problem: string): Unreadable =>
  new Unreadable('malformed', `The CSV is not well-formed: ${problem}.`)

function readCsv(
  bytes: Uint8Array,
  charset: string | undefined,
  options: CsvOptions,
  limits: NameLimits = {},
): JsonObject {
  const isPlain = (charset === undefined || charset === 'utf-8') && isUtf8(bytes)
  const text = isPlain
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : Buffer.from(decodeText(bytes, charset))
  const { header, quote } = options
  const reader =
    quote === '' || !text.includes(quote)
      ? divideUnquoted(text.toString(), options, limits)
      : parseQuoted(text, options, limits)
  if (header && !reader.hasHeader) throw malformed('it is empty; its first row must have the names of the columns')
  return { rows: reader.rows }
}

/** Takes a quarter of the time of the parser. Most files that programs write have no quotes. */
function divideUnquoted(text: string, { delimiter, header }: CsvOptions, limits: NameLimits): RowReader {
  const whole = text.startsWith('\ufeff') ? text.slice(1) : text
  const reader = new RowReader((index) => whole.charCodeAt(index), header, limits)
  for (const found of whole.matchAll(/[^\r\n]+/g)) reader.add(found[0].split(delimiter), found.index + found[0].length)
  return reader
}

function parseQuoted(text: Buffer, { delimiter, header, quote }: CsvOptions, limits: NameLimits): RowReader {
  const reader = new RowReader((index) => text[index], header, limits)
  try {
    parse(text, {
      bom: true,
      delimiter,
      quote,
      escape: quote,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      on_record: (record, { bytes: end }) => {
        reader.add(record as unknown as readonly string[], end)
        // The parser need not keep it.
        return null
      },
    })
  } catch (thrown) {
    if (!(thrown instanceof CsvError)) throw thrown
    throw malformed(`in the row at line ${reader.line}, ${FAULTS[thrown.code] ?? 'a value cannot be read'}`)
  }
  return reader
}

/** By the codes of the parser. Their own messages quote the text. */
export const QUOTE_FAULTS = {
  CSV_QUOTE_NOT_CLOSED: 'a quoted value does not end',
  INVALID_OPENING_QUOTE:
    'a value has a quote but does not begin with one; quote the value, and double the quotes in it',
  CSV_INVALID_CLOSING_QUOTE: 'a quoted value goes on behind its last quote; double the quotes in it',
} as const

const FAULTS: Readonly<Record<string, string>> = QUOTE_FAULTS

/** Of RFC 4180. */
const LINE_END = '\r\n'

function compileWriter({ delimiter, header, quote }: CsvOptions) {
  const special = new RegExp(`[${RegExp.escape(delimiter + quote)}\r\n\ufeff]`)

  function writeValue(value: Json | undefined, isAlone: boolean, path: () => string): string {
    if (typeof value === 'object' && value !== null) {
      throw new Unwritable(NAME, path(), 'the value is an object or a list; a row holds texts, numbers and booleans')
    }
    const text = value === undefined || value === null ? '' : String(value)
    // Blank lines are skipped when they are read.
    if (!special.test(text) && !(isAlone && text === '')) return text
    if (quote === '') {
      throw new Unwritable(NAME, path(), 'the value needs quotes, and "csv.quote" is "none"')
    }
    return `${quote}${text.replaceAll(quote, quote + quote)}${quote}`
  }

  return (value: Json, limitLength = Number.POSITIVE_INFINITY): string => {
    const limit = Math.min(limitLength, LENGTH_MAX)
    const rows = takeRows(NAME, value)
    const columns = listColumns(rows)
    const positions = new Map(columns.map((name, index) => [name, index]))
    refuseWide(rows, columns.length, limit)
    const lines: string[] = []
    let length = 0
    const add = (line: string, path: string): void => {
      if (line === '') throw new Unwritable(NAME, path, 'the row has no values')
      length += line.length + LINE_END.length
      if (length > limit) throw new TooLong(NAME, path, length, limit)
      lines.push(line, LINE_END)
    }
    const writeList = (values: readonly (Json | undefined)[], pathAt: (index: number) => string): string => {
      const isAlone = values.length === 1
      return values.map((one, index) => writeValue(one, isAlone, () => pathAt(index))).join(delimiter)
    }
    /** Takes time for the values that the row has, not for all columns: rows may have no name in common. */
    const writeObject = (row: JsonObject, path: string): string => {
      const names = Object.keys(row)
      const [alone = ''] = columns
      if (columns.length === 1)
        return writeList([names.length === 1 ? row[alone] : undefined], () => `${path}.${alone}`)
      const placed = names.map((name) => positions.get(name) as number)
      if (placed.some((at, index) => index > 0 && at < (placed[index - 1] as number)))
        placed.sort((one, two) => one - two)
      let line = ''
      let column = 0
      for (const at of placed) {
        const name = columns[at] as string
        line += delimiter.repeat(at - column) + writeValue(row[name], false, () => `${path}.${name}`)
        column = at
      }
      return line + delimiter.repeat(Math.max(0, columns.length - 1 - column))
    }
    if (header && columns.length > 0)
      add(
        writeList(columns, (index) => `rows[].${columns[index]}`),
        'rows',
      )
    rows.forEach((row, index) => {
      const path = `rows[${index}]`
      if (isObject(row)) add(writeObject(row, path), path)
      else if (!header && Array.isArray(row))
        add(
          writeList(row, (at) => `${path}[${at}]`),
          path,
        )
      else throw new Unwritable(NAME, path, `the row is not an object${header ? '' : ' or a list'}`)
    })
    return lines.join('')
  }
}

/** Characters, where the caller has no limit. A short value may ask for many more: each row has all columns. */
const LENGTH_MAX = 2 ** 28

/** Before anything is written: each row has a delimiter or a line end for each column, and is one character longer. */
function refuseWide(rows: readonly Json[], columns: number, limit: number): void {
  const length = rows.reduce<number>((sum, row) => sum + (isObject(row) ? columns + 1 : 0), 0)
  if (length > limit) throw new TooLong(NAME, 'rows', length, limit)
}

/** The names in all rows, in the order in which they first appear. */
function listColumns(rows: readonly Json[]): readonly string[] {
  const names = new Set<string>()
  for (const row of rows) if (isObject(row)) for (const name of Object.keys(row)) names.add(name)
  return [...names]
}
