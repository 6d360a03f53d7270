/** What holds for any pairs: a document that can be registered and makes every output but for its questions, in bounded time. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../../../src/core/json.ts'
import { compareOutputs, deriveByExample } from '../../../../src/try/suggestions/by-example/by-example.ts'
import type { ByExample } from '../../../../src/try/suggestions/suggest-answer.ts'
import { LONG } from '../../../support/form.ts'
import { runPairs as run } from '../../../support/run-pairs.ts'
import { createRandom, makeValue, type Random, type Shape } from '../../../system/by-example/shapes.ts'

const base = {
  name: 'derived',
  endpoint: { pattern: '/derived', method: 'POST' },
  transformation: { input: 'JSON', output: 'JSON' },
}

type Pair = readonly [Json, Json]
const deriveFrom = (pairs: readonly Pair[]): Promise<ByExample> =>
  deriveByExample(
    pairs.map(([body, output]) => ({ given: { message: { body } }, output })),
    base,
    run,
  )

const SHAPE: Shape = {
  id: 'id',
  'name?': { first: 'text', 'middle?': 'text', last: 'text' },
  born: 'hl7date',
  sex: 'F|M|O',
  active: 'bool',
  'phones?': [{ use: 'home|work', number: 'id', 'ext?': 'small' }],
  weight: 'number',
}

function makePair(random: Random): Pair {
  const body = makeValue(SHAPE, random) as JsonObject
  const { name, phones } = body as Readonly<{ name?: JsonObject; phones?: readonly JsonObject[] }>
  const born = String(body.born)
  const telecom = phones?.map(({ number, ext }) => ({ system: 'phone', value: number, ...(ext ? { rank: ext } : {}) }))
  const given = [name?.first, name?.middle].filter((one) => one !== undefined)
  const output = {
    resourceType: 'Patient',
    reference: `Patient/${body.id}`,
    birthDate: `${born.slice(0, 4)}-${born.slice(4, 6)}-${born.slice(6)}`,
    gender: { F: 'female', M: 'male', O: 'other' }[String(body.sex)],
    inactive: !body.active,
    ...(name === undefined ? {} : { name: { given, family: name.last } }),
    ...(telecom === undefined || telecom.length === 0 ? {} : { telecom }),
    grams: Math.round(Number(body.weight) * 1000),
  }
  return [body, JSON.parse(JSON.stringify(output))]
}

/** Codes as wards or tests have them, and what they are called elsewhere. */
const CODES: readonly (readonly [code: string, name: string])[] = Array.from({ length: 40 }, (_one, at) => {
  const letters = `${String.fromCharCode(65 + (at % 26))}${String.fromCharCode(65 + ((at * 7) % 26))}`
  return [
    `${letters}${at < 26 ? '' : 'X'}`,
    `${letters.toLowerCase()}-${['ward', 'unit', 'room', 'hall'][at % 4]}-${letters}`,
  ]
})

/** `isInList`: the codes are those of elements; else each pair has one. */
function makeCodedPair(random: Random, isInList: boolean): Pair {
  const { id, sex } = makeValue(SHAPE, random) as JsonObject
  if (!isInList) {
    const [code, name] = random.pick(CODES)
    return [{ id, sex, ward: code } as Json, { reference: `Patient/${id}`, place: name }]
  }
  const tests = Array.from(
    { length: 6 + random.below(6) },
    () => [...random.pick(CODES), random.below(10_000)] as const,
  )
  return [
    { id, tests: tests.map(([test, , value]) => ({ test, value })) } as Json,
    { reference: `Patient/${id}`, results: tests.map(([, code, value]) => ({ code, quantity: value })) },
  ]
}

const ODD: readonly Json[] = [
  null,
  '',
  0,
  -1,
  1e21,
  true,
  [],
  {},
  [[]],
  [null],
  { '': 1 },
  { 'a.b[0]?': 'x' },
  { __proto__x: 1 },
  'x'.repeat(500),
  '0',
  '1980-02-30',
  [1, 'a', {}],
]
const ODD_NAMES = ['a.b', 'c[]', '*', 'd?', 'e+', '0', '12', '`', 'and', 'ü', ' ', 'constructor', '$', '\\', '"']

/** The value with one thing changed: taken away, replaced, doubled, or with another name. */
function mutate(value: Json, random: Random): Json {
  if (random.chance(0.2) || typeof value !== 'object' || value === null) return random.pick(ODD)
  if (Array.isArray(value)) {
    const list = [...(value as readonly Json[])]
    if (list.length === 0) return random.pick(ODD)
    const at = random.below(list.length)
    const change = random.below(3)
    if (change === 0) list.splice(at, 1)
    else if (change === 1) list.push(list[at] as Json)
    else list[at] = mutate(list[at] as Json, random)
    return list
  }
  const entries = Object.entries(value as JsonObject)
  if (entries.length === 0) return random.pick(ODD)
  const [name, inner] = random.pick(entries)
  const { [name]: _gone, ...rest } = value as JsonObject
  if (random.chance(0.2)) return rest
  return random.chance(0.2) ? { ...rest, [random.pick(ODD_NAMES)]: inner } : { ...value, [name]: mutate(inner, random) }
}

