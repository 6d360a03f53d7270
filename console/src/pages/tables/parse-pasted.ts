/** Rows as spreadsheets put them on the clipboard: a line each, tabs between cells, quotes around cells with either. */

/** The cells of each line that is not empty. */
export function parsePasted(text: string): readonly (readonly string[])[] {
  const rows: string[][] = [[]]
  // A cell and what ends it; a quoted one has two quotes for each of its own.
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^\t\r\n]*))(\t|\r?\n|\r|$)/g)) {
    rows.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === '') break
    if (end !== '\t') rows.push([])
  }
  return rows.filter((cells) => cells.some((cell) => cell !== ''))
}

/**
 * Rows by the names of the columns: those of the first line, if it names the key column, else in their order. A cell beyond the
 * columns has a name that the table does not have, so that the service refuses it with its row.
 */
export function toRows(lines: readonly (readonly string[])[], columns: readonly string[]): Record<string, string>[] {
  const [key = ''] = columns
  const [first = []] = lines
  const hasHeader = first.includes(key)
  const names = hasHeader ? first : columns
  return (hasHeader ? lines.slice(1) : lines).map((cells) =>
    Object.fromEntries(cells.map((cell, index) => [names[index] ?? `column ${index + 1}`, cell])),
  )
}
