/**
 * Processor time of a call and of the longest stretch on the event loop, for inputs at the bounds.
 *
 * `node bin/node.js test/system/by-example/times.ts [part of a name]`
 */
import { setTimeout } from 'node:timers/promises'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { deriveByExample } from '../../../src/try/suggestions/by-example/by-example.ts'
import { createServedRunPairs } from '../../support/run-pairs.ts'
import { createRandom, makeValue, type Shape } from './shapes.ts'

const base = {
  name: 'timed',
  endpoint: { pattern: '/timed', method: 'POST' },
  transformation: { input: 'JSON', output: 'JSON' },
}
const random = createRandom(3)
const word = () => String(makeValue('uuid', random))
const fields = (count: number, make: (at: number) => Json): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_one, at) => [`f${at}`, make(at)]))
const code = () => random.pick(['F', 'M', 'O', 'U'])
type Pair = readonly [Json, Json]
const times = (count: number, make: () => Pair) => Array.from({ length: count }, make)
const record: Shape = { id: 'id', name: 'words', born: 'hl7date', sex: 'F|M', tags: ['text'], weight: 'number' }
const change = (value: Json): Json => {
  const { id, name, born, sex, tags, weight } = value as Readonly<Record<string, string>>
  return {
    ref: `P/${id}`,
    n: name,
    d: `${born?.slice(0, 4)}-${born?.slice(4, 6)}-${born?.slice(6)}`,
    g: sex,
    t: tags,
    w: weight,
  } as never
}

const CASES: Readonly<Record<string, () => readonly Pair[]>> = {
  '3,000 leaves, paths': () =>
    times(3, () => {
      const body = fields(3_000, word)
      return [body, Object.fromEntries(Object.entries(body).map(([name, value]) => [`t${name}`, value]))]
    }),
  '3,000 leaves, no rule': () => times(3, () => [fields(3_000, word), fields(3_000, word)]),
  '3,000 leaves, texts cut': () =>
    times(3, () => {
      const body = fields(3_000, word)
      return [body, Object.fromEntries(Object.entries(body).map(([name, value]) => [name, String(value).slice(3, 9)]))]
    }),
  '3,000 leaves, numbers': () =>
    times(3, () => [fields(3_000, () => random.below(1e6)), fields(3_000, () => random.below(1e6))]),
  '3,000 leaves, all 0': () => times(3, () => [fields(3_000, () => 0), fields(3_000, () => 0)]),
  '3,000 leaves, all null': () => times(3, () => [fields(3_000, () => null), fields(3_000, () => null)]),
  '3,000 leaves, true or false': () =>
    times(3, () => [fields(3_000, () => random.chance(0.5)), fields(3_000, () => random.chance(0.5))]),
  'lists of 10,000': () =>
    times(2, () => {
      const l = Array.from({ length: 10_000 }, () => ({ a: word(), b: random.below(1e9) }))
      return [{ l }, { t: l.map(({ a, b }) => ({ x: a, y: String(b) })) }]
    }),
  'lists of 10,000, some left out': () =>
    times(2, () => {
      const l = Array.from({ length: 10_000 }, () => ({
        a: word(),
        k: random.pick(['x', 'y', 'z']),
        v: random.chance(0.5),
      }))
      return [{ l }, { t: l.filter(({ v }) => v).map(({ a, k }) => ({ x: a, k })) }]
    }),
  'lists of 10,000, computed': () =>
    times(2, () => {
      const l = Array.from({ length: 10_000 }, () => makeValue(record, random) as Json)
      return [{ l }, { t: l.map(change) }]
    }),
  'lists of 10,000 without a rule': () =>
    times(2, () => [{ l: Array.from({ length: 10_000 }, word) }, { t: Array.from({ length: 10_000 }, word) }]),
  '200 pairs': () =>
    times(200, () => {
      const body = makeValue(record, random) as Json
      return [body, change(body)]
    }),
  '200 pairs of lists': () =>
    times(200, () => {
      const list = Array.from({ length: 40 }, () => makeValue(record, random) as Json)
      return [{ list }, { entry: list.map(change) }]
    }),
  '200 pairs of 700 fields': () =>
    times(200, () => {
      const body = fields(700, () => random.below(1e6))
      return [body, Object.fromEntries(Object.entries(body).map(([name, value]) => [`t${name}`, value]))]
    }),
  '200 pairs of 700 fields, no rule': () =>
    times(200, () => [fields(700, () => random.below(1e6)), fields(700, () => random.below(1e6))]),
  '200 pairs of 700 codes': () => times(200, () => [fields(700, code), fields(700, code)]),
  '8 MiB in one pair': () =>
    times(1, () => {
      const list = Array.from({ length: 20_000 }, () => makeValue(record, random) as Json)
      return [{ list }, { entry: list.map(change) }]
    }),
  '8 MiB in 3 pairs of long texts': () =>
    times(3, () => {
      const text = word().repeat(35_000)
      return [
        { text, id: word() },
        { content: text, short: text.slice(0, 40) },
      ]
    }),
}

/** The processor time of this thread between two rounds of the event loop, which other programs do not change. */
function watchStretches() {
  let [longestMs, isOver] = [0, false]
  let before = process.threadCpuUsage()
  const look = () => {
    const { user, system } = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    longestMs = Math.max(longestMs, (user + system) / 1000)
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  return {
    stop: () => {
      isOver = true
      look()
      return longestMs
    },
  }
}

const { run, close } = createServedRunPairs()
for (const [name, make] of Object.entries(CASES)) {
  if (process.argv[2] !== undefined && !name.includes(process.argv[2])) continue
  const pairs = make()
  const examples = pairs.map(([body, output]) => ({ given: { message: { body } }, output }))
  await setTimeout(50)
  const stretch = watchStretches()
  const before = process.cpuUsage()
  const found = await deriveByExample(examples, base, run)
  const { user, system } = process.cpuUsage(before)
  const longestMs = stretch.stop()
  const { questions, cut } = found
  console.log(
    `${name.padEnd(34)} ${(JSON.stringify(pairs).length / 1_048_576).toFixed(1)} MiB  ${((user + system) / 1e6).toFixed(2)} s  longest stretch ${longestMs.toFixed(0)} ms  questions ${questions.length} ${cut ? 'cut' : ''}`,
  )
}
close()
