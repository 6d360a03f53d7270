/** The preconditions of RFC 9110 §13.1: If-Match of a change, If-None-Match of a read. */
import { createHash } from 'node:crypto'
import type { Json } from '../core/json.ts'

/** A strong validator (RFC 9110 §8.8.3): equal exactly if the representations are equal, byte for byte. */
export function computeEtag(representation: Json): string {
  return `"${createHash('sha256').update(JSON.stringify(representation)).digest('base64url')}"`
}

/** In: an If-Match header, `*` or a list of tags. Out: whether it matches the tag of the stored representation. */
export function matchesEtag(ifMatch: string, etag: string): boolean {
  return ifMatch.trim() === '*' || ifMatch.split(',').some((tag) => tag.trim() === etag)
}

/** In: an If-None-Match header, which compares weakly. Out: whether the caller has the representation with this tag. */
export function isKnownEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return tags.includes(etag) || (tags.length === 1 && tags[0] === '*')
}
