/** Random JSON Schemas of the keywords that documents use, with values of the wrong type among them. */

import type { Json } from '../../../src/core/json.ts'
import fc from '../fast-check.ts'

const types = fc.constantFrom('string', 'number', 'integer', 'boolean', 'object', 'array', 'null')
const formats = fc.constantFrom('date', 'date-time', 'email', 'uri', 'uuid', 'ipv4', 'regex', 'nothing-known')
const patterns = fc.constantFrom('^a+$', '(a|b)*c', '[0-9]{2,4}', '(?=x)', '\\p{L}', '(', '^(a+)+$')
const property = fc.constantFrom('a', 'b', 'name', 'requestBody', 'query', '__proto__', 'constructor', 'toString')
const bound = fc.oneof(fc.integer({ min: -3, max: 5 }), fc.double({ noNaN: true, noDefaultInfinity: true }))
const value = fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>

type Keyword = readonly [name: string, value: Json]

const keyword = (name: string, of: fc.Arbitrary<Json>): fc.Arbitrary<Keyword> => of.map((found) => [name, found])

export const schemas = fc.letrec<{ schema: Json; keyword: Keyword }>((tie) => {
  const inner = tie('schema') as fc.Arbitrary<Json>
  const list = fc.array(inner, { minLength: 1, maxLength: 2 })
  const members = fc.dictionary(property, inner, { maxKeys: 3, noNullPrototype: true })
  return {
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.boolean(),
      fc.array(tie('keyword'), { maxLength: 4 }).map((keywords) => Object.fromEntries(keywords)),
    ),
    keyword: fc.oneof(
      { depthSize: 'small' },
      keyword('type', fc.oneof(types, fc.uniqueArray(types, { minLength: 1, maxLength: 3 }))),
      keyword('required', fc.uniqueArray(property, { maxLength: 2 })),
      ...['minimum', 'maximum', 'min', 'max', 'exclusiveMinimum', 'multipleOf'].map((name) => keyword(name, bound)),
      ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties'].map((name) => keyword(name, fc.nat(3))),
      ...['uniqueItems', 'nullable', 'additionalProperties'].map((name) => keyword(name, fc.boolean())),
      keyword('pattern', patterns),
      keyword('format', formats),
      keyword('enum', fc.array(value, { minLength: 1, maxLength: 3 })),
      keyword('const', value),
      keyword('$ref', fc.constantFrom('#', '#/definitions/d', '#/nowhere', 'http://127.0.0.1:1/schema')),
      keyword(
        '$schema',
        fc.constantFrom('http://json-schema.org/draft-07/schema#', 'https://json-schema.org/draft/2020-12/schema'),
      ),
      keyword(
        'errorMessage',
        fc.oneof(
          fc.string({ maxLength: 5 }),
          fc.constant({ required: { a: 'give a' }, type: 't' }),
          fc.constant({ properties: { a: 'a is wrong', b: 'b is ${/b}' }, items: ['first'], enum: 'e' }),
        ),
      ),
      keyword('default', value),
      ...['properties', 'definitions', 'patternProperties', 'dependencies'].map((name) => keyword(name, members)),
      ...['items', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'].map((name) => keyword(name, inner)),
      ...['allOf', 'anyOf', 'oneOf'].map((name) => keyword(name, list)),
      fc.tuple(property, value),
    ),
  }
}).schema
