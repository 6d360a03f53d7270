/** Plain text: one value, of which nothing else is known. */
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { Unwritable } from './body-faults.ts'
import type { Codec } from './codec.ts'
import { failureTexts } from './failure-texts.ts'
import { rewriteBody } from './rewrite-body.ts'
import { decodeText } from './text.ts'

const MEMBER = 'text'

export const TEXT_CODEC = {
  name: 'TEXT',
  title: 'Plain text',
  mediaType: 'text/plain',
  // Without it, many clients take a text for Latin-1.
  typeParameters: '; charset=utf-8',
  profiles: {},
  aliases: [],
  isGeneric: true,
  suffix: undefined,
  fileEndings: ['.txt'],
  sample: 'Hello',
  accept: 'text/plain, application/json;q=0.9, */*;q=0.8',
  read,
  looksLike: undefined,
  detect: () => undefined,
  build,
  buildFailure,
  findRoot: () => undefined,
  hasTypes: false,
  schemaNotes: {
    read: 'The schema describes the value that the text is read as, `{ "text": "…" }`.',
    written: 'The schema describes the value of which `text` is written.',
  },
  failureKeywords: {},
  emptyAnswer: '',
  nullBody: undefined,
  rewrite: (bytes, charset, change): Uint8Array => {
    return rewriteBody(bytes, read(bytes, charset), change, build)
  },
  pathFault: undefined,
  markers: [],
  keyFault: (key) =>
    key === MEMBER ? undefined : `"${key}" cannot be written as TEXT, which holds "${MEMBER}" alone.`,
} as const satisfies Codec

function read(bytes: Uint8Array, charset: string | undefined): Readonly<{ text: string }> {
  return { text: decodeText(bytes, charset) }
}

/** A text that another system answered is not an object. */
function build(value: Json): string {
  if (typeof value === 'string') return value
  const text = isObject(value) ? value[MEMBER] : undefined
  if (!isObject(value) || typeof text !== 'string') {
    throw new Unwritable(TEXT_CODEC.name, '', `it needs an object with a string "${MEMBER}"`)
  }
  const other = Object.keys(value).find((name) => name !== MEMBER)
  if (other !== undefined) throw new Unwritable(TEXT_CODEC.name, other, `only "${MEMBER}" can be written`)
  return text
}

/** The sentence, then a line for each other field. */
function buildFailure({ error = '', ...others }: JsonObject): string {
  const lines = failureTexts(others).map(([name, text]) => `${name}: ${text}`)
  return [error, '', ...lines, ''].join('\n')
}
