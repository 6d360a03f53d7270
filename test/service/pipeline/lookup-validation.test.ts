/** `validation` of lookups, in either place that schemas run. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { json } from '../../support/service.ts'
import { dataOf, failureOf, openPipeline, output } from './fixture.ts'

const SCHEMA = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string' }, n: { type: 'integer' } },
}

for (const ISOLATION of ['none', 'process']) {
  const pipeline = openPipeline({ ISOLATION })
  const coercing = openPipeline({ ISOLATION, VALIDATION_COERCE_TYPES: 'true', VALIDATION_ACCEPT_NULL_VALUES: 'true' })

  const lookup = (body: Json, more: JsonObject = {}, status = 200, given = pipeline): JsonObject => ({
    id: 'one',
    config: { url: given.at({ status, type: 'application/json', body: JSON.stringify(body) }) },
    validation: SCHEMA,
    ...more,
  })
  const send = (one: JsonObject, document: JsonObject = {}, body: Json = { list: [1, 2] }) =>
    pipeline.send({ requests: { lookup: [one] }, ...document }, body)

  describe(`validation of a lookup, ISOLATION=${ISOLATION}`, () => {
    it('lets valid data through', async () => {
      assert.deepEqual(dataOf(await send(lookup({ id: 'a' }))), { id: 'a' })
    })

    it('refuses other data with 502 at the keyword, with a pointer to each fault, and never blames the sender', async () => {
      const reply = await send(lookup({ n: 'x' }))
      assert.deepEqual(failureOf(reply), [502, 'LOOKUP_INVALID', 'lookup', 'requests.lookup[0].validation.required[0]'])
      const { error, details } = reply.json<{ error: string; details: { path: string }[] }>()
      assert.match(error, /^Lookup data is not valid: \/lookupRequests\/one\/data\/id is required; /)
      assert.deepEqual(
        details.map(({ path }) => path),
        ['/lookupRequests/one/data/id', '/lookupRequests/one/data/n'],
      )
    })

    it('is applied to each item', async () => {
      const items = { items: 'payload.list' }
      const url = pipeline.at(({ url: asked }) => (asked.endsWith('2') ? { n: 1 } : { id: 'a' }))
      const config = { url, params: { query: { n: { path: 'item' } } } }
      const reply = await send(lookup({}, { forEach: items, config }))
      assert.deepEqual(failureOf(reply).slice(0, 2), [502, 'LOOKUP_INVALID'])
      assert.match(reply.text, /"\/lookupRequests\/one\/1\/data\/id"/)
    })

    it('is not applied to an answer outside of allowedStatuses', async () => {
      assert.deepEqual(failureOf(await send(lookup({ n: 1 }, {}, 422))).slice(0, 2), [422, 'LOOKUP_REFUSED'])
      assert.deepEqual(failureOf(await send(lookup({ n: 1 }, { allowedStatuses: ['422'] }, 422))).slice(0, 2), [
        502,
        'LOOKUP_INVALID',
      ])
    })

    it('makes invalid data of an optional lookup its default', async () => {
      assert.deepEqual(dataOf(await send(lookup({ n: 1 }, { optional: true, default: { id: '-' } }))), { id: '-' })
      assert.deepEqual((await send(lookup({ n: 1 }, { optional: true }))).json(), {
        requestBody: { list: [1, 2] },
        lookupRequests: { one: { headers: {} } },
      })
    })

    it('is a transient issue of an OperationOutcome, at no place of the message', async () => {
      const reply = await send(lookup({ n: 1 }), output('FHIR+JSON'))
      const { issue } = reply.json<{ issue: { code: string; expression?: string[] }[] }>()
      assert.deepEqual(
        [reply.status, issue.map(({ code, expression }) => [code, expression])],
        [502, [['transient', undefined]]],
      )
    })

    it('gives coerced values, and takes null, where the settings say so', async () => {
      const one = lookup({ id: 5, n: null }, {}, 200, coercing)
      const reply = await coercing.send({ requests: { lookup: [one] } })
      assert.deepEqual(dataOf(reply), { id: '5', n: null })
    })

    it('tells the faults of the schema at their place, beside inputValidation of its own', async () => {
      const document = {
        name: 'faulty',
        endpoint: { pattern: '/faulty' },
        transformation: { input: 'JSON', output: 'JSON' },
        inputValidation: { type: 'object' },
        requests: {
          lookup: [
            { id: 'a', config: { url: 'http://x.example' }, validation: { type: 'object' } },
            { id: 'b', config: { url: 'http://x.example' }, validation: { properties: { id: { type: 'text' } } } },
          ],
        },
      }
      const reply = await pipeline.service.fetch('/endpoints', json('POST', document))
      const { details } = reply.json<{ details: { path: string }[] }>()
      assert.deepEqual(
        details.map(({ path }) => path),
        ['requests.lookup[1].validation.properties.id.type'],
      )
    })

    it('has one schema for each lookup, and inputValidation is another', async () => {
      const two = { ...lookup({ id: 'b' }), id: 'two', validation: { required: ['none'] } }
      const reply = await pipeline.send({
        inputValidation: { required: ['list'] },
        requests: { lookup: [lookup({ id: 'a' }), two] },
      })
      assert.deepEqual(failureOf(reply).slice(0, 3), [502, 'LOOKUP_INVALID', 'lookup'])
      assert.match(reply.text, /\/lookupRequests\/two\/data/)
    })
  })
}
