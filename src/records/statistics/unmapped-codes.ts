/**
 * The codes that messages missed in tables. They are counted in memory, as they stand in records, without what is redacted, and
 * written every second, so that nothing of it is on the path of a message, and the counts of all instances are one list.
 */
import { timeFromId } from '../../core/id.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { MessageRecord } from '../../core/records/message-record.ts'
import type { MissedCode } from '../../core/tables/table-reads.ts'
import type { TableSet } from '../../core/tables/table-set.ts'
import type { TableMiss } from '../../store/sql/messages.ts'
import {
  MAX_MISSING_MESSAGES,
  type Misses,
  type UnmappedCode,
  type UnmappedStore,
} from '../../store/sql/unmapped-store.ts'
import { callStore } from '../../store/store-access.ts'

const WRITE_EVERY_MS = 1_000
/** Codes by endpoint that wait in memory; the others are counted without their code. */
const MAX_UNSAVED = 10_000

const callUnmapped = <T>(work: () => Promise<T>): Promise<T> => callStore('The store of tables', work)

/** Counts the missed codes of this process. */
export class MissCounts {
  readonly #store: Pick<UnmappedStore, 'add'>
  readonly #logger: Logger
  readonly #timer: NodeJS.Timeout
  readonly #totals = new Map<string, number>()
  #unsaved = new Map<string, Misses>()
  #writing: Promise<void> = Promise.resolve()
  #isReported = false

  constructor(store: Pick<UnmappedStore, 'add'>, logger: Logger) {
    this.#store = store
    this.#logger = logger
    this.#timer = setInterval(() => void this.write().catch(() => undefined), WRITE_EVERY_MS).unref()
  }

  /** By table, since the start. */
  get totals(): ReadonlyMap<string, number> {
    return this.#totals
  }

  /** `original`: the message that this one replays, or this one. */
  count(
    { id, endpointId = '', missed = [] }: Pick<MessageRecord, 'id' | 'endpointId' | 'missed'>,
    original = id,
  ): void {
    const at = timeFromId(id)
    for (const one of missed) {
      this.#totals.set(one.table, (this.#totals.get(one.table) ?? 0) + 1)
      this.#add({ ...one, endpointId, count: 1, firstAt: at, lastAt: at, messages: [original] })
    }
  }

  /** Resolves when what was counted is stored. Rejects with StoreUnavailable; it is counted all the same. */
  write(): Promise<void> {
    const next = this.#writing.then(() => this.#write())
    this.#writing = next.catch(() => undefined)
    return next
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.write().catch(() => undefined)
  }

  #add(one: Misses): void {
    const key = JSON.stringify([one.table, one.column, one.code, one.endpointId])
    const known = this.#unsaved.get(key)
    if (known !== undefined) this.#unsaved.set(key, joined(known, one))
    else if (this.#unsaved.size < MAX_UNSAVED || one.column === '') this.#unsaved.set(key, one)
    else this.#add({ ...one, column: '', code: '', endpointId: '', messages: [] })
  }

  async #write(): Promise<void> {
    const misses = [...this.#unsaved.values()]
    if (misses.length === 0) return
    this.#unsaved = new Map()
    try {
      await this.#store.add(misses)
      this.#isReported = false
    } catch (err) {
      for (const one of misses) this.#add(one)
      if (!this.#isReported) this.#logger.warn({ err }, 'Unmapped codes could not be stored; trying again')
      this.#isReported = true
      throw err
    }
  }
}

const joined = (one: Misses, other: Misses): Misses => ({
  ...one,
  count: one.count + other.count,
  firstAt: Math.min(one.firstAt, other.firstAt),
  lastAt: Math.max(one.lastAt, other.lastAt),
  // Ids sort by age.
  messages: [...new Set([...one.messages, ...other.messages])].sort().reverse().slice(0, MAX_MISSING_MESSAGES),
})

/** Those of all instances. */
export type UnmappedList = Readonly<{
  /** Those that were missed most often, first. */
  codes: readonly Readonly<{
    code: string
    column: string
    count: number
    /** ISO 8601. */
    firstAt: string
    lastAt: string
    /** The table has something for it by now; its messages were not replayed yet. */
    filled: boolean
    endpoints: readonly Readonly<{ id: string; name: string; count: number }>[]
    /** Ids of the newest ones, newest first. */
    messages: readonly string[]
  }>[]
  codesInAll: number
  uncounted: number
}>

type UnmappedCodesOptions = Readonly<{
  store: UnmappedStore
  tables: Readonly<{ current: TableSet }>
  /** Of an endpoint that may have been deleted. */
  findName: (endpointId: string) => string | undefined
  /** Resolves when what all processes have counted is stored, or after a timeout. */
  caughtUp: () => Promise<void>
}>

/** Every method fails with STORE_UNAVAILABLE. */
export class UnmappedCodes {
  readonly #options: UnmappedCodesOptions

