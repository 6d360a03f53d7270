/** The values by which people search for a message (`messageKeys`). */
import type { Endpoint } from '../config/schema/schema.ts'
import type { Json } from '../domain/json.ts'
import type { MessageRecord } from '../domain/message-record.ts'
import { type PathSource, parsePath } from '../language/paths/path.ts'

type Keys = MessageRecord['keys']

/** Of one message. */
const MOST_KEYS = 10
/** In characters; longer ones are cut. */
const LONGEST_KEY = 200

const NONE: Keys = {}

/** Builds the reader of an endpoint's keys; undefined where it names none. Paths were checked when it was registered. */
export function compileKeys({ messageKeys }: Endpoint): ((reached: object | undefined) => Keys) | undefined {
  const paths = Object.entries(messageKeys ?? {}).flatMap(([name, text]) => {
    const path = parsePath(text)
    return path.ok ? [{ name, path: path.value }] : []
  })
  if (paths.length === 0) return undefined
  return (reached) => {
    if (reached === undefined) return NONE
    const keys: Record<string, string | readonly string[]> = {}
    let left = MOST_KEYS
    for (const { name, path } of paths) {
      const values = [...new Set(textsOf(path.read(reached as PathSource)))].slice(0, left)
      left -= values.length
      const [first] = values
      if (first !== undefined) keys[name] = values.length === 1 ? first : values
    }
    return keys
  }
}

function textsOf(value: Json | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap(textsOf)
  if (value === undefined || value === null || typeof value === 'object' || value === '') return []
  return [String(value).slice(0, LONGEST_KEY)]
}
