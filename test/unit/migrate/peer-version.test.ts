/** Which version of openhim-mediator-mapping a set of documents was written for. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { convertOne, convertSet, endpoint, type Given, lookup } from './conversion-rig.ts'

const reading = (path: string, name = 'Intake'): JsonObject =>
  endpoint({ name, requests: { lookup: [lookup('a')] }, inputMapping: { [path]: 'x' } })
const transforming = (text: string): JsonObject =>
  endpoint({ requests: { lookup: [lookup('a')] }, inputTransforms: { x: text }, inputMapping: { 'transforms.x': 'x' } })
const validating = (fields: JsonObject): JsonObject => ({
  ...reading('requestBody.b'),
  inputValidation: { properties: { lookupRequests: { properties: { a: { properties: fields } } } } },
})

/** `form`: whether `data` is put below the lookups (bare), or nothing changes (wrapped), or the import asks. */
const CASES: Readonly<
  Record<string, Readonly<{ set: readonly JsonObject[]; form: 'bare' | 'wrapped' | 'asks'; given?: Given }>>
> = {
  'a field of a lookup in a mapping': { set: [reading('lookupRequests.a.entry')], form: 'bare' },
  'data in a mapping': { set: [reading('lookupRequests.a.data.entry')], form: 'wrapped' },
  'a field in an expression': { set: [transforming('$count(lookupRequests.a.entry)')], form: 'bare' },
  'a field in a schema': { set: [validating({ entry: {} })], form: 'bare' },
  'one field decides for the set': {
    set: [reading('lookupRequests.a'), reading('lookupRequests.a.entry', 'Other')],
    form: 'bare',
  },
  'data decides for the set': {
    set: [reading('lookupRequests.a'), reading('lookupRequests.a.data', 'Other')],
    form: 'wrapped',
  },
  'a lookup as a whole': { set: [reading('lookupRequests.a')], form: 'asks' },
  'a variable that is a lookup': { set: [transforming('($x := lookupRequests.a; $x.entry)')], form: 'asks' },
  'no mapping': { set: [endpoint({ requests: { lookup: [lookup('a')] } })], form: 'asks' },
  'a lookup that the document does not have': { set: [reading('state.lookupRequests.a.entry')], form: 'wrapped' },
  'parameters of version 1': {
    set: [
      endpoint({
        requests: {
          lookup: [lookup('a', { config: { url: 'http://x.example.org', params: { q: { path: 'query.q' } } } })],
        },
      }),
    ],
    form: 'bare',
  },
  'the option, before 3': {
    set: [reading('lookupRequests.a.data.entry')],
    form: 'bare',
    given: { peerVersion: '2.3.1' },
  },
  'the option, from 3 on': { set: [reading('lookupRequests.a')], form: 'wrapped', given: { peerVersion: '3.0.0' } },
}

describe('the version of a set', () => {
  for (const [name, { set, form, given }] of Object.entries(CASES)) {
    test(`${name}: ${form}`, () => {
      if (form === 'asks') {
        assert.throws(
          () => convertSet(set, given),
          /0\.json\. Say which version that is, for example --peer-version 2\.4/,
        )
        return
      }
      const { documents } = convertSet(set, given)
      const isAsFound = documents.every(
        ({ document }, index) => JSON.stringify(document) === JSON.stringify(set[index]),
      )
      assert.equal(isAsFound, form === 'wrapped')
    })
  }

  test('documents that show another version than the set are reported', () => {
    const { documents } = convertSet([reading('lookupRequests.a.entry'), reading('lookupRequests.a.data.x', 'Other')])
    assert.deepEqual(
      documents.map(({ changes }) => changes.map(({ level, path }) => `${level} ${path}`)),
      [
        ['changed inputMapping.lookupRequests\\.a\\.entry'],
        ['differs ', 'changed inputMapping.lookupRequests\\.a\\.data\\.x'],
      ],
    )
    assert.match(documents[1]?.changes[0]?.reason ?? '', /--peer-version 3/)
  })

  test('documents of an earlier import show nothing and stay as they are', () => {
    const document = { ...reading('lookupRequests.a'), colour: 'red' }
    const converted = convertOne(document, { isCanonical: true })
    assert.deepEqual([converted.document, converted.changes], [document, []])
  })

  test('a folder of version 0 decides for itself alone', () => {
    const document = reading('lookupRequests.a')
    assert.deepEqual(convertOne(document, { peerVersion: '0.2.0' }).document.inputMapping, {
      'lookupRequests.a.data': 'x',
    })
  })
})
