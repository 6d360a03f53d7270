/** What the readers of tables give. */
import { typeName } from '../core/json.ts'
import { TABLE_LIMITS, type TableFault } from '../core/tables/table.ts'
import { Unreadable } from '../formats/body-faults.ts'
import type { CompactTable } from './compact-table.ts'

/** A warning, for example of a code with several targets, refuses nothing. */
export type TableReading =
  | Readonly<{ ok: true; table: CompactTable; warnings: readonly TableFault[] }>
  | Readonly<{ ok: false; faults: readonly TableFault[] }>

export const refuse = (path: string, message: string): TableReading => ({ ok: false, faults: [{ path, message }] })

/** Its faults by their places; the last one, that there are more, stays. */
export const inOrder = (reading: TableReading): TableReading => {
  if (reading.ok) return reading
  const shown = reading.faults.slice(0, TABLE_LIMITS.faults)
  const sorted = shown.sort((one, other) => one.path.localeCompare(other.path, 'en', { numeric: true }))
  return { ok: false, faults: [...sorted, ...reading.faults.slice(TABLE_LIMITS.faults)] }
}

/** A text that is not JSON, or not UTF-8, has this fault alone. */
export async function refuseUnreadable(read: () => Promise<TableReading>): Promise<TableReading> {
  try {
    return await read()
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    return refuse('', thrown.message)
  }
}

/** What a value is, in a sentence. */
export const article = (value: unknown): string => {
  const name = typeName(value)
  if (name === 'null') return name
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`
}
