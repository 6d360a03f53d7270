/** Tables as CSV (RFC 4180), as programs and people write it. */
import { isUtf8 } from 'node:buffer'
import { letOthersRun } from '../core/slice.ts'
import { findColumnFaults, readRow, type Table, type TableFault } from '../core/tables/table.ts'
import { CsvRecords } from './csv-records.ts'
import { TableBuilder } from './table-builder.ts'
import { inOrder, refuse, type TableReading } from './table-reading.ts'

/**
 * In: UTF-8. The first line has the names of the columns. Blank lines are skipped, and rows of empty values too, which
 * spreadsheets write behind the last row.
 */
export async function readCsvTable(bytes: Uint8Array): Promise<TableReading> {
  const notText = await findBytesBeyondText(bytes)
  if (notText !== undefined) return { ok: false, faults: [notText] }
  const records = new CsvRecords(bytes)
  const header = records.next()
  if (header === undefined) return refuse('', 'The CSV is empty; its first line must have the names of the columns.')
  if (header.fault !== undefined) return refuse(pathTo(header.line), header.fault)
  const columnsPath = pathTo(header.line)
  if (header.cells.length === 1) return refuse(columnsPath, `${findColumnFaults(header.cells)[0]} ${OTHER_DELIMITER}`)
  const builder = new TableBuilder(header.cells, { pathTo, columnsPath, expectedBytes: bytes.length })
  for (let record = records.next(); record !== undefined && !builder.isFull; record = records.next()) {
    if (record.fault !== undefined) builder.fault(pathTo(record.line), record.fault)
    else if (record.cells.some((cell) => cell !== '')) builder.add(record.cells, record.line)
    const pause = builder.pause()
    if (pause !== undefined) await pause
  }
  return inOrder(await builder.finish())
}

const OTHER_DELIMITER =
  'If they are divided by something else than commas, semicolons or tabs, name it in a line before the first one, such as "sep=|".'

const pathTo = (line: number): string => `line ${line}`

const HOW_TO_SAVE = 'in the spreadsheet program, choose "Save as" and the type "CSV UTF-8", and send that file'

const NOT_TEXT = `The line is not text in UTF-8: ${HOW_TO_SAVE}.`

/** How files of spreadsheet programs begin: ZIP, and the compound files before. */
const WORKBOOK_SIGNATURES = ['504b0304', 'd0cf11e0']

const LF = 0x0a
const CR = 0x0d
const SLICE_BYTES = 1_048_576

async function findBytesBeyondText(bytes: Uint8Array): Promise<TableFault | undefined> {
  if (WORKBOOK_SIGNATURES.includes(Buffer.from(bytes.subarray(0, 4)).toString('hex'))) {
    return { path: '', message: `This is a workbook (XLSX or XLS), not CSV: ${HOW_TO_SAVE}.` }
  }
  const isText = (part: Uint8Array): boolean => isUtf8(part) && !part.includes(0)
  for (let start = 0, end = 0; start < bytes.length; start = end) {
    end = Math.min(start + SLICE_BYTES, bytes.length)
    // Not within a character.
    while (end < bytes.length && (bytes[end] as number) >> 6 === 2) end += 1
    if (!isText(bytes.subarray(start, end))) return { path: pathTo(findLine(bytes, isText)), message: NOT_TEXT }
    await letOthersRun()
  }
  return undefined
}

/** The first line that is not so. */
function findLine(bytes: Uint8Array, isRight: (part: Uint8Array) => boolean): number {
  let [line, start] = [1, 0]
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] !== LF && bytes[at] !== CR) continue
    if (!isRight(bytes.subarray(start, at))) break
    if (bytes[at] === LF || bytes[at + 1] !== LF) line += 1
    start = at + 1
  }
  return line
}

export function* writeCsvTable(table: Table): Generator<string> {
  yield writeLine(table.columns, /[",;]/)
  for (let row = 0; row < table.size; row += 1) yield writeLine(readRow(table, row), /[",\r\n]/)
}

/** In the names of columns, semicolons are quoted too, so that they are not taken for the delimiter. */
function writeLine(values: readonly string[], special: RegExp): string {
  return `${values.map((value) => (special.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join()}\r\n`
}