describe('documents from examples', () => {
  test('of mutated pairs can be registered and make every output but for what is asked', async () => {
    const random = createRandom(7)
    for (let round = 0; round < (LONG ? 1_000 : 100); round++) {
      const pairs = Array.from({ length: 1 + random.below(4) }, (): Pair => {
        let [body, output] = makePair(random)
        for (let times = random.below(4); times > 0; times--) {
          if (random.chance(0.5)) body = mutate(body, random)
          else output = mutate(output, random)
        }
        // A text alone is no message in JSON.
        return [typeof body === 'string' ? { body } : body, output]
      })
      const shown = `round ${round}: ${JSON.stringify(pairs)}`
      const found = await deriveFrom(pairs)
      const { errors, runs } = await run(
        found.endpoint,
        pairs.map(([body]) => ({ message: { body } })),
      )
      assert.deepEqual(errors, [], shown)
      for (const [index, [, output]] of pairs.entries()) {
        assert.deepEqual(compareOutputs(found.questions, output, runs[index]?.output).wrong, [], shown)
      }
    }
  })

  test('stay as they are with a pair that agrees', async () => {
    const random = createRandom(11)
    for (let round = 0; round < (LONG ? 200 : 20); round++) {
      const pairs = Array.from({ length: 1 + random.below(5) }, () => makePair(random))
      const before = await deriveFrom(pairs)
      const [body] = makePair(random)
      const { runs } = await run(before.endpoint, [{ message: { body } }])
      const output = runs[0]?.output
      if (output === undefined) continue
      const after = await deriveFrom([...pairs, [body, JSON.parse(JSON.stringify(output))]])
      assert.deepEqual(after.endpoint, before.endpoint, `round ${round}: ${JSON.stringify([pairs, body, output])}`)
    }
  })

  test('with tables stay as they are with a pair that agrees', async () => {
    const random = createRandom(13)
    const derived = async (pairs: readonly Pair[], keepsCodes: boolean) =>
      deriveByExample(
        pairs.map(([body, output]) => ({ given: { message: { body } }, output })),
        base,
        run,
        { keepsCodes },
      )
    let withTables = 0
    for (let round = 0; round < (LONG ? 200 : 10); round++) {
      const isInList = round % 2 === 0
      const pairs = Array.from({ length: isInList ? 8 : 40 }, () => makeCodedPair(random, isInList))
      const before = await derived(pairs, true)
      const [body] = makeCodedPair(random, isInList)
      const { runs } = await run(before.endpoint, [{ message: { body } }])
      const output = runs[0]?.output
      if (output === undefined) continue
      const more: readonly Pair[] = [...pairs, [body, JSON.parse(JSON.stringify(output))]]
      const shown = `round ${round}: ${JSON.stringify([pairs, body, output])}`
      assert.deepEqual((await derived(more, true)).endpoint, before.endpoint, shown)
      const [one, other] = [await derived(pairs, false), await derived(more, false)]
      assert.deepEqual([other.endpoint, other.tables], [one.endpoint, one.tables], shown)
      if (Object.keys(one.tables).length > 0) withTables += 1
    }
    assert.ok(withTables >= 5, `${withTables} documents have tables`)
  })

  const fields = (count: number, make: (at: number) => Json): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_one, at) => [`f${at}`, make(at)]))
  const random = createRandom(3)
  const word = () => String(makeValue('uuid', random))
  const LARGE: readonly (readonly [name: string, pairs: readonly Pair[], isCut: boolean])[] = [
    ['3,000 fields without a rule', [1, 2, 3].map(() => [fields(3_000, word), fields(3_000, word)]), true],
    [
      'a message of 4,500 fields',
      [1, 2, 3].map(() => {
        const body = fields(4_500, () => 0) as Record<string, Json>
        return [{ id: word(), ...body }, { id: word() }]
      }),
      true,
    ],
    ['3,000 zeros', [1, 2, 3].map(() => [fields(3_000, () => 0), fields(3_000, () => 0)]), false],
    [
      'lists of 10,000',
      [1, 2].map(() => {
        const l = Array.from({ length: 10_000 }, () => ({ a: word(), b: random.below(1e9) }))
        return [{ l }, { t: l.map(({ a, b }) => ({ x: a, y: String(b) })) }]
      }),
      false,
    ],
  ]
  for (const [name, pairs, isCut] of LARGE) {
    test(`of ${name} say what was not looked at`, async () => {
      const found = await deriveFrom(pairs)
      assert.equal(found.cut, isCut)
      const places = Object.keys(isObject(pairs[0]?.[1]) ? pairs[0][1] : {}).length
      assert.ok(found.questions.length >= (isCut ? places / 2 : 0))
    })
  }
})
