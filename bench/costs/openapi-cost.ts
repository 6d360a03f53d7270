/**
 * How long the OpenAPI document of many endpoints takes, and what it does to the messages meanwhile: one client sends
 * messages in slices, in every second of which another reads the document without a pause. Messages of both kinds of
 * slices are compared. `npm run -s bundle && node bin/node.js bench/costs/openapi-cost.ts [endpoints] [pairs] [fields]`:
 * the endpoints differ in name and route only, or with `fields` in the names of their fields too.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { JsonObject } from '../../src/core/json.ts'
import { type LoadResult, startSingleLoad } from '../load/load.ts'
import { register, startCrosswalk } from '../processes/crosswalk.ts'
import { spreadOf } from '../report/spread.ts'
import { flat } from '../workloads/flat.ts'

const [endpoints = 10_000, pairs = 5] = process.argv.slice(2, 4).map(Number)
const hasOwnFields = process.argv[4] === 'fields'
const SLICE_MS = 3_000
const AT_ONCE = 1_000

const server = await startCrosswalk('server', { MAX_ENDPOINTS: String(endpoints + 1) })
const url = await register(server, flat.document({ origin: '' }))
const { name: _name, endpoint: _endpoint, ...document } = flat.document({ origin: '' })
const documentOf = (number: number): JsonObject => {
  const own = hasOwnFields ? String(number) : ''
  return {
    ...document,
    name: `described ${number}`,
    endpoint: { pattern: `/described/${number}/:id` },
    inputMapping: Object.fromEntries(Object.entries(flat.mapping).map(([path, target]) => [path + own, target + own])),
    inputValidation: {
      type: 'object',
      required: [`id${own}`],
      properties: {
        [`id${own}`]: { type: 'string' },
        [`name${own}`]: { type: 'string', minLength: 1 },
        [`born${own}`]: { type: 'string', format: 'date' },
      },
    },
  }
}
for (let from = 0; from < endpoints; from += AT_ONCE) {
  const operations = Array.from({ length: Math.min(AT_ONCE, endpoints - from) }, (_, index) => ({
    op: 'create',
    document: documentOf(from + index),
  }))
  const stored = await fetch(`${server.origin}/endpoints/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ operations }),
  })
  if (!stored.ok) throw new Error(await stored.text())
}

const load = { url, contentType: flat.contentType, body: flat.message }
async function during(work: () => Promise<unknown>): Promise<LoadResult> {
  await using running = startSingleLoad(load)
  await work()
  return await running.stop()
}

const reads: number[] = []
let bytes = 0
async function readAll(): Promise<void> {
  const until = performance.now() + SLICE_MS
  while (performance.now() < until) {
    const startedAt = performance.now()
    const reply = await fetch(`${server.origin}/endpoints/openapi.json`)
    bytes = (await reply.arrayBuffer()).byteLength
    reads.push(performance.now() - startedAt)
  }
}

await during(() => pause(SLICE_MS))
const results = { without: [] as LoadResult[], with: [] as LoadResult[] }
for (let pair = 0; pair < pairs; pair += 1) {
  results.without.push(await during(() => pause(SLICE_MS)))
  results.with.push(await during(readAll))
}
const spreadText = (values: readonly number[], unit: string): string => {
  const { median, min, max } = spreadOf(values)
  return `${median.toFixed(2)} ${unit} (${min.toFixed(2)} to ${max.toFixed(2)})`
}
console.log(
  `the document of ${endpoints} endpoints, ${(bytes / 1024 / 1024).toFixed(1)} MiB: ${spreadText(reads, 'ms')}`,
)
for (const [which, all] of Object.entries(results)) {
  const of = (key: 'p50Ms' | 'p99Ms' | 'maxMs') =>
    spreadText(
      all.map((one) => one[key]),
      'ms',
    )
  console.log(`messages ${which} it: p50 ${of('p50Ms')}, p99 ${of('p99Ms')}, longest ${of('maxMs')}`)
}
await server.stop()
