/** Cursors of lists that are read page by page. A cursor names the last id of a page. */
import { Failure } from '../failure.ts'
import { isId } from '../id.ts'

/** Opaque to callers, so that it may come to hold more. */
const cursorOf = (id: string): string => Buffer.from(id, 'hex').toString('base64url')

function idOf(cursor: string): string | undefined {
  const id = Buffer.from(cursor, 'base64url').toString('hex')
  return isId(id) && cursorOf(id) === cursor ? id : undefined
}

/**
 * In: the values of the query parameter `cursor`. Out: the id at which the previous page ended; undefined if there are no
 * values. Fails with FILTER_INVALID.
 */
export function readCursor(texts: readonly string[] | undefined): string | undefined {
  if (texts === undefined) return undefined
  const [text = '', ...more] = texts
  const id = more.length === 0 ? idOf(text) : undefined
  if (id !== undefined) return id
  throw new Failure(
    'FILTER_INVALID',
    'cursor must be what an earlier page gave as "next"; leave it out for the first page.',
  )
}

/** In: what was found, read one beyond `limit`. Out: the page; `next`: the cursor of the page after it, if there is one. */
export function pageOf<T extends Readonly<{ id: string }>>(
  found: readonly T[],
  limit: number,
): Readonly<{ page: readonly T[]; next?: string }> {
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return last === undefined || found.length <= limit ? { page } : { page, next: cursorOf(last.id) }
}
