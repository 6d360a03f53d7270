/** Tests of documents whose expectations take long to compare. */
import { type HostileCost, send } from './row.ts'

const endpoint = { name: 'tested', endpoint: { pattern: '/tested' }, transformation: { input: 'JSON', output: 'JSON' } }

const list = <Item>(length: number, item: (index: number) => Item): Item[] =>
  Array.from({ length }, (_, index) => item(index))

/** A test of so many steps, each with this message and what is expected of its answer. */
const testOf = (name: string, steps: number, body: () => unknown, expected: () => unknown): HostileCost => ({
  group: 'tests',
  name,
  attack: ({ adminUrl }) => {
    const step = { given: { message: { body: body() } }, expect: { answer: { body: expected() } } }
    return send(`${adminUrl}/endpoints/tests/run`, { endpoint, tests: [{ name, steps: list(steps, () => step) }] })
  },
})

const nearlyWithin = `${'a'.repeat(120_000)}b${'a'.repeat(120_000)}`

export const TESTS: readonly HostileCost[] = [
  testOf(
    'the same item 1,400 times within as many, in six steps',
    6,
    () => list(1_400, () => 1),
    () => ({ $contains: list(1_400, () => 1) }),
  ),
  testOf(
    '600 objects within as many others',
    1,
    () => list(600, (at) => ({ a: at, b: 1 })),
    () => ({ $contains: list(600, (at) => ({ a: at + 0.5 })) }),
  ),
  testOf(
    '40 patterns of a hundred repetitions on a text of 200 KB',
    1,
    () => ({ text: 'ab'.repeat(100_000) }),
    () => ({ text: { $oneOf: list(40, (at) => ({ $matches: `a[ab]{${100 + at}}[cd]` })) } }),
  ),
  testOf(
    'patterns of 1,000 repetitions, 30,000 of them',
    1,
    () => ({}),
    () => list(30_000, (at) => ({ $matches: `[ab]{1000}${at}` })),
  ),
  testOf(
    'a text of 240 KB that is nearly within one of 500 KB',
    1,
    () => ({ text: 'a'.repeat(500_000) }),
    () => ({ text: { $contains: nearlyWithin } }),
  ),
  testOf(
    'a text of 900 KB expected of each of 1,000 items',
    1,
    () => list(1_000, () => 0),
    () => ({ $items: { $oneOf: [{ text: 'x'.repeat(900_000) }] } }),
  ),
  testOf(
    '3,000 mismatches below a name of 250 KB',
    1,
    () => ({ ['n'.repeat(250_000)]: list(3_000, (at) => at) }),
    () => ({ ['n'.repeat(250_000)]: list(3_000, () => 'x') }),
  ),
]
