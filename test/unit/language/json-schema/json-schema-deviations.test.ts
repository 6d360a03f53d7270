/** Where validation is not as the drafts say, as docs/validation.md lists it: each row may only become exact. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { DRAFT_2020 as $schema, sound } from './schema-rig.ts'

type Case = Readonly<{ schema: JsonObject; data: Json; draft: boolean; service: boolean }>

const cases: Readonly<Record<string, Case>> = {
  'draft-07 ignores keywords beside $ref': {
    schema: {
      definitions: { list: { type: 'array' } },
      properties: { a: { $ref: '#/definitions/list', maxItems: 1 } },
    },
    data: { a: [1, 2] },
    draft: true,
    service: false,
  },
  '$dynamicRef to an $anchor is as $ref': {
    schema: {
      $schema,
      $defs: { text: { $anchor: 'text', type: 'string' } },
      items: { $dynamicRef: '#text' },
      type: 'array',
    },
    data: ['a'],
    draft: true,
    service: false,
  },
  'unevaluatedItems checks the elements that contains does not match': {
    schema: { $schema, prefixItems: [true], contains: { type: 'string' }, unevaluatedItems: false },
    data: [1, 2, 'a'],
    draft: false,
    service: true,
  },
  'unevaluatedItems sees the items of an alternative': {
    schema: { $schema, unevaluatedItems: { type: 'boolean' }, anyOf: [{ items: { type: 'string' } }, true] },
    data: ['a', 'b'],
    draft: true,
    service: false,
  },
  'unevaluatedProperties sees an if without then and else': {
    schema: { $schema, if: { patternProperties: { a: { type: 'string' } } }, unevaluatedProperties: false },
    data: { a: 'b' },
    draft: true,
    service: false,
  },
}

describe('not as the drafts say', () => {
  for (const [name, { schema, data, draft, service }] of Object.entries(cases)) {
    test(name, () => {
      assert.equal(sound(schema)(data).ok, service)
      assert.notEqual(service, draft)
    })
  }
})
