/** The values by which people search for a message (`messageKeys`). */

import type { Json } from '../../core/json.ts'
import type { MessageRecord } from '../../core/records/message-record.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import { type PathSource, parsePath } from '../../language/paths/path.ts'

type Keys = MessageRecord['keys']

/** Values a message. */
const MOST_VALUES = 10
/** In characters; longer values are cut. */
const LONGEST_VALUE = 200

export const NO_KEYS: Keys = {}

/** Builds the reader of an endpoint's keys; undefined if it has none. Its paths were checked at registration. */
export function compileKeys({ messageKeys }: Endpoint): ((reached: object | undefined) => Keys) | undefined {
  const paths = Object.entries(messageKeys ?? {}).flatMap(([name, text]) => {
    const path = parsePath(text)
    return path.ok ? [{ name, path: path.value }] : []
  })
  if (paths.length === 0) return undefined
  return (reached) => {
    if (reached === undefined) return NO_KEYS
    const keys: Record<string, string | readonly string[]> = {}
    let left = MOST_VALUES
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
  return [String(value).slice(0, LONGEST_VALUE)]
}

export const changeKeys = (keys: Keys, change: (value: string) => string): Keys =>
  Object.fromEntries(
    Object.entries(keys).map(([name, value]) => [name, typeof value === 'string' ? change(value) : value.map(change)]),
  )
