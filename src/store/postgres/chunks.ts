/** Splits rows into chunks of one statement each: a statement is one message to the server, and held in memory as a whole. */

/** In characters. */
export const CHUNK_LIMIT = 4_000_000

/** The size of a row besides its text, in characters. */
export const ROW_SIZE = 1_000

/** All rows in their order. A single row may be larger than the limit. */
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
