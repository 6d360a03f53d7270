/** What of a body is kept: all of it, its beginning, or nothing but its size. */
import type { Json } from '../domain/json.ts'
import type { BodyName, RecordedBody } from '../domain/message-record.ts'
import type { Codec } from '../formats/codec.ts'
import { CODECS, codecOf } from '../formats/codecs.ts'
import { parseMediaType } from '../formats/media-type.ts'
import { withoutSecrets } from './recorded-secrets.ts'
import { type Mask, scrubTexts } from './redaction.ts'

/** Bodies of one message, as one account: what was masked in one must not be read in another. */
export type BodyKeeper = Readonly<{
  keep(which: BodyName, contentType: string, content: Uint8Array): void
  /** A value of the message, as JSON. */
  keepValue(which: BodyName, value: Json): void
  /** A text that tells what went wrong, and so may repeat what came in. */
  keepReport(which: BodyName, contentType: string, content: Uint8Array): void
  readonly kept: readonly RecordedBody[]
  /** What was masked so far. */
  readonly found: ReadonlySet<string>
}>

/** What a message may keep in all, in bodies of the largest size: a `forEach` may have thousands of answers. */
const FULL_BODIES = 16

const NOTHING = new Uint8Array()

/** `secrets`: what is in no body that is kept. */
export function createBodyKeeper(limitBytes: number, mask: Mask | undefined, secrets: readonly string[]): BodyKeeper {
  const kept: RecordedBody[] = []
  const found = new Set<string>()
  let left = FULL_BODIES * limitBytes

  function add(which: BodyName, contentType: string, given: Uint8Array, size: number, redacted: boolean): void {
    const content = withoutSecrets(given, secrets)
    const masked = redacted || content !== given
    const whole = content.byteLength <= Math.min(limitBytes, left)
    const part = whole ? content : content.subarray(0, left < limitBytes ? 0 : wholeCharacters(content, limitBytes))
    left -= part.byteLength
    const cut = !whole || (content.byteLength === 0 && size > 0)
    const marks = { ...(cut ? { cut: true as const } : {}), ...(masked ? { masked: true as const } : {}) }
    kept.push({ summary: { which, contentType, size, ...marks }, content: part })
  }

  function keepMasked(which: BodyName, contentType: string, content: Uint8Array, change: (value: Json) => Json): void {
    const size = content.byteLength
    const rewritten = size === 0 ? content : rewrite(contentType, content, change)
    add(which, contentType, rewritten ?? NOTHING, size, rewritten !== content)
  }

  const apply = (value: Json): Json => mask?.apply(value, found) ?? value
  const bytes = (value: Json) => Buffer.from(JSON.stringify(value))

  return {
    kept,
    found,
    keep: (which, contentType, content) => {
      if (mask === undefined) add(which, contentType, content, content.byteLength, false)
      else keepMasked(which, contentType, content, apply)
    },
    keepReport: (which, contentType, content) => {
      if (mask === undefined) add(which, contentType, content, content.byteLength, false)
      else keepMasked(which, contentType, content, (value) => scrubTexts(apply(value), found))
    },
    keepValue: (which, value) => {
      const masked = apply(value)
      const content = bytes(masked)
      const size = masked === value ? content.byteLength : bytes(value).byteLength
      add(which, 'application/json', content, size, masked !== value)
    },
  }
}

/** The body with its value changed, as JSON if its type is unknown; undefined if it may hold what `change` does not see. */
function rewrite(contentType: string, content: Uint8Array, change: (value: Json) => Json): Uint8Array | undefined {
  const media = parseMediaType(contentType)
  const codec: Codec = (media && codecOf(media)) ?? CODECS.json
  try {
    return codec.rewrite(content, media?.charset, change)
  } catch {
    return undefined
  }
}

/** The most bytes up to `limit` that do not end within a character of UTF-8. */
function wholeCharacters(content: Uint8Array, limit: number): number {
  let end = limit
  while (end > limit - 4 && end > 0 && ((content[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return end
}