  constructor(options: UnmappedCodesOptions) {
    this.#options = options
  }

  /** In: the name of a table; `from`: index of the first code. */
  async list(table: string, limit: number, from?: number): Promise<UnmappedList> {
    const { codes, ...sums } = await this.#read((store) => store.list(table, limit, from))
    return { codes: codes.map((one) => this.#describe(table, one)), ...sums }
  }

  /** How many codes each table has nothing for, and how many it has something for by now. */
  async counts(): Promise<(table: string) => Readonly<{ unmapped: number; filled: number }>> {
    await this.#options.caughtUp()
    const codes = await callUnmapped(this.#options.store.codes)
    const byTable = Map.groupBy(codes, ({ table }) => table)
    return (table) => {
      const all = byTable.get(table) ?? []
      const filled = all.filter((one) => this.#isFilled(one)).length
      return { unmapped: all.length - filled, filled }
    }
  }

  /** How many listed misses, of messages, are of these codes. */
  async missesOf(table: string, codes: readonly string[]): Promise<number> {
    return this.#read((store) => store.count(table, codes))
  }

  /** Takes codes from the list; without `codes`, all. */
  async remove(table: string, codes: readonly string[] | undefined): Promise<void> {
    await this.#read((store) => store.remove(table, codes))
  }

  /** Those of these codes that are filled, and were last missed until then, in milliseconds since the epoch: their messages are replayed. */
  async clearReplayed(missed: readonly TableMiss[], until: number): Promise<void> {
    if (missed.length === 0) return
    const named = new Set(missed.map(({ table, code }) => JSON.stringify([table, code])))
    const isNamed = ({ table, code }: MissedCode) =>
      named.has(JSON.stringify([table, undefined])) || named.has(JSON.stringify([table, code]))
    const filled = (await this.#read((store) => store.codes())).filter((one) => isNamed(one) && this.#isFilled(one))
    for (const [table, misses] of Map.groupBy(filled, (one) => one.table)) {
      const codes = misses.map(({ code }) => code)
      await this.#read((store) => store.remove(table, codes, until))
    }
  }

  /** With what was counted until now. */
  #read<T>(work: (store: UnmappedStore) => Promise<T>): Promise<T> {
    return callUnmapped(async () => {
      await this.#options.caughtUp()
      return work(this.#options.store)
    })
  }

  #isFilled({ table: name, column, code }: MissedCode): boolean {
    const table = this.#options.tables.current.get(name)?.table
    return table !== undefined && table.cell(table.find(code), table.columns.indexOf(column)) !== ''
  }

  #describe(table: string, { code, column, count, byEndpoint }: UnmappedCode): UnmappedList['codes'][number] {
    const { messages } = byEndpoint.map((one) => ({ ...one, table, column, code })).reduce(joined)
    return {
      code,
      column,
      count,
      firstAt: new Date(Math.min(...byEndpoint.map(({ firstAt }) => firstAt))).toISOString(),
      lastAt: new Date(Math.max(...byEndpoint.map(({ lastAt }) => lastAt))).toISOString(),
      filled: this.#isFilled({ table, column, code }),
      endpoints: byEndpoint.map(({ endpointId: id, count: own }) => ({
        id,
        name: this.#options.findName(id) ?? id,
        count: own,
      })),
      messages,
    }
  }
}
