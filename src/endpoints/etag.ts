import { createHash } from 'node:crypto'
import type { Json } from '../domain/json.ts'

/** A strong validator (RFC 9110 §8.8.3): equal exactly where the representations are equal, byte for byte. */
export function etagOf(representation: Json): string {
  return `"${createHash('sha256').update(JSON.stringify(representation)).digest('base64url')}"`
}

/** Whether an If-Match header holds for a stored representation: `*`, or a list of tags compared strongly (RFC 9110 §13.1.1). */
export function matchesEtag(condition: string, etag: string): boolean {
  return condition.trim() === '*' || condition.split(',').some((tag) => tag.trim() === etag)
}
