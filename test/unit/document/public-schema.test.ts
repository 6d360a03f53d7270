import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { checkDocument } from '../../../src/document/checks/check-document.ts'
import { describeDocument } from '../../../src/document/schema/public-schema.ts'

const ajv = new Ajv2020({ allErrors: true })
addFormats.default(ajv)
const validate = ajv.compile(describeDocument())

const minimal: JsonObject = {
  name: 'a',
  endpoint: { pattern: '/a' },
  transformation: { input: 'JSON', output: 'JSON' },
}
const rich = JSON.parse(readFileSync(new URL('../../data/rich-document.json', import.meta.url), 'utf8')) as JsonObject
const stamp = {
  _id: '0123456789abcdef01234567',
  createdAt: '2026-11-21T00:00:00.000Z',
  updatedAt: '2026-11-21T00:00:00.000Z',
  __v: 0,
}
const lookup = { id: 'x', config: { method: 'get', url: 'http://127.0.0.1/' } }

const parameter = { path: 'query.a', prefix: null, postfix: null }
const empty = {
  ...lookup,
  _id: 'x',
  forEach: {},
  allowedStatuses: [],
  config: { ...lookup.config, params: { query: { a: parameter } } },
}

const each = { 'item.a': 'a' }
const TARGETS: readonly Json[] = [
  'a',
  { key: 'a', default: null, transform: 'toString' },
  ['a', { key: 'b', transform: null }, ['c', 'toString', 'x']],
  { key: 'a[]', each, when: 'item.a = 1' },
]
const NO_TARGETS: readonly Json[] = [
  17,
  null,
  [],
  [17],
  [['a', 'toString', 'x', 'y']],
  { key: 5 },
  { key: 'a[]', each: 5 },
  { key: 'a[]', each, when: true },
  { key: 'a', colour: 'red' },
  { key: 'a', transform: 5 },
]

describe('the schema for tools', () => {
  const cases: readonly { name: string; document: Json; valid: boolean }[] = [
    { name: 'takes the least that may be sent', document: minimal, valid: true },
    { name: 'takes a document with every field', document: rich, valid: true },
    { name: 'takes what is stored', document: { ...checkDocument(minimal).endpoint, ...stamp } as Json, valid: true },
    { name: 'takes a single request', document: { ...minimal, requests: { lookup } }, valid: true },
    {
      name: 'takes fields that stand for nothing',
      document: { ...minimal, requests: { lookup: [empty] } },
      valid: true,
    },
    {
      name: 'refuses a forEach of nothing',
      document: { ...minimal, requests: { lookup: [{ ...lookup, forEach: { concurrency: 1 } }] } },
      valid: false,
    },
    ...[200, 599, '201', { path: 'responses.a.status' }].map((status) => ({
      name: `takes the status ${JSON.stringify(status)}`,
      document: { ...minimal, answer: { status } } as Json,
      valid: true,
    })),
    ...[99, 600, 200.5, '99', true].map((status) => ({
      name: `refuses the status ${JSON.stringify(status)}`,
      document: { ...minimal, answer: { status } } as Json,
      valid: false,
    })),
    ...[...TARGETS, ...NO_TARGETS].map((target) => ({
      name: `${TARGETS.includes(target) ? 'takes' : 'refuses'} the target ${JSON.stringify(target)}`,
      document: {
        ...minimal,
        inputMapping: { 'requestBody.a': target },
        answer: { mapping: { query: target } },
      } as Json,
      valid: TARGETS.includes(target),
    })),
    { name: 'refuses an unknown field', document: { ...minimal, colour: 'red' }, valid: false },
    { name: 'refuses a missing name', document: { ...minimal, name: undefined as never }, valid: false },
    { name: 'refuses a wrong type', document: { ...minimal, constants: 'x' }, valid: false },
  ]
  for (const { name, document, valid } of cases) {
    test(name, () => {
      assert.equal(validate(JSON.parse(JSON.stringify(document))), valid, JSON.stringify(validate.errors))
    })
  }
})
