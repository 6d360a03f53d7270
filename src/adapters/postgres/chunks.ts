/** Rows in the portions of a statement each: that is one message to the server, and one text in memory before. */

/** In characters. */
export const CHUNK_LIMIT = 4_000_000

/** What a row takes besides its text. */
const ROW_SIZE = 1_000

/** All rows in their order; one alone may be larger than the limit. */
export function* chunksOf<Row>(rows: Iterable<Row>, charactersOf: (row: Row) => number): Generator<readonly Row[]> {
  let chunk: Row[] = []
  let size = 0
  for (const row of rows) {
    const more = charactersOf(row) + ROW_SIZE
    if (chunk.length > 0 && size + more > CHUNK_LIMIT) {
      yield chunk
      chunk = []
      size = 0
    }
    chunk.push(row)
    size += more
  }
  if (chunk.length > 0) yield chunk
}
