import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import type { Json } from '../../../../src/core/json.ts'
import { MAX_KEY_CHARACTERS, type MessageRecord } from '../../../../src/core/records/message-record.ts'
import {
  compileRedaction,
  hideValues,
  redactRecord,
  redactText,
} from '../../../../src/records/message-log/redaction.ts'

describe('numbers in redacted paths', () => {
  const cases: readonly { path: string; of: Json; gives: Json }[] = [
    {
      path: 'list.0.ssn',
      of: { list: [{ ssn: '123', a: 1 }, { ssn: '456' }] },
      gives: { list: [{ ssn: '***', a: 1 }, { ssn: '456' }] },
    },
    { path: 'list.1', of: { list: ['a', 'b', 'c'] }, gives: { list: ['a', '***', 'c'] } },
    { path: 'list.1.0', of: { list: [['a'], ['b', 'c']] }, gives: { list: [['a'], ['***', 'c']] } },
    { path: 'list.0.ssn', of: { list: { 0: { ssn: '123' } } }, gives: { list: { 0: { ssn: '***' } } } },
    { path: 'list.1', of: { list: [{ 1: 'a', 2: 'b' }] }, gives: { list: [{ 1: '***', 2: 'b' }] } },
    { path: 'list.1.2', of: { list: [['x'], { 1: 'a', 2: 'b' }] }, gives: { list: [['x'], { 1: 'a', 2: '***' }] } },
    // A field whose number is also the index of an element, as in the second OBX of HL7 v2.
    { path: 'list.1.2', of: { list: [{}, { 1: { 2: 'a' } }] }, gives: { list: [{}, { 1: { 2: '***' } }] } },
    { path: 'list.01', of: { list: ['a', 'b'] }, gives: { list: ['a', 'b'] } },
    { path: 'list.0', of: { list: 'a' }, gives: { list: 'a' } },
  ]
  for (const { path, of, gives } of cases) {
    it(`${path} in ${JSON.stringify(of)}`, () =>
      assert.deepEqual(compileRedaction([path])?.apply(of, new Set()), gives))
  }
})

const texts = [
  {
    text: 'The lookup "a" answered with status 404: John\nDoe',
    redacted: 'The lookup "a" answered with status 404: ***',
  },
  { text: 'The lookup "a" answered with status 404', redacted: 'The lookup "a" answered with status 404' },
  {
    text: 'The lookup "a" answered with status 302. More came: than are followed. It said: John',
    redacted: 'The lookup "a" answered with status 302. More came: than are followed. It said: ***',
  },
  {
    text: 'The lookup "a" answered with status 503. It was not tried again: too many.',
    redacted: 'The lookup "a" answered with status 503. It was not tried again: too many.',
  },
  {
    text: 'a answered 404 to GET http://a.test:80/x.y: a: b\nc',
    redacted: 'a answered 404 to GET http://a.test:80/x.y: ***',
  },
  { text: 'a answered 404 to GET http://a.test/', redacted: 'a answered 404 to GET http://a.test/' },
  {
    text: 'a answered 302 to GET http://a.test/. No: b. It said: c',
    redacted: 'a answered 302 to GET http://a.test/. No: b. It said: ***',
  },
  {
    text: 'a answered 503 to GET http://a.test/. Not again: b.',
    redacted: 'a answered 503 to GET http://a.test/. Not again: b.',
  },
]
for (const { text, redacted } of texts) {
  test(`what another system said is taken out of ${JSON.stringify(text)}`, () => {
    assert.equal(redactText(text, hideValues(new Set())), redacted)
  })
}

describe('members that hold the text of another one', () => {
  const all = { 4: 'a', '4\\': 'as written', '4&2': 'b', '4&2\\': 'as written', '4&': 3, 14: 'c', '^': 5 }
  const cases: readonly { path: string; gives: Json }[] = [
    { path: 'PID.4', gives: { ...all, 4: '***', '4\\': '***', '4&2': '***', '4&2\\': '***' } },
    { path: 'PID[].4&2', gives: { ...all, '4&2': '***', '4&2\\': '***' } },
    { path: 'PID[0].14', gives: { ...all, 14: '***' } },
  ]
  for (const { path, gives } of cases) {
    it(path, () => {
      const redacted = new Set<string>()
      assert.deepEqual(compileRedaction([path])?.apply({ PID: [all] }, redacted), { PID: [gives] })
      assert.equal(redacted.has('as written'), path !== 'PID[0].14')
    })
  }
})

describe('a text in place of what holds it as its first part', () => {
  const cases: readonly { path: string; of: Json; gives: Json }[] = [
    { path: 'PID[0].5[0].1', of: { PID: [{ 5: 'a', 6: 'b' }] }, gives: { PID: [{ 5: '***', 6: 'b' }] } },
    {
      path: 'PID[].5[].1',
      of: { PID: { 5: ['a', { 1: 'b', 2: 'c' }] } },
      gives: { PID: { 5: ['***', { 1: '***', 2: 'c' }] } },
    },
    { path: 'ZPI[].1[0].1', of: { ZPI: ['a', { 1: 'b', 2: 'c' }] }, gives: { ZPI: ['***', { 1: '***', 2: 'c' }] } },
    { path: 'PID.5.2', of: { PID: [{ 5: 'a' }] }, gives: { PID: [{ 5: 'a' }] } },
    { path: 'PID[0].5[0].1', of: { PID: [{ 5: { 2: 'a' } }] }, gives: { PID: [{ 5: { 2: 'a' } }] } },
    { path: 'list.1', of: { list: 'a' }, gives: { list: 'a' } },
  ]
  for (const { path, of, gives } of cases) {
    it(`${path} in ${JSON.stringify(of)}`, () =>
      assert.deepEqual(compileRedaction([path])?.apply(of, new Set()), gives))
  }
})

test('a business key is redacted that is the start of a long redacted text', () => {
  const long = 'x'.repeat(MAX_KEY_CHARACTERS + 1)
  const keys = { note: long.slice(0, MAX_KEY_CHARACTERS), others: ['Doe', 'xx'] }
  const record = { calls: [], keys } as unknown as MessageRecord
  assert.deepEqual(redactRecord(record, new Set([long, 'Doe'])).keys, { note: '***', others: ['***', 'xx'] })
})

test('a redacted text that is a part of a missed code is redacted, in whatever case; a short one only as the whole', () => {
  const codes = ['ZZ123-45-abc', '123-45-ABC', 'other', 'F', 'FF', '123-45']
  const missed = codes.map((code) => ({ table: 'sex', column: 'fhir', code }))
  const record = { calls: [], keys: {}, missed } as unknown as MessageRecord
  assert.deepEqual(
    redactRecord(record, new Set(['123-45-abc', 'F'])).missed?.map(({ code }) => code),
    ['ZZ***', '***', 'other', '***', 'FF', '123-45'],
  )
})
