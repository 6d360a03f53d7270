/**
 * Large tables are read and changed on a thread of their own, so that messages go on: they wait neither for that work nor for the
 * garbage collector, which visits what it leaves.
 */
import { once } from 'node:events'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Failure } from '../core/failure.ts'
import { isObject, type Json } from '../core/json.ts'
import type { Table, TableFault } from '../core/tables/table.ts'
import { CompactTable, openTable } from './compact-table.ts'
import { changeRows, type RowChanges } from './table-builder.ts'
import { TABLE_FORMATS, type TableFormat } from './table-formats.ts'
import type { TableReading } from './table-reading.ts'

/** What the thread does: reads a text in the format of a media type, or changes rows of a table. */
export type TableTask = Readonly<
  | { bytes: Uint8Array; mediaType: string }
  | { packed: Uint8Array; changes: RowChanges; indexes?: readonly number[] | undefined }
>

/** The table as `openTable` takes it. */
export type TableReply =
  | Readonly<{ ok: true; packed: Uint8Array; warnings: readonly TableFault[] }>
  | Extract<TableReading, { ok: false }>

/** Starting the thread takes longer than to read so little. */
const MIN_BYTES = 1_048_576

/** As `format.read`. Takes `bytes` away from its caller, so that the memory is free as soon as they are read. */
export function readTable({ mediaType, read }: TableFormat, bytes: Uint8Array<ArrayBuffer>): Promise<TableReading> {
  return bytes.length < MIN_BYTES ? read(bytes) : runOnThread({ bytes, mediaType }, [bytes.buffer])
}

/** A table that stands in JSON: as CSV in a text, else as its JSON or a FHIR ConceptMap. `text`: of the value, with numbers as they are written. */
export async function readTableValue(value: Json, text?: string): Promise<TableReading> {
  if (typeof value === 'string') return readTable(TABLE_FORMATS.csv, Buffer.from(value))
  const isMap = isObject(value) && value.resourceType === 'ConceptMap'
  return readTable(TABLE_FORMATS[isMap ? 'conceptMap' : 'json'], Buffer.from(text ?? JSON.stringify(value)))
}

/** As `changeRows`. */
export function changeTable(table: Table, changes: RowChanges, indexes?: readonly number[]): Promise<TableReading> {
  const isLarge = table instanceof CompactTable && table.bytes >= MIN_BYTES
  return isLarge ? runOnThread({ packed: table.packed, changes, indexes }) : changeRows(table, changes, indexes)
}

/** In the folder of this file, in the source as in the bundle. */
const WORKER = new URL(`table-worker${extname(import.meta.url)}`, import.meta.url)

function refuseBeyondMemory(thrown: NodeJS.ErrnoException): never {
  if (thrown.code !== 'ERR_WORKER_OUT_OF_MEMORY') throw thrown
  const message =
    'Reading the table takes more memory than the process has; divide the table, or give the process more.'
  throw new Failure('TABLES_FULL', message)
}

let last: Promise<unknown> = Promise.resolve()

/** One after the other, so that no more than one processor is busy with it. */
function runOnThread(task: TableTask, transferList: ArrayBuffer[] = []): Promise<TableReading> {
  const reading = last.then(async () => {
    const worker = new Worker(WORKER, { workerData: task, transferList, env: {} })
    const ended = once(worker, 'exit').then(() => {
      throw new Error('The thread of tables ended without an answer.')
    })
    const answered = once(worker, 'message') as Promise<[TableReply]>
    const [reply] = await Promise.race([answered, ended]).catch(refuseBeyondMemory)
    if (!reply.ok) return reply
    const { buffer, byteOffset, byteLength } = reply.packed
    return { ...reply, table: openTable(Buffer.from(buffer, byteOffset, byteLength)) }
  })
  // Keeps no table in memory.
  const end = (): void => undefined
  last = reading.then(end, end)
  return reading
}
