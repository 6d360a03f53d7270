/** Endpoints of an import that only look up other endpoints of it are noted; all others are not. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { convertSet, endpoint, lookup } from './conversion-rig.ts'

const OTHER = endpoint({ name: 'Patients', endpoint: { pattern: '/patients/:id', method: 'GET' } })
const to = (url: string): JsonObject => lookup('one', { config: { method: 'get', url } })
const looking = (lookups: JsonObject[], more: JsonObject = {}) => endpoint({ requests: { lookup: lookups, ...more } })
const SENT = { id: 'sent', config: { method: 'post', url: 'http://store.example.org/' } }

const cases: Readonly<
  Record<string, readonly [document: JsonObject, rebase: string | undefined, noted: readonly string[]]>
> = {
  'its lookup leads to one': [looking([to('http://mediator:3003/patients/7?a=b')]), undefined, ['requests.lookup[0]']],
  'a placeholder stands for the parameter': [
    looking([to('http://mediator:3003/patients/:nr/')]),
    undefined,
    ['requests.lookup[0]'],
  ],
  'the host is one of --rebase': [looking([to('http://mapper/patients/7')]), 'http://mapper', ['requests.lookup[0]']],
  'another path': [looking([to('http://mediator:3003/orders/7')]), undefined, []],
  'another host': [looking([to('http://elsewhere.example.org/patients/7')]), undefined, []],
  'another lookup beside it': [looking([to('http://mediator:3003/patients/7'), lookup('two')]), undefined, []],
  'a response request beside it': [
    looking([to('http://mediator:3003/patients/7')], { response: [SENT] }),
    undefined,
    [],
  ],
  'no lookup': [endpoint(), undefined, []],
}

describe('endpoints that only look up others', () => {
  for (const [name, [document, from, noted]] of Object.entries(cases)) {
    test(name, () => {
      const rebase = from === undefined ? [] : [{ from, to: 'http://crosswalk:3003' }]
      const [converted] = convertSet([document, OTHER], { rebase, peerVersion: '3.3.0' }).documents
      const notes = (converted?.changes ?? []).filter(({ reason }) => reason.includes('one document can'))
      assert.deepEqual(
        notes.map(({ path }) => path),
        noted,
      )
      for (const { level, reason } of notes) {
        assert.equal(level, 'carried')
        assert.match(reason, /^This looks up the endpoint "Patients"/)
      }
    })
  }
})
