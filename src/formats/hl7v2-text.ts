/** Delimiters, escape sequences and charsets of HL7 v2 (chapter 2, sections 2.5, 2.7 and the table HL7 0211). */
import { isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'

export type Delimiters = Readonly<{
  field: string
  /** MSH-2. */
  encoding: string
  component: string | undefined
  repetition: string | undefined
  escapeMark: string | undefined
  subcomponent: string | undefined
  /** A text without any of these is written as it stands. */
  special: RegExp
  /** What is written in place of each; undefined without an escape character. */
  sequences: readonly (readonly [found: string, sequence: string])[] | undefined
  /** At the end of a line feed: the next segment begins. */
  nextSegment: RegExp
  /** A line feed within a segment that would end it. */
  endsSegment: RegExp
}>

export const DEFAULT_FIELD = '|'
export const DEFAULT_ENCODING = '^~\\&'

const PUNCTUATION = /^[!-/:-@[-`{-~]+$/
const FIFTH_IS_TRUNCATION = 5

const known = new Map<string, Delimiters | undefined>()
/** Few messages have others than the usual ones. */
const KNOWN_MAX = 100

/** In: MSH-1 and MSH-2. Out: undefined unless these are different punctuation marks of ASCII, one and one to five. */
export function parseDelimiters(field: string, encoding: string): Delimiters | undefined {
  const key = field + encoding
  if (known.has(key)) return known.get(key)
  const parsed = field.length === 1 && isValid(key) ? createDelimiters(field, encoding) : undefined
  if (known.size < KNOWN_MAX) known.set(key, parsed)
  return parsed
}

const isValid = (all: string): boolean =>
  all.length > 1 && all.length <= 1 + FIFTH_IS_TRUNCATION && PUNCTUATION.test(all) && new Set(all).size === all.length

function createDelimiters(field: string, encoding: string): Delimiters {
  const [component, repetition, escapeMark, subcomponent] = encoding
  const marks = [field, component, repetition, escapeMark, subcomponent]
    .map((mark) => mark && RegExp.escape(mark))
    .join('')
  const name = `[A-Z0-9]{3}(?:${RegExp.escape(field)}|[\\r\\n]|$)`
  return {
    field,
    encoding,
    component,
    repetition,
    escapeMark,
    subcomponent,
    special: new RegExp(`\\r\\n|[${marks}\\x00-\\x08\\n-\\x1f\\x7f]`, 'g'),
    sequences: listSequences({ E: escapeMark, F: field, S: component, T: subcomponent, R: repetition }),
    nextSegment: new RegExp(name, 'y'),
    endsSegment: new RegExp(`\\n(?:${name}|$)`),
  }
}

export const isPlain = (text: string, { special }: Delimiters): boolean => text.search(special) === -1

/** A text with escape sequences for what stands for something else; undefined if it needs one and the message has no escape character. */
export function encodeText(text: string, delimiters: Delimiters): string | undefined {
  if (isPlain(text, delimiters)) return text
  return delimiters.sequences?.reduce(
    (written, [found, sequence]) => (written.includes(found) ? written.split(found).join(sequence) : written),
    text,
  )
}

/** What stands for what in a written text, in the order in which it is replaced: the escape character first, which all others bring. */
function listSequences(
  marks: Readonly<Record<'E' | 'F' | 'S' | 'T' | 'R', string | undefined>>,
): Delimiters['sequences'] {
  const { E: mark, ...others } = marks
  if (mark === undefined) return undefined
  const sequence = (name: string): string => mark + name + mark
  // A dot that is a delimiter would divide the sequence of a line feed.
  const lineFeed = Object.values(marks).includes('.') ? 'X0A' : '.br'
  const named = Object.entries(others).flatMap(([name, found]) =>
    found === undefined ? [] : [[found, sequence(name)] as const],
  )
  return [
    [mark, sequence('E')],
    ...named,
    ['\r\n', sequence('X0D0A')],
    ['\n', sequence(lineFeed)],
    ...CONTROLS.map((code) => [String.fromCharCode(code), sequence(`X${hexOf(code)}`)] as const),
  ]
}

/** All but the tab and the line feed. */
const CONTROLS = [...Array.from({ length: 0x20 }, (_, code) => code).filter((code) => code !== 9 && code !== 10), 0x7f]

const hexOf = (code: number): string => code.toString(16).toUpperCase().padStart(2, '0')

/** Reads the escape sequences of a text. One that is not known, or does not end, stands for itself. */
export function decodeText(raw: string, delimiters: Delimiters, charset: string): string {
  const { escapeMark } = delimiters
  if (escapeMark === undefined || !raw.includes(escapeMark)) return raw
  let text = ''
  let at = 0
  for (;;) {
    const open = raw.indexOf(escapeMark, at)
    const close = open === -1 ? -1 : raw.indexOf(escapeMark, open + 1)
    if (close === -1) return text + raw.slice(at)
    const decoded = decodeSequence(raw.slice(open + 1, close), delimiters, charset)
    // The end of an unknown sequence may be the start of a known one.
    text += decoded === undefined ? raw.slice(at, close) : raw.slice(at, open) + decoded
    at = decoded === undefined ? close : close + 1
  }
}

function decodeSequence(name: string, delimiters: Delimiters, charset: string): string | undefined {
  switch (name) {
    case 'F':
      return delimiters.field
    case 'S':
      return delimiters.component
    case 'T':
      return delimiters.subcomponent
    case 'R':
      return delimiters.repetition
    case 'E':
      return delimiters.escapeMark
    case 'P':
      return delimiters.encoding[FIFTH_IS_TRUNCATION - 1]
    case '.br':
      return '\n'
    // The start and the end of highlighting.
    case 'H':
    case 'N':
      return ''
  }
  if (!/^X(?:[0-9A-Fa-f]{2})+$/.test(name)) return undefined
  const bytes = Buffer.from(name.slice(1), 'hex')
  if (charset === UTF_8) return isUtf8(bytes) ? bytes.toString() : undefined
  const table = findTable(charset)
  const characters = Array.from(bytes, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : table?.characters[byte]))
  return characters.includes(undefined) ? undefined : characters.join('')
}

export const UTF_8 = 'utf-8'
export const ASCII = 'us-ascii'
/** As elsewhere, its superset windows-1252. */
export const LATIN_1 = 'iso-8859-1'

/** In: a name of MSH-18 or of a media type. Out: the label of a charset that is read and written; undefined for others. */
export function findCharset(name: string): string | undefined {
  const upper = name.trim().toUpperCase()
  if (/^(?:UNICODE(?: UTF-?8)?|UTF-?8)$/.test(upper)) return UTF_8
  if (/^(?:US-)?ASCII$/.test(upper)) return ASCII
  const part = /^(?:ISO[ -]?)?8859[/-]([0-9]{1,2})$/.exec(upper)?.[1]
  const label = part === undefined ? upper.toLowerCase() : `iso-8859-${part}`
  return findTable(label) === undefined ? undefined : label
}

/** The bytes of a text, or the text itself if it is the same in UTF-8; undefined if the charset cannot hold it. */
export function encodeCharset(text: string, charset: string): string | Uint8Array | undefined {
  if (charset === UTF_8) return text.isWellFormed() ? text : undefined
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII.
  if (/^[\x00-\x7f]*$/.test(text)) return text
  const table = findTable(charset)
  if (table === undefined) return undefined
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    const byte = code < 0x80 ? code : table.bytes.get(code)
    if (byte === undefined) return undefined
    bytes[at] = byte
  }
  return bytes
}

/** Of a charset in which a byte is a character: by its bytes, and by the codes of its characters. */
type Table = Readonly<{ characters: readonly (string | undefined)[]; bytes: ReadonlyMap<number, number> }>

const tables = new Map<string, Table | undefined>()

function findTable(label: string): Table | undefined {
  if (label === ASCII) return undefined
  const found = tables.get(label)
  if (found !== undefined) return found
  const created = createTable(label)
  // Those of the engine are few, and wrong names any.
  if (created !== undefined) tables.set(label, created)
  return created
}

function createTable(label: string): Table | undefined {
  let decoder: TextDecoder
  try {
    decoder = new TextDecoder(label)
  } catch {
    return undefined
  }
  const text = decoder.decode(Uint8Array.from({ length: 256 }, (_, byte) => byte))
  const hasAscii = Array.from({ length: 0x80 }, (_, code) => code).every((code) => text.charCodeAt(code) === code)
  if (text.length !== 256 || !hasAscii || decoder.encoding === UTF_8) return undefined
  const characters = Array.from(text, (character) => (character === '\uFFFD' ? undefined : character))
  const bytes = characters.flatMap((character, byte) =>
    character === undefined ? [] : [[character.charCodeAt(0), byte] as const],
  )
  return { characters, bytes: new Map(bytes) }
}
