/** One version of a table, immutable. Cells are texts; the first column is the key, whose texts all differ. */
export type Table = Readonly<{
  columns: readonly string[]
  /** Rows. */
  size: number
  /** Of memory. */
  bytes: number
  /** The index of the row with this key, or -1. */
  find(key: string): number
  /** '' where nothing is. */
  cell(row: number, column: number): string
}>
