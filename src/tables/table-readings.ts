/** What the readers of tables answer when a text is no table as a whole. */

import { Unreadable } from '../formats/body-faults.ts'
import type { TableReading } from './table-builder.ts'

export const refuse = (path: string, message: string): TableReading => ({ ok: false, faults: [{ path, message }] })

/** A text that is not JSON, or not UTF-8, has this fault alone. */
export async function refuseUnreadable(read: () => Promise<TableReading>): Promise<TableReading> {
  try {
    return await read()
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    return refuse('', thrown.message)
  }
}
