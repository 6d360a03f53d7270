/**
 * A table of millions of rows in little memory, as table-layout.ts describes it. No row is an object, so the garbage collector has
 * nothing to visit.
 */
import { crc32 } from 'node:zlib'
import { copyInSlices, SLICE_BYTES, sharedBuffer } from '../core/large-bytes.ts'
import { createPause } from '../core/slice.ts'
import { TABLE_LIMITS, type Table } from '../core/tables/table.ts'
import { cellEnd, contentStart, findKey, readCell, type TableParts, writeCell } from './table-layout.ts'

/** The key that is looked for; a search is synchronous, so that one place is enough. */
const wanted = Buffer.alloc(TABLE_LIMITS.cellBytes + 3)

export class CompactTable implements Table {
  readonly columns: readonly string[]
  readonly size: number
  /** The table as one buffer, which `loadTable` reads without parsing rows again. Must not change. */
  readonly packed: Buffer
  readonly #parts: TableParts

  /** `parts`: those of `packed`. */
  constructor(packed: Buffer, parts: TableParts) {
    this.columns = parts.columns
    this.size = parts.starts.length
    this.packed = packed
    this.#parts = parts
  }

  get bytes(): number {
    return this.packed.byteLength
  }

  get frame(): Buffer {
    return this.#parts.frame
  }

  find(key: string): number {
    if (key.length > TABLE_LIMITS.cellBytes) return -1
    const end = writeCell(wanted, 0, key, TABLE_LIMITS.cellBytes)
    return end === -1 ? -1 : Math.max(-1, findKey(this.#parts, wanted, contentStart(wanted, 0), end))
  }

  cell(row: number, column: number): string {
    const { cells, starts } = this.#parts
    let at = starts[row]
    if (at === undefined || !(column >= 0 && column < this.columns.length)) return ''
    for (let skipped = 0; skipped < column; skipped += 1) at = cellEnd(cells, at)
    return readCell(cells, at)
  }
}

/** Copies the parts of a table into one buffer, and uses that alone. */
export async function packTable(parts: TableParts): Promise<CompactTable> {
  const ordered = partsWithBytes(parts)
  const lengths = ordered.map(({ byteLength }) => byteLength)
  const text = Buffer.from(JSON.stringify({ columns: parts.columns, lengths }))
  const head = Buffer.alloc(Math.ceil(text.length / 4) * 4, ' ')
  text.copy(head)
  const whole = sharedBuffer(lengths.reduce((sum, length) => sum + length, HEAD_AT + head.length))
  whole.write(MAGIC)
  whole.writeUInt32LE(head.length, LENGTH_AT)
  let at = HEAD_AT
  for (const part of [head, ...ordered]) {
    await copyInSlices(part, whole, at)
    at += part.byteLength
  }
  whole.writeUInt32LE(await checksum(whole), CHECKSUM_AT)
  return openTable(whole)
}

/** In the order in which they are written: those of numbers first, at a multiple of 4. */
const partsWithBytes = ({ starts, slots, cells, frame }: TableParts) => [starts, slots, cells, frame] as const

/** Names the format and its version. Numbers are little-endian, as on every processor that the service runs on. */
const MAGIC = 'XWT2'
/** Differs in what it has beside the rows. */
const EARLIER_MAGIC = 'XWT1'
const LENGTH_AT = 4
const CHECKSUM_AT = 8
const HEAD_AT = 12

/**
 * The table that `packTable` made. It uses the memory of `bytes`, which must not change afterwards. Throws an Error if they are
 * damaged or of another version: then the table must be read from its text again.
 */
export async function loadTable(bytes: Uint8Array): Promise<CompactTable> {
  const isAligned = bytes.byteOffset % Uint32Array.BYTES_PER_ELEMENT === 0
  const whole = isAligned ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) : sharedBuffer(bytes.length)
  if (!isAligned) await copyInSlices(bytes, whole, 0)
  const magic = whole.length < HEAD_AT ? '' : whole.toString('latin1', 0, LENGTH_AT)
  if (magic !== MAGIC && magic !== EARLIER_MAGIC) {
    throw new Error('These bytes are not a table, or one of another version.')
  }
  if (whole.readUInt32LE(CHECKSUM_AT) !== (await checksum(whole)))
    throw new Error('The bytes of the table are damaged.')
  const table = openTable(whole)
  if (magic === EARLIER_MAGIC && table.frame.length > 0) throw new Error('An earlier version wrote this ConceptMap.')
  return table
}

/** The table in bytes that nothing has changed. */
export function openTable(whole: Buffer): CompactTable {
  let at = HEAD_AT + whole.readUInt32LE(LENGTH_AT)
  const head: { columns: readonly string[]; lengths: readonly number[] } = JSON.parse(
    whole.toString('utf8', HEAD_AT, at),
  )
  const next = (index: number): Buffer => {
    const start = at
    at += head.lengths[index] ?? 0
    return whole.subarray(start, at)
  }
  const nextNumbers = (index: number): Uint32Array => {
    const part = next(index)
    return new Uint32Array(part.buffer, part.byteOffset, part.length / Uint32Array.BYTES_PER_ELEMENT)
  }
  return new CompactTable(whole, {
    columns: head.columns,
    starts: nextNumbers(0),
    slots: nextNumbers(1),
    cells: next(2),
    frame: next(3),
  })
}

async function checksum(whole: Buffer): Promise<number> {
  const pause = createPause()
  let sum = crc32(whole.subarray(0, CHECKSUM_AT))
  for (let start = HEAD_AT; start < whole.length; start += SLICE_BYTES) {
    sum = crc32(whole.subarray(start, start + SLICE_BYTES), sum)
    await pause()
  }
  return sum
}
