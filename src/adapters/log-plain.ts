/** The fields of the lines that every message has: known to hold no secrets, short, and written by hand for speed. */

const PLAIN = new Set([
  'messageId',
  'endpoint',
  'endpointId',
  'source',
  'outcome',
  'code',
  'status',
  'stage',
  'path',
  'ms',
  'traceId',
])

const MOST_CHARACTERS = 1_000

/** What JSON must escape, and what it need not but would not hurt: anything outside of printable ASCII. */
const SPECIAL = /[^\x20-\x7e]|["\\]/

/** `,"name":value` for each field; undefined where there are others than these, or longer ones. */
export function plainFields(fields: Readonly<Record<string, unknown>>): string | undefined {
  let text = ''
  for (const name in fields) {
    const value = fields[name]
    if (value === undefined) continue
    if (!PLAIN.has(name)) return undefined
    if (typeof value === 'number' && Number.isFinite(value)) text += `,"${name}":${value}`
    else if (typeof value === 'string' && value.length <= MOST_CHARACTERS) text += `,"${name}":${jsonText(value)}`
    else return undefined
  }
  return text
}

export const jsonText = (text: string): string => (SPECIAL.test(text) ? JSON.stringify(text) : `"${text}"`)
