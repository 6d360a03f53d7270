/** Names as long as a message above many fields, each of which has a path or a place of its own; and validation with many faults below them. */
import { type HostileCost, registerAt, send } from './row.ts'

type Value = Readonly<Record<string, unknown>>

export const fieldsBelow = (name: string, count: number): Value => ({
  [name]: Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, index])),
})

const longLevels = (levels: number, characters: number, count: number): Value => {
  let value = fieldsBelow('n', count)
  for (let level = 0; level < levels; level += 1) value = { [`${'n'.repeat(characters)}${level}`]: value }
  return value
}

const LONG = 'n'.repeat(300_000)

const suggestion = (name: string, request: () => unknown): HostileCost => ({
  group: 'paths',
  name: `suggestions for ${name}`,
  attack: ({ adminUrl }) => send(`${adminUrl}/endpoints/suggest`, request()),
})

const sides = (source: Value, sample: Value) => ({ source: { body: source }, target: { sample } })

const document = (more: object) => ({
  name: 'hostile',
  endpoint: { pattern: '/hostile' },
  transformation: { input: 'JSON', output: 'JSON' },
  ...more,
})

const dryRun = (name: string, body: () => unknown, more: object, view: object = { view: 'mapping' }): HostileCost => ({
  group: 'paths',
  name: `a dry run of ${name}`,
  attack: ({ adminUrl }) =>
    send(`${adminUrl}/endpoints/dry-run`, { endpoint: document(more), message: { body: body() }, ...view }),
})

const MAPPING = { inputMapping: { 'requestBody.a': 'a' } }

const sampled = (name: string, body: () => unknown): HostileCost => ({
  group: 'paths',
  name: `ten messages, sampled for drift, with ${name}`,
  attack: async ({ url }) => {
    await registerAt(url, document(MAPPING))
    let answered = ''
    for (let count = 0; count < 10; count += 1) answered = await send(`${url}/hostile`, body())
    return answered
  },
})

export const PATHS: readonly HostileCost[] = [
  suggestion('300 references to a pointer of 800,000 names', () => ({
    source: { body: { a: 1 } },
    target: {
      schema: {
        definitions: { one: { $ref: `#${'/'.repeat(800_000)}` } },
        allOf: Array.from({ length: 300 }, () => ({ $ref: '#/definitions/one' })),
      },
    },
  })),
  suggestion('1,000 fields below a name of 300 KB', () => sides(fieldsBelow(LONG, 1_000), fieldsBelow(LONG, 1_000))),
  suggestion('3,000 fields below a name of 450 words', () =>
    sides(fieldsBelow('a '.repeat(450), 3_000), fieldsBelow('a b c '.repeat(150), 3_000)),
  ),
  suggestion('3,000 unknown fields below a name of 300 KB', () => ({
    source: { lookups: fieldsBelow(LONG, 3_000) },
    target: { sample: 1 },
  })),
  suggestion('3,000 names that occur twice below a name of 300 KB', () => {
    const twice = Array.from({ length: 3_000 }, (_, index) => `"f${index}":1,"f${index}":1`)
    return `{"source":{"body":{"${LONG}":{${twice.join()}}}},"target":{"sample":1}}`
  }),
  dryRun('3,000 fields below a name of 300 KB, as the mapping', () => fieldsBelow(LONG, 3_000), MAPPING),
  dryRun('3,000 fields below a name of 300,000 dots, as the mapping', () => fieldsBelow('.'.repeat(300_000), 3_000), {
    inputMapping: { requestBody: 'a' },
  }),
  dryRun('3,000 fields below 50 names of 15 KB, as the mapping', () => longLevels(50, 15_000, 3_000), MAPPING),
  dryRun(
    '40,000 elements of two fields, as the mapping',
    () => ({ list: Array.from({ length: 40_000 }, () => ({ a: 1, b: 2 })) }),
    { inputMapping: { 'requestBody.list[].a': 'a' } },
  ),
  dryRun('3,000 fields below a name of 300 KB', () => fieldsBelow(LONG, 3_000), MAPPING, {}),
  sampled('4,000 fields below a name of 500 KB', () => fieldsBelow('n'.repeat(500_000), 4_000)),
  sampled('4,000 fields below 50 names of 15 KB', () => longLevels(50, 15_000, 4_000)),
]

const validated = (name: string, inputValidation: object, body: () => unknown, env = {}): HostileCost => ({
  group: 'validation',
  name,
  env,
  attack: async ({ url }) => {
    await registerAt(url, {
      name: 'hostile',
      endpoint: { pattern: '/hostile' },
      transformation: { input: 'JSON', output: 'JSON' },
      inputValidation,
    })
    return send(`${url}/hostile`, body())
  },
})

const texts = { additionalProperties: { additionalProperties: { type: 'string' } } }
const TILDES = '~'.repeat(450_000)

export const VALIDATION: readonly HostileCost[] = [
  validated('9,000 faults below a name of 450,000 tildes', texts, () => fieldsBelow(TILDES, 9_000)),
  validated('9,000 faults below a name of 450 KB', texts, () => fieldsBelow('n'.repeat(450_000), 9_000)),
  validated(
    '9,000 faults by references below a name of 450,000 tildes',
    {
      $ref: '#/definitions/outer',
      definitions: {
        outer: { additionalProperties: { $ref: '#/definitions/inner' } },
        inner: { additionalProperties: { type: 'string' } },
      },
    },
    () => fieldsBelow(TILDES, 9_000),
  ),
  validated(
    '9,000 faults with a message of their own below a name of 450,000 slashes',
    { additionalProperties: { additionalProperties: { type: 'string', errorMessage: 'not ${0}' } } },
    () => fieldsBelow('/'.repeat(450_000), 9_000),
  ),
  validated(
    '9,000 values without a fault below a name of 450,000 tildes',
    {
      additionalProperties: { additionalProperties: { $ref: '#/definitions/number' } },
      definitions: { number: { type: 'number', anyOf: [{ $ref: '#' }, true] } },
    },
    () => fieldsBelow(TILDES, 9_000),
  ),
  validated('5,000,000 brackets with PARSER_LIMIT=32mb', {}, () => '['.repeat(5_000_000), { PARSER_LIMIT: '32mb' }),
]
