/** The thread that reads or changes one large table. */
import { parentPort, workerData } from 'node:worker_threads'
import { openTable } from './compact-table.ts'
import { changeRows } from './table-builder.ts'
import { TABLE_FORMATS, type TableFormat } from './table-formats.ts'
import type { TableReading } from './table-reading.ts'
import type { TableReply, TableTask } from './table-thread.ts'

const toBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength)

function run(task: TableTask): Promise<TableReading> {
  if ('changes' in task) return changeRows(openTable(toBuffer(task.packed)), task.changes, task.indexes)
  const formats: readonly TableFormat[] = Object.values(TABLE_FORMATS)
  const format = formats.find(({ mediaType }) => mediaType === task.mediaType)
  if (format === undefined) throw new Error(`There is no format ${task.mediaType}.`)
  return format.read(toBuffer(task.bytes))
}

const toReply = (reading: TableReading): TableReply =>
  reading.ok ? { ok: true, packed: reading.table.packed, warnings: reading.warnings } : reading

void run(workerData as TableTask).then((reading) => parentPort?.postMessage(toReply(reading)))
