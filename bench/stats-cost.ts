/** What counting costs each message, in microseconds: `node bin/node.js bench/stats-cost.ts`. */
import { startTrace } from '../src/domain/trace.ts'
import type { Compiled } from '../src/registry/registry.ts'
import { createMinutes } from '../src/registry/stats/minutes.ts'

const ROUNDS = 15
const MESSAGES = 1_000_000
const ENDPOINTS = 100

const minutes = createMinutes()
const start = Date.now()
const finished = Array.from({ length: 1_000 }, (_, n) => ({
  compiled: { document: { _id: (n % ENDPOINTS).toString(16).padStart(24, '0') } } as Compiled,
  outcome: n % 10 === 0 ? ('failed' as const) : ('done' as const),
  startedAt: start + n,
  ms: 0.05 * 1.01 ** n,
  trace: startTrace(),
}))

const rounds = Array.from({ length: ROUNDS }, () => {
  const before = performance.now()
  for (let n = 0; n < MESSAGES; n += 1) minutes.count(finished[n % 1_000] as (typeof finished)[number])
  return ((performance.now() - before) * 1_000) / MESSAGES
}).sort((one, other) => one - other)

console.log(`median ${rounds[Math.floor(ROUNDS / 2)]?.toFixed(3)} µs a message, most ${rounds.at(-1)?.toFixed(3)} µs`)
