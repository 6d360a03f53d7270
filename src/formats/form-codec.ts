/** Forms, as pages and many interfaces send them (https://url.spec.whatwg.org/#application/x-www-form-urlencoded). */
import { isUtf8 } from 'node:buffer'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { TooLong, Unreadable, Unwritable } from './body-faults.ts'
import type { Codec } from './codec.ts'
import { failureTexts } from './failure-texts.ts'
import { type NameLimits, tooManyNames } from './name-limits.ts'
import { rewriteBody } from './rewrite-body.ts'
import { decodeText } from './text.ts'

export const FORM_CODEC = {
  name: 'FORM',
  title: 'Form, names with values',
  mediaType: 'application/x-www-form-urlencoded',
  profiles: {},
  aliases: [],
  suffix: undefined,
  fileEndings: ['.form'],
  sample: 'id=17&name=Ann',
  // Who takes forms mostly answers in JSON.
  accept: 'application/json, */*;q=0.8',
  read,
  looksLike: undefined,
  detect: () => undefined,
  build,
  buildFailure: (body) => String(new URLSearchParams(failureTexts(body).map(([...pair]) => pair))),
  findRoot: () => undefined,
  hasTypes: false,
  schemaNotes: {
    read: 'The schema describes the value that the form is read as: every value is a string, and that of a repeated name a list.',
    written: 'The schema describes the value that is written as a form: a list repeats its name.',
  },
  failureKeywords: {},
  emptyAnswer: '',
  nullBody: undefined,
  rewrite,
  pathFault: undefined,
  markers: [],
  keyFault: () => undefined,
} as const satisfies Codec

function read(bytes: Uint8Array, charset: string | undefined, limits: NameLimits = {}): JsonObject {
  const { parserMaxNames: max = Infinity, parserMaxNamesPerObject: maxDifferent = Infinity } = limits
  // Else a character for each byte: what the bytes mean is known when the percent signs are decoded.
  const isText = (charset === undefined || charset === 'utf-8') && isUtf8(bytes)
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const fields = whole.toString(isText ? 'utf8' : 'latin1').split('&')
  const decode = (encoded: string, index: number): string => {
    const isAscii = ASCII.test(encoded)
    if (!encoded.includes('%') && (isText || isAscii)) return encoded.replaceAll('+', ' ')
    return decodeBytes(isText && !isAscii ? Buffer.from(encoded).toString('latin1') : encoded, charset, index)
  }
  const values = new Map<string, string | string[]>()
  let count = 0
  for (const [index, field] of fields.entries()) {
    if (field === '') continue
    count += 1
    if (count > max) throw tooManyNames('The form has more names', max, 'PARSER_MAX_NAMES')
    const sign = field.indexOf('=')
    const name = decode(sign === -1 ? field : field.slice(0, sign), index)
    const value = sign === -1 ? '' : decode(field.slice(sign + 1), index)
    const earlier = values.get(name)
    if (typeof earlier === 'object') earlier.push(value)
    else values.set(name, earlier === undefined ? value : [earlier, value])
    if (values.size > maxDifferent) {
      throw tooManyNames('The form has more different names', maxDifferent, 'PARSER_MAX_NAMES_PER_OBJECT')
    }
  }
  // Unlike assignments, this gives a name "__proto__" as any other.
  return Object.fromEntries(values)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII.
const ASCII = /^[\x00-\x7f]*$/

/** `encoded`: a character for each byte. A percent sign without two hexadecimal digits stands for itself, as in browsers. */
function decodeBytes(encoded: string, charset: string | undefined, index: number): string {
  const text = encoded
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
  if (ASCII.test(text)) return text
  const bytes = Buffer.from(text, 'latin1')
  // Keeps a byte order mark, which is one at the start of a whole body only.
  if ((charset === undefined || charset === 'utf-8') && isUtf8(bytes)) return bytes.toString()
  try {
    return decodeText(bytes, charset)
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    const problem = `the name or value of field ${index + 1} is not valid in its charset; send it as UTF-8.`
    throw new Unreadable('malformed', `The form is not well-formed: ${problem}`)
  }
}

function build(value: Json, limitLength = Number.POSITIVE_INFINITY): string {
  if (!isObject(value)) throw new Unwritable(FORM_CODEC.name, '', 'it needs an object')
  const pairs: string[] = []
  let length = 0
  const add = (name: string, one: Json, path: string): void => {
    if (typeof one === 'object' && one !== null) {
      throw new Unwritable(
        FORM_CODEC.name,
        path,
        'the value is an object or a list; a form holds texts and lists of texts',
      )
    }
    const pair = String(new URLSearchParams([[name, one === null ? '' : String(one)]]))
    length += pair.length + 1
    if (length > limitLength) throw new TooLong(FORM_CODEC.name, path, length, limitLength)
    pairs.push(pair)
  }
  for (const [name, member] of Object.entries(value)) {
    if (!Array.isArray(member)) add(name, member as Json, name)
    else for (const [index, one] of member.entries()) add(name, one as Json, `${name}[${index}]`)
  }
  return pairs.join('&')
}

function rewrite(
  bytes: Uint8Array,
  charset: string | undefined,
  change: (value: Json) => Json,
  limits?: NameLimits,
): Uint8Array {
  return rewriteBody(bytes, read(bytes, charset, limits), change, build)
}
