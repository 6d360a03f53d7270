/**
 * What a table of codes costs beside a plain Map of objects: the time to read it from CSV, the memory that it keeps, a lookup, and how
 * long others wait meanwhile. Times are of the processor, since other work of the machine makes those of the clock longer; both are
 * shown for reading. `node bin/node.js --expose-gc bench/costs/tables-cost.ts <rows, 1000000> <table | map | both>`.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Table } from '../../src/core/tables/table.ts'
import { type CompactTable, loadTable } from '../../src/tables/compact-table.ts'
import { readCsvTable } from '../../src/tables/csv-table.ts'

const [rows = 1_000_000, which = 'both'] = [Number(process.argv[2] ?? 1_000_000), process.argv[3]]
const LOOKUPS = 1_000_000
const MB = 1_048_576

/** As concepts of a terminology have: a code, an id, a vocabulary, whether it is standard, a target. */
const codeAt = (row: number): string => `${(row * 7_919) % 1_000_003}-${row}`

function writeCsv(): Buffer {
  const parts: Buffer[] = [Buffer.from('code,conceptId,vocabulary,standard,target\n')]
  let text = ''
  for (let row = 0; row < rows; row += 1) {
    text += `${codeAt(row)},${30_000_000 + row},${['LOINC', 'SNOMED', 'ICD10CM', 'RxNorm'][row % 4]},${row % 3 === 0 ? 'S' : ''},${40_000_000 + row}\n`
    if (text.length > MB || row === rows - 1) {
      parts.push(Buffer.from(text))
      text = ''
    }
  }
  return Buffer.concat(parts)
}

/** Memory of the process that is in use, after garbage collection. */
function usedBytes(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  // `external` lacks memory that threads share.
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Microseconds of the processor for each code. */
function costOf(find: (code: string) => string | undefined, codes: readonly string[], isFound: boolean): string {
  const startedAt = cpuMs()
  let found = 0
  for (const code of codes) if (find(code) !== undefined) found += 1
  const cost = ((cpuMs() - startedAt) * 1_000) / codes.length
  if (found !== (isFound ? codes.length : 0)) throw new Error(`${found} of ${codes.length} were found.`)
  return cost.toFixed(2)
}
const megabytes = (bytes: number): string => `${(bytes / MB).toFixed(0)} MB`

async function measure(name: string, build: () => Promise<(code: string) => string | undefined>): Promise<void> {
  const before = usedBytes()
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const startedAt = { clock: performance.now(), cpu: cpuMs() }
  const find = await build()
  const took = `${seconds(performance.now() - startedAt.clock)} (${seconds(cpuMs() - startedAt.cpu)} of the processor)`
  delay.disable()
  const kept = usedBytes() - before
  const codes = Array.from({ length: LOOKUPS }, (_, index) => codeAt((index * 104_729) % rows))
  const missing = Array.from({ length: LOOKUPS }, (_, index) => `-${index}`)
  console.log(
    `${name}: ${rows} rows in ${took}, ${megabytes(kept)} kept, ${costOf(find, codes, true)} µs a lookup, ` +
      `${costOf(find, missing, false)} µs a miss, others waited ${(delay.max / 1e6).toFixed(0)} ms at most`,
  )
}

const finder = (table: Table) => (code: string) => {
  const row = table.find(code)
  return row === -1 ? undefined : table.cell(row, 4)
}

const csv = writeCsv()
console.log(`CSV: ${megabytes(csv.length)}`)
if (which !== 'map') {
  const read = async (): Promise<CompactTable> => {
    const reading = await readCsvTable(csv)
    if (!reading.ok) throw new Error(JSON.stringify(reading.faults))
    return reading.table
  }
  await measure('table', async () => finder(await read()))
  const bytes = (await read()).packed
  await measure('table from its bytes', async () => finder(await loadTable(bytes)))
}
if (which !== 'table') {
  await measure('Map', async () => {
    const lines = csv.toString().split('\n')
    const map = new Map<string, string[]>()
    for (let row = 1; row <= rows; row += 1) {
      const cells = (lines[row] as string).split(',')
      map.set(cells[0] as string, cells)
    }
    return (code) => map.get(code)?.[4]
  })
}
console.log(`at most ${megabytes(process.resourceUsage().maxRSS * 1_024)} of the process`)
