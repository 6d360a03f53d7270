import type { Json } from '../core/json.ts'
import { Unreadable } from './body-faults.ts'
import type { Codec } from './codec.ts'
import { findDuplicateNames, MAX_DEPTH, parseJson } from './json-read.ts'
import type { NameLimits } from './name-limits.ts'
import { rewriteBody } from './rewrite-body.ts'
import { decodeText } from './text.ts'

export const JSON_CODEC = {
  name: 'JSON',
  title: 'JSON',
  mediaType: 'application/json',
  // `json+openhim` is older than the rules for suffixes (RFC 6839).
  profiles: {
    'FHIR+JSON': {
      title: 'FHIR, as JSON',
      mediaType: 'application/fhir+json',
      accept: 'application/fhir+json, application/json;q=0.9, */*;q=0.8',
      holdsFhir: true,
    },
    'JSON+OPENHIM': { title: 'JSON with the wrapper of OpenHIM', mediaType: 'application/json+openhim' },
  },
  aliases: ['text/json'],
  suffix: 'json',
  fileEndings: ['.json'],
  sample: '{ "id": "17" }',
  accept: 'application/json, */*;q=0.8',
  read: (bytes, charset, settings?: NameLimits) => parseJson(decodeText(bytes, charset), MAX_DEPTH, settings),
  looksLike: (text) => /^\s*[{[]/.test(text),
  detect,
  build: (value) => JSON.stringify(value),
  buildFailure: (body) => JSON.stringify(body),
  findRoot: () => undefined,
  hasTypes: true,
  schemaNotes: undefined,
  failureKeywords: {},
  emptyAnswer: '',
  nullBody: Buffer.from('null'),
  rewrite,
  markers: [],
  keyFault: () => undefined,
  pathFault: undefined,
} as const satisfies Codec

/** Objects and arrays only: other texts are JSON by chance. */
function detect(text: string): Json | undefined {
  if (!JSON_CODEC.looksLike(text)) return undefined
  try {
    return parseJson(text)
  } catch (thrown) {
    if (thrown instanceof Unreadable) return undefined
    throw thrown
  }
}

/** A repeated name hides all its values but the last, and a scalar has no names that a redaction path could match. */
function rewrite(
  bytes: Uint8Array,
  charset: string | undefined,
  change: (value: Json) => Json,
  limits?: NameLimits,
): Uint8Array | undefined {
  const text = decodeText(bytes, charset)
  const value = parseJson(text, MAX_DEPTH, limits)
  if (typeof value !== 'object' || value === null || findDuplicateNames(text).length > 0) return undefined
  return rewriteBody(bytes, value, change, JSON_CODEC.build)
}
