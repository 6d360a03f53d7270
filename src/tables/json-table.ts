/**
 * Tables as JSON: `{ "columns": ["code", "fhir"], "rows": [["F", "female"], …] }`, as they are written, or a list of objects. Then the
 * first object names the columns, in its order.
 */
import { isObject, type Json } from '../core/json.ts'
import { quote, readRow, type Table } from '../core/tables/table.ts'
import { divideElements, findRepeatedName } from '../formats/json-elements.ts'
import { parseJson } from '../formats/json-read.ts'
import { decodeText } from '../formats/text.ts'
import { TableBuilder } from './table-builder.ts'
import { article, inOrder, refuse, refuseUnreadable, type TableReading } from './table-reading.ts'

/** In: UTF-8. A row is a list of values or an object by the names of the columns; of a value that it lacks, the cell is empty. */
export async function readJsonTable(bytes: Uint8Array): Promise<TableReading> {
  return refuseUnreadable(async () => {
    const text = decodeText(bytes, undefined)
    const isList = /^\s*\[/.test(text)
    const { rest, elements } = await divideElements(text, isList ? undefined : 'rows')
    const root = parseJson(rest)
    if (elements === undefined || (!isList && !isPlainTable(root))) {
      return refuse(
        '',
        'It must be a list of objects, or an object with the lists "columns" and "rows" and nothing else.',
      )
    }
    const named = isObject(root) ? root.columns : namesOfFirst(elements[0])
    if (typeof named === 'string') return refuse(elements.length === 0 ? '' : '[0]', named)
    const columns = (named as readonly Json[]).map((name) => (typeof name === 'string' ? name : ''))
    const pathTo = (row: number): string => `${isList ? '' : 'rows'}[${row}]`
    const builder = new TableBuilder(columns, { pathTo, expectedBytes: bytes.length })
    for (let row = 0; row < elements.length && !builder.isFull; row += 1) {
      const element = elements[row] as string
      const parsed = parseRow(element)
      const repeated = findRepeatedName(element, parsed)
      const cells = repeated === undefined ? toCells(parsed, columns) : `The row has ${quote(repeated)} twice.`
      if (typeof cells === 'string') builder.fault(pathTo(row), cells)
      else builder.add(cells, row)
      const pause = builder.pause()
      if (pause !== undefined) await pause
    }
    return inOrder(await builder.finish())
  })
}

const isPlainTable = (root: Json): boolean =>
  isObject(root) &&
  Object.keys(root).every((name) => name === 'columns' || name === 'rows') &&
  Array.isArray(root.columns) &&
  Array.isArray(root.rows) &&
  root.rows.length === 0

/** The names, or what is wrong with them. */
function namesOfFirst(element: string | undefined): readonly string[] | string {
  if (element === undefined) return 'The list is empty; send "columns" and "rows", so that the columns have names.'
  const first = parseRow(element)
  if (!isObject(first)) return `The row is ${article(first)}; it must be an object.`
  const names = Object.keys(first)
  // JavaScript puts them before all others: the key would be another column.
  const number = names.find((name) => /^\d+$/.test(name))
  if (number === undefined) return names
  return `The column ${quote(number)} is a number, so that the order of columns is lost; send "columns" and "rows".`
}

/** A row in which numbers are texts as they are written: 250.00 is a code, and not 250. */
function parseRow(text: string): Json {
  if (!/[[:,]\s*[-\d]/.test(text)) return JSON.parse(text)
  return JSON.parse(text, (_name: string, value: Json, context?: { source?: string }) =>
    typeof value === 'number' ? (context?.source ?? String(value)) : value,
  )
}

/** The cells of a row, or what is wrong with it. */
function toCells(row: Json, columns: readonly string[]): readonly string[] | string {
  const isList = Array.isArray(row)
  if (!isList && !isObject(row)) return `The row is ${article(row)}; it must be an object or a list.`
  if (!isList) {
    const unknown = Object.keys(row).find((name) => !columns.includes(name))
    if (unknown !== undefined)
      return `The row has ${quote(unknown)}, which is not a column; the first row, or "columns", names them.`
  }
  const values: readonly Json[] = isList
    ? row
    : columns.map((name) => (Object.hasOwn(row, name) ? (row[name] ?? null) : null))
  const wrong = values.findIndex((value) => typeof value === 'object' && value !== null)
  if (wrong !== -1) {
    const name = quote(columns[wrong] ?? String(wrong))
    return `The value of ${name} is ${article(values[wrong])}; a cell is a text, a number, a boolean or null.`
  }
  return values.map((value) => (value === null ? '' : String(value)))
}

export function* writeJsonTable(table: Table): Generator<string> {
  yield `{"columns":${JSON.stringify(table.columns)},"rows":[`
  for (let row = 0; row < table.size; row += 1) {
    yield `${row === 0 ? '' : ','}\n${JSON.stringify(readRow(table, row))}`
  }
  yield '\n]}\n'
}
