/** How a table lies in memory: cells as bytes with their length before them, and an index of the keys by their hashes. */

/** What a table consists of. */
export type TableParts = Readonly<{
  columns: readonly string[]
  /** Where each row begins in `cells`. */
  starts: Uint32Array
  /** The index: of a key the lower 8 bits of its hash and its row + 1, at the slot of its hash or behind it; 0 for none. */
  slots: Uint32Array
  /** UTF-8. */
  cells: Buffer
  /** As concept-map-table.ts describes it, empty for none. */
  frame: Buffer
}>

/** The bits of a slot that are the row; `TABLE_LIMITS.rows` fits. */
const ROW_BITS = 24
const ROW_MASK = 2 ** ROW_BITS - 1

/** Of a cell longer than that, two more bytes have the length. */
const LONG = 0xff

export const prefixBytes = (length: number): number => (length < LONG ? 1 : 3)

/** Where the bytes of the cell at `at` begin. */
export const contentStart = (cells: Uint8Array, at: number): number => at + (cells[at] === LONG ? 3 : 1)

/** Where the cell at `at` ends, and the next one of its row begins. */
export function cellEnd(cells: Uint8Array, at: number): number {
  const length = cells[at] as number
  return length === LONG ? at + 3 + (cells[at + 1] as number) + (cells[at + 2] as number) * 256 : at + 1 + length
}

/** Writes a text as a cell, for which there must be space. Out: where the next one begins; -1 for a text that is no cell. */
export function writeCell(cells: Buffer, at: number, text: string, maxBytes: number): number {
  const length = text.length
  if (length < LONG) {
    let index = 0
    for (let code = text.charCodeAt(0); index < length && code > 0 && code < 0x80; code = text.charCodeAt(++index)) {
      cells[at + 1 + index] = code
    }
    if (index === length) {
      cells[at] = length
      return at + 1 + length
    }
  }
  const bytes = Buffer.byteLength(text)
  if (bytes > maxBytes || text.includes('\0') || !text.isWellFormed()) return -1
  const prefix = prefixBytes(bytes)
  cells[at] = bytes
  if (prefix > 1) cells.set([LONG, bytes % 256, bytes >> 8], at)
  cells.write(text, at + prefix)
  return at + prefix + bytes
}

/** Below this, a loop is faster than a call of Buffer. */
const SHORT_BYTES = 24

export function readCell(cells: Buffer, at: number): string {
  const start = contentStart(cells, at)
  const end = cellEnd(cells, at)
  if (end - start > SHORT_BYTES) return cells.toString('utf8', start, end)
  let text = ''
  for (let index = start; index < end; index += 1) {
    const code = cells[index] as number
    if (code >= 0x80) return cells.toString('utf8', start, end)
    text += String.fromCharCode(code)
  }
  return text
}

/** FNV-1a, then the last step of MurmurHash3, which spreads it over all 32 bits. */
export function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** Slots for so many rows: a third stays empty, so that a search ends soon. */
export const slotCount = (rows: number): number => Math.ceil(rows * 1.5) + 1

/** The row whose key has these bytes, or ~ of the empty slot where the search ended. */
export function findKey(parts: TableParts, bytes: Uint8Array, start: number, end: number): number {
  const { cells, slots, starts } = parts
  const hash = hashBytes(bytes, start, end)
  const tag = tagFrom(hash)
  // The upper bits decide, so that any number of slots does. The tag is of the lower ones.
  for (let slot = Math.floor((hash / 2 ** 32) * slots.length); ; slot = slot + 1 === slots.length ? 0 : slot + 1) {
    const entry = slots[slot] as number
    if (entry === 0) return ~slot
    if (entry >>> ROW_BITS !== tag) continue
    const row = (entry & ROW_MASK) - 1
    const at = starts[row] as number
    const keyStart = contentStart(cells, at)
    if (cellEnd(cells, at) - keyStart === end - start && areEqual(cells, keyStart, bytes, start, end)) return row
  }
}

const tagFrom = (hash: number): number => hash & 0xff

function areEqual(one: Uint8Array, oneStart: number, other: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (one[oneStart + at - start] !== other[at]) return false
  return true
}

/** Adds the key of a row to the index. Out: -1, or the earlier row that has this key. */
export function indexRow(parts: TableParts, row: number): number {
  const { cells, slots, starts } = parts
  const at = starts[row] as number
  const start = contentStart(cells, at)
  const end = cellEnd(cells, at)
  const found = findKey(parts, cells, start, end)
  if (found >= 0) return found
  slots[~found] = ((tagFrom(hashBytes(cells, start, end)) << ROW_BITS) | (row + 1)) >>> 0
  return -1
}
