/** Messages whose validation has many faults below long names, and bodies that are refused late. */
import { fieldsBelow } from './paths.ts'
import { type HostileCost, registerAt, send } from './row.ts'

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
