/** How formats change the value of a recorded body (`rewrite` of Codec). */
import type { Json } from '../core/json.ts'

/** `value`: of the bytes. Out: the same bytes if what would be written is the same. Throws what `build` throws. */
export function rewriteBody(
  bytes: Uint8Array,
  value: Json,
  change: (value: Json) => Json,
  build: (value: Json) => string | Uint8Array,
): Uint8Array {
  const changed = change(value)
  if (changed === value) return bytes
  const written = Buffer.from(build(changed))
  return written.equals(Buffer.from(build(value))) ? bytes : written
}
