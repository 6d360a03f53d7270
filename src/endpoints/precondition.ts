/** The preconditions of RFC 9110 §13.1: If-Match of a change, If-None-Match of a read, and changes that have none. */
import { createHash } from 'node:crypto'
import { Failure } from '../core/failure.ts'
import type { Json } from '../core/json.ts'
import { StoreUnavailable } from '../core/ports/store-port.ts'

/** A strong validator (RFC 9110 §8.8.3): equal exactly if the representations are equal, byte for byte. */
export function etagOf(representation: Json): string {
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

/** Of instances that change one endpoint at once, one succeeds in each round, so all of them finish. */
const MOST_ATTEMPTS = 50

/**
 * Repeats `work` when another instance has changed the endpoint in between: a request without If-Match matches any
 * version. Rejects with StoreUnavailable after 50 conflicts.
 */
export async function retryOnConflict<T>(ifMatch: string | undefined, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (thrown) {
      const isConflict = thrown instanceof Failure && thrown.kind.stale === true
      if (ifMatch !== undefined || !isConflict) throw thrown
      if (attempt === MOST_ATTEMPTS) throw new StoreUnavailable('Too many conflicting changes.', { cause: thrown })
    }
  }
}
