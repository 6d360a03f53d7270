/** An endpoint whose messages are the records of a topic alone: it has no route, and the management API takes it like any other. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { describeLogged } from '../../support/records/message-log/log-stage.ts'
import { endpointDocument, json } from '../../support/service.ts'

/** No broker is there, and none is needed. */
const BROKERS = { KAFKA_BROKERS: '127.0.0.1:9' }

describeLogged(
  'an endpoint without a route',
  (stage) => {
    const write = (method: string, path: string, body: JsonObject) => stage.service.fetch(path, json(method, body))
    const { endpoint: _, ...document } = endpointDocument({
      name: 'of a topic',
      kafkaConsumerTopic: 'admissions',
      inputMapping: { 'requestBody.ward': 'location' },
    })

    test('needs something that brings its messages', async () => {
      const { kafkaConsumerTopic, ...closed } = document
      const reply = await write('POST', '/endpoints', closed)
      assert.equal(reply.status, 400)
      assert.deepEqual(reply.json().details, [
        {
          path: 'endpoint.pattern',
          message:
            '"endpoint.pattern" is required: give the path of the endpoint, or another field that brings messages: "kafkaConsumerTopic", "mllp", "schedule".',
        },
      ])
    })

    test('is stored, listed, changed, compared and deleted', async () => {
      const created = await write('POST', '/endpoints', document)
      assert.equal(created.status, 201, created.text)
      const stored = created.json()
      assert.deepEqual(stored.endpoint, { method: 'POST' })
      const path = `/endpoints/${stored._id}`
      assert.deepEqual((await stage.service.fetch(path)).json(), stored)
      assert.equal((await write('POST', '/endpoints', { ...document, name: 'of the same topic' })).status, 201)

      const { endpoints } = (await stage.get('/endpoints?view=summary&sort=pattern')).json<{
        endpoints: JsonObject[]
      }>()
      const row = endpoints.find(({ id }) => id === stored._id)
      assert.deepEqual(
        [row?.method, row?.pattern, row?.kafkaConsumerTopic, row?.active],
        [undefined, undefined, 'admissions', true],
      )
      const filtered = (await stage.get('/endpoints?kafkaConsumerTopic=admissions&endpoint.pattern=/x')).json()
      assert.deepEqual(filtered, [])

      assert.equal((await write('PUT', path, { ...stored, endpoint: { pattern: '/of-a-topic' } })).status, 200)
      assert.equal((await write('POST', '/of-a-topic', { ward: 'w1' })).status, 200)
      assert.equal((await write('PUT', path, stored)).status, 200)
      assert.equal((await write('POST', '/of-a-topic', { ward: 'w1' })).status, 404)
      const { changes } = (await stage.service.fetch(`${path}/versions/1/diff/2`)).json<{ changes: JsonObject[] }>()
      assert.deepEqual(
        changes.map((change) => change.path),
        ['endpoint.pattern'],
      )
      // The route is free again.
      const { _id } = await stage.service.register({ endpoint: { pattern: '/of-a-topic' } })
      for (const id of [_id, stored._id]) {
        assert.equal((await stage.service.fetch(`/endpoints/${id}`, { method: 'DELETE' })).status, 200)
      }
    })

    test('is no operation of the OpenAPI documents', async () => {
      const { _id } = await stage.service.register({ name: 'unlisted', kafkaConsumerTopic: 'unlisted' })
      await stage.service.register({ name: 'routed', endpoint: { pattern: '/routed' } })
      const all = (await stage.get('/endpoints/openapi.json')).json<{ paths: JsonObject }>()
      assert.deepEqual(Object.keys(all.paths), ['/routed'])
      const own = (await stage.get(`/endpoints/${_id}/openapi.json`)).json<{ paths: JsonObject }>()
      assert.deepEqual(own.paths, {})
    })

    test('can be tried with a dry run', async () => {
      const reply = await stage.post('/endpoints/dry-run', { endpoint: document, message: { body: { ward: 'w1' } } })
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(reply.json<{ answer: JsonObject }>().answer.body, '{"location":"w1"}')
    })

    describe('that had one', () => {
      test('repeats none of the requests that arrived at it', async () => {
        const { _id } = await stage.service.register({ endpoint: { pattern: '/had-one' } })
        const sent = await write('POST', '/had-one', {})
        const id = sent.headers.get('x-crosswalk-message-id') ?? ''
        await stage.record(id)
        const changed = await write('PATCH', `/endpoints/${_id}`, {
          endpoint: { pattern: null },
          kafkaConsumerTopic: 'had-one',
        })
        assert.equal(changed.status, 200, changed.text)
        const { replayable } = (await stage.record(id)) as unknown as { replayable: JsonObject }
        assert.deepEqual(replayable, {
          can: false,
          reason: 'no-route',
          why: 'It arrived at a route, and its endpoint has no route any more.',
        })
        assert.equal((await stage.post(`/messages/${id}/replay`)).status, 409)
      })
    })
  },
  BROKERS,
)
