/**
 * What an expression that the engine answers costs by how many messages are evaluated at once.
 * node bin/node.js bench/costs/expressions-at-once.ts
 */
import { parseExpression } from '../../src/language/jsonata/expression.ts'

const TEXT = '$sum(requestBody.items.(price * quantity)) & " " & $join(requestBody.items.name, ",")'
const ITEMS = Array.from({ length: 5 }, (_, item) => ({ price: item, quantity: 2, name: `item ${item}` }))
const MESSAGES = 6_400
const ROUNDS = 5

const parsed = parseExpression(TEXT, { timeoutMs: 1_000, maxDepth: 10_000, maxSequence: 100_000 })
if (!parsed.ok) throw new Error(parsed.message)
const { evaluate } = parsed.value

/** Microseconds of processor time a message. */
async function costOf(atOnce: number): Promise<number> {
  const before = process.cpuUsage()
  for (let done = 0; done < MESSAGES; done += atOnce) {
    await Promise.all(Array.from({ length: atOnce }, () => evaluate({ requestBody: { items: ITEMS } })))
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / MESSAGES
}

for (const atOnce of [1, 16, 32, 64, 128]) {
  const rounds: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await costOf(atOnce))
  console.log(`${atOnce} at once: ${Math.min(...rounds).toFixed(1)} µs, the least of ${ROUNDS} rounds`)
}
