/** Cursors of lists that are read page by page. A cursor names the last id of a page. */
import { Failure } from '../failure.ts'
import { isId } from '../id.ts'
import { described, noted, text } from '../schema.ts'

/** Opaque to callers, so that it may hold more later. */
const encodeCursor = (id: string): string => Buffer.from(id, 'hex').toString('base64url')

function decodeCursor(cursor: string): string | undefined {
  const id = Buffer.from(cursor, 'base64url').toString('hex')
  return isId(id) && encodeCursor(id) === cursor ? id : undefined
}

/** The query parameter. */
export const cursor = noted(described(text, '`next` of the page before.'), {
  is: (written) => decodeCursor(written) !== undefined,
  fault: 'cursor must be what an earlier page gave as "next"; leave it out for the first page.',
})

/** The id at which the page before ended. */
export const readCursor = (written: string | undefined): string | undefined =>
  written === undefined ? undefined : decodeCursor(written)

/** A number in place of an id, for rows that are in another order than their ids: the cursor outlives the row. */
export const idFromPosition = (position: number): string => position.toString(16).padStart(24, '0')

/** Above all positions for a cursor of another list. */
export const positionFromId = (id: string): number => Math.min(Number.parseInt(id, 16), Number.MAX_SAFE_INTEGER)

/** In: what was found, read one beyond `limit`. Out: the page; `next`: the cursor of the page after it, if there is one. */
export function cutPage<T extends Readonly<{ id: string }>>(
  found: readonly T[],
  limit: number,
  idOf = ({ id }: T): string => id,
): Readonly<{ page: readonly T[]; next?: string }> {
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return last === undefined || found.length <= limit ? { page } : { page, next: encodeCursor(idOf(last)) }
}

/** Where a page of a sorted list ended: the sort, the key of its last row, and the id of that row. */
export type SortPosition = Readonly<{ sort: string; key: string; id: string }>

const MAX_CURSOR_CHARACTERS = 4_000

/** The cursor stays right if rows before it are added, renamed or removed meanwhile, since it holds a key and no count. */
export const encodePosition = ({ sort, key, id }: SortPosition): string =>
  Buffer.from(JSON.stringify([sort, key, id])).toString('base64url')

/** Where the page before ended. Fails with FILTER_INVALID, also for a cursor of another sort. */
export function decodePositionCursor(written: string | undefined, sort: string): SortPosition | undefined {
  if (written === undefined) return undefined
  const position = written.length <= MAX_CURSOR_CHARACTERS ? decodePosition(written) : undefined
  if (position?.sort === sort) return position
  throw new Failure('FILTER_INVALID', POSITION_CURSOR_FAULT)
}

export const POSITION_CURSOR_FAULT =
  'cursor must be what an earlier page of the same sort gave as "next"; leave it out for the first page.'

function decodePosition(text: string): SortPosition | undefined {
  try {
    const [sort, key, id] = JSON.parse(Buffer.from(text, 'base64url').toString()) as readonly unknown[]
    const isPosition = typeof sort === 'string' && typeof key === 'string' && typeof id === 'string' && isId(id)
    return isPosition ? { sort, key, id } : undefined
  } catch {
    return undefined
  }
}
