/**
 * The records of a CSV (RFC 4180), one after the other, each with its line. The codec of messages reads a whole body and throws at
 * the first fault; here, reading goes on behind a fault, and never holds more than a part of the text as objects.
 */
import { detectDelimiter, QUOTE_FAULTS } from '../formats/csv-codec.ts'

/** `line`: where it begins, from 1. `fault`: why it cannot be read, as a sentence; it has no cells then. */
export type CsvRecord = Readonly<{ cells: readonly string[]; line: number; fault?: string }>

/** A first line `sep=|` names any delimiter. */
const NAMED_DELIMITER = /^sep=(.)(?:\r\n|[\r\n]|$)/

/** What is decoded at once: little for the garbage collector to keep, and few records that are read twice. */
const BLOCK_BYTES = 262_144
/** Characters of the longest record. */
const MAX_RECORD = 2_500_000

const [QUOTE, CR, LF] = [0x22, 0x0d, 0x0a]

export class CsvRecords {
  readonly #bytes: Uint8Array
  readonly #decoder = new TextDecoder()
  #decodedBytes = 0
  /** What is decoded; records were read up to `#at`. */
  #text = ''
  #at = 0
  #line = 1
  readonly #delimiter: number

  /** `bytes`: valid UTF-8, with or without a byte order mark. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#decode()
    const named = NAMED_DELIMITER.exec(this.#text)
    if (named !== null) this.#at = named[0].length
    if (named !== null) this.#line += 1
    this.#delimiter = (named?.[1] ?? detectDelimiter(this.#text)).charCodeAt(0)
  }

  /** Blank lines are no records. Out: undefined at the end. */
  next(): CsvRecord | undefined {
    for (;;) {
      const [start, line] = [this.#at, this.#line]
      const record = this.#read()
      const isWhole = this.#at < this.#text.length && record?.fault === undefined
      if (isWhole || this.#text.length - start > MAX_RECORD || this.#decodedBytes === this.#bytes.length) return record
      // What is decoded later may belong to it.
      this.#at = start
      this.#line = line
      this.#decode()
    }
  }

  #read(): CsvRecord | undefined {
    while (this.#isLineEnd()) this.#skipLineEnd()
    if (this.#at === this.#text.length) return undefined
    const line = this.#line
    const start = this.#at
    const cells: string[] = []
    for (;;) {
      const fault = this.#text.charCodeAt(this.#at) === QUOTE ? this.#readQuoted(cells) : this.#readPlain(cells)
      if (fault !== undefined) return this.#skipFaulty(start, line, fault)
      if (this.#text.charCodeAt(this.#at) !== this.#delimiter) break
      this.#at += 1
    }
    this.#skipLineEnd()
    return { cells, line }
  }

  /** A further block, behind what is not read yet. */
  #decode(): void {
    const block = this.#bytes.subarray(this.#decodedBytes, this.#decodedBytes + BLOCK_BYTES)
    this.#decodedBytes += block.length
    this.#text = this.#text.slice(this.#at) + this.#decoder.decode(block, { stream: true })
    this.#at = 0
  }

  #readPlain(cells: string[]): string | undefined {
    const start = this.#at
    for (; this.#at < this.#text.length; this.#at += 1) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === this.#delimiter || code === LF || code === CR) break
      if (code === QUOTE) return QUOTE_FAULTS.INVALID_OPENING_QUOTE
    }
    cells.push(this.#text.slice(start, this.#at))
    return undefined
  }

  #readQuoted(cells: string[]): string | undefined {
    const start = this.#at + 1
    let end = this.#text.indexOf('"', start)
    while (end !== -1 && this.#text.charCodeAt(end + 1) === QUOTE) end = this.#text.indexOf('"', end + 2)
    if (end === -1 || end - start > MAX_RECORD) return QUOTE_FAULTS.CSV_QUOTE_NOT_CLOSED
    this.#at = end + 1
    if (this.#at < this.#text.length && this.#text.charCodeAt(this.#at) !== this.#delimiter && !this.#isLineEnd()) {
      return QUOTE_FAULTS.CSV_INVALID_CLOSING_QUOTE
    }
    const written = this.#text.slice(start, end)
    this.#line += written.match(/\r\n|[\r\n]/g)?.length ?? 0
    cells.push(written.replaceAll('""', '"'))
    return undefined
  }

  /** Goes on in the next line, since it is not known where the record was to end. */
  #skipFaulty(start: number, line: number, fault: string): CsvRecord {
    this.#line = line
    this.#at = start
    while (this.#at < this.#text.length && !this.#isLineEnd()) this.#at += 1
    this.#skipLineEnd()
    return { cells: [], line, fault: `The row cannot be read: ${fault}.` }
  }

  #isLineEnd(): boolean {
    const code = this.#text.charCodeAt(this.#at)
    return code === LF || code === CR
  }

  #skipLineEnd(): void {
    if (!this.#isLineEnd()) return
    this.#at += this.#text.startsWith('\r\n', this.#at) ? 2 : 1
    this.#line += 1
  }
}
