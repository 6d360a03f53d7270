/** The formats of JSON Schema as checks in bounded time: some of those in ajv-formats backtrack. */
import { domainToASCII } from 'node:url'
import type { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { spend, type Work } from './json-schema-work.ts'

type Check = (text: string) => boolean

/** Longer texts match only formats whose checks are linear. */
const LONGEST = 4096
const UNITS_PER_CHARACTER = 20
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

export function addAllFormats(ajv: Ajv, work: Work): void {
  addFormats.default(ajv)
  for (const [name, { as, toAscii }] of Object.entries(INTERNATIONAL)) {
    const check = checkOf(ajv.formats[as])
    if (check !== undefined) ajv.addFormat(name, (text) => check(toAscii(text)))
  }
  for (const [name, format] of Object.entries(ajv.formats)) {
    const check = checkOf(format)
    if (check !== undefined && !ANY_LENGTH.has(name)) {
      ajv.addFormat(name, (text) => {
        spend(work, Math.min(text.length, LONGEST) * UNITS_PER_CHARACTER)
        return text.length <= LONGEST && check(text)
      })
    }
  }
}

/** The check of a format for strings; undefined for a format of numbers or one that checks nothing. */
function checkOf(format: Ajv['formats'][string]): Check | undefined {
  if (format instanceof RegExp) return (text) => format.test(text)
  if (typeof format === 'function') return format as Check
  if (typeof format !== 'object' || format.type === 'number' || format.async === true) return undefined
  return checkOf(format.validate as Ajv['formats'][string])
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
