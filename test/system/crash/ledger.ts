/**
 * What a process said that it wrote, and so what must be there after it was killed. Pure bookkeeping: it knows nothing of
 * stores or HTTP.
 *
 * A register is a name that holds one value, such as an endpoint or one of its states (`<id>` and `<id>/200`). Writes to a
 * register take effect in the order in which they were started, so after a kill it holds the last acknowledged
 * value or one that was started later. Writing ABSENT to a register takes all below it (`<id>/…`) with it.
 */
export const ABSENT = '-'

type Write = { readonly value: string; acknowledged: boolean }

export type Ledger = Readonly<{
  start(operation: string, register: string, value: string): void
  acknowledge(operation: string): void
  registers(): readonly string[]
  /** The values that the register may hold, the last acknowledged one first. */
  possible(register: string): readonly string[]
  /** Takes what was found in every register as the start of the next round. */
  settle(found: ReadonlyMap<string, string>): void
}>

export function createLedger(): Ledger {
  const writes = new Map<string, Write[]>()
  const operations = new Map<string, Write[]>()

  function add(register: string, write: Write): void {
    const list = writes.get(register) ?? [{ value: ABSENT, acknowledged: true }]
    list.push(write)
    writes.set(register, list)
  }

  return {
    start(operation, register, value) {
      const write = { value, acknowledged: false }
      operations.set(operation, [...(operations.get(operation) ?? []), write])
      add(register, write)
      if (value !== ABSENT) return
      for (const below of writes.keys()) if (below.startsWith(`${register}/`)) add(below, write)
    },
    acknowledge(operation) {
      for (const write of operations.get(operation) ?? []) write.acknowledged = true
      operations.delete(operation)
    },
    registers: () => [...writes.keys()],
    possible(register) {
      const list = writes.get(register) ?? []
      const last = list.findLastIndex(({ acknowledged }) => acknowledged)
      return last < 0 ? [ABSENT] : list.slice(last).map(({ value }) => value)
    },
    settle(found) {
      writes.clear()
      operations.clear()
      for (const [register, value] of found) writes.set(register, [{ value, acknowledged: true }])
    },
  }
}
