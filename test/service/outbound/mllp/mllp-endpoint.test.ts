/** Documents whose requests go to `mllp://`. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { endpointDocument, json, type Service, startService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { acknowledge, Listener, message, STATUSES } from './listener.ts'

let service: Service
let listener: Listener
before(async () => {
  service = await startService({ CIRCUIT_BREAKER_FAILURES: '0', EGRESS_DENY: 'denied.example.org' })
  listener = await new Listener().start()
})
after(async () => {
  await service.stop()
  await listener.stop()
})
beforeEach(() => {
  listener.answer = acknowledge('AA')
  listener.messages.length = 0
})

let count = 0
async function register(requests: (url: string) => JsonObject, more: JsonObject = {}) {
  count += 1
  const pattern = `/to-mllp-${count}`
  const { _id } = await service.register({ endpoint: { pattern }, requests: requests(listener.url), ...more })
  const send = (body: unknown) => service.fetch(pattern, json('POST', body as JsonObject))
  return { id: _id, send }
}

/** MSA-1 of an acknowledgement that was read. */
const codeIn = (acknowledgement: unknown) => (acknowledgement as { MSA: [{ 1: [{ 1: string }] }] }).MSA[0][1][0][1]

describe('a response request over MLLP', () => {
  for (const [code, status] of STATUSES) {
    test(`is answered with ${status} for ${code}`, async () => {
      listener.answer = acknowledge(code)
      const { send } = await register((url) => ({ response: { id: 'lab', config: { url } } }))
      const reply = await send({ a: 1 })
      assert.equal(reply.status, status)
      // The acknowledgement, in the format of the output.
      assert.equal(codeIn(reply.json()), code)
      assert.deepEqual(listener.messages, ['{"a":1}'])
    })
  }

  test('succeeds with what allowedStatuses name', async () => {
    listener.answer = acknowledge('AR')
    const { send } = await register((url) => ({
      response: [
        { id: 'lab', config: { url }, allowedStatuses: ['2xx', '422'] },
        { id: 'other', config: { url } },
      ],
    }))
    const reply = await send({})
    assert.equal(reply.headers.get('x-crosswalk-status'), 'partial')
    assert.equal(codeIn(reply.json().lab), 'AR')
  })

  test('is sent once unless it is idempotent', async () => {
    listener.answer = (text, socket) => acknowledge(listener.messages.length === 1 ? 'AE' : 'AA')(text, socket)
    const { send } = await register((url) => ({ response: { id: 'lab', config: { url }, retries: 3 } }))
    assert.equal((await send({})).status, 503)
    assert.equal(listener.messages.length, 1)
    listener.messages.length = 0
    const again = await register((url) => ({
      response: { id: 'lab', config: { url }, retries: 3, idempotent: true },
    }))
    assert.equal((await again.send({})).status, 200)
    assert.equal(listener.messages.length, 2)
  })

  test('that gets no acknowledgement in time fails', async () => {
    listener.answer = () => undefined
    const { send } = await register((url) => ({ response: { id: 'lab', config: { url }, timeoutMs: 50 } }))
    const reply = await send({})
    assert.equal(reply.status, 504)
    assert.equal((reply.json() as JsonObject).code, 'RESPONSE_TIMED_OUT')
    assert.match(reply.text, /SEND mllp:\/\/127\.0\.0\.1:\d+ timed out after 50 ms/)
  })

  test('never sends more than one message', async () => {
    const { id, send } = await register((url) => ({ response: { id: 'lab', config: { url } } }), {
      transformation: { input: 'JSON', output: 'TEXT' },
      inputMapping: { 'requestBody.t': 'text' },
    })
    assert.equal((await send({ t: 'MSH|1' })).status, 200)
    const reply = await send({ t: 'MSH|1\r\u001c\r\u000bMSH|2\r' })
    assert.equal(reply.status, 502)
    assert.match(reply.text, /the message has the byte 0x1C/)
    assert.deepEqual(listener.messages, ['MSH|1'])
    const openapi = await service.fetch(`/endpoints/${id}/openapi.json`)
    assert.match(openapi.text, /RESPONSE_REFUSED/)
  })

  test('is in the record of the message, with its acknowledgement', async () => {
    const { id, send } = await register((url) => ({ response: { id: 'lab', config: { url } } }))
    const reply = await send({})
    const messageId = reply.headers.get('x-crosswalk-message-id')
    const read = () =>
      fetch(`${service.adminUrl}/messages/${messageId}`).then((answer) => answer.json() as Promise<JsonObject>)
    const record = await until(read, ({ code }) => code === undefined)
    assert.equal(record.endpointId, id)
    const [call] = record.calls as JsonObject[]
    assert.equal(call?.target, listener.url)
    assert.equal(call?.method, 'SEND')
    assert.equal(call?.status, 200)
  })
})

test('a lookup sends the incoming message and reads the acknowledgement', async () => {
  const { send } = await register(
    (url) => ({
      lookup: {
        id: 'lab',
        config: { url, headers: { 'Content-Type': 'application/json' } },
        forwardExistingRequestBody: true,
      },
    }),
    { inputMapping: { 'lookupRequests.lab.data': 'said' } },
  )
  const reply = await send({ b: 2 })
  assert.equal(reply.status, 200)
  assert.equal(codeIn(reply.json().said), 'AA')
  assert.deepEqual(listener.messages, ['{"b":2}'])
})

describe('a message of HL7 v2', () => {
  const hl7 = (pattern: string, body: string) =>
    service.fetch(pattern, { method: 'POST', body, headers: { 'content-type': 'application/hl7-v2' } })

  test('is forwarded byte for byte, and its acknowledgement can be read', async () => {
    await service.register({
      endpoint: { pattern: '/hl7-lookup' },
      transformation: { input: 'HL7V2', output: 'JSON' },
      requests: {
        lookup: {
          id: 'lab',
          config: { url: listener.url, headers: { 'Content-Type': 'application/hl7-v2' } },
          forwardExistingRequestBody: true,
        },
      },
      inputMapping: { 'lookupRequests.lab.data.MSA[0].1[0].1': 'code', 'lookupRequests.lab.data.MSA[0].2[0].1': 'id' },
    })
    const reply = await hl7('/hl7-lookup', message('77'))
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(reply.json(), { code: 'AA', id: '77' })
    assert.deepEqual(listener.messages, [message('77')])
  })

  test('is sent on, and its acknowledgement is the answer', async () => {
    await service.register({
      endpoint: { pattern: '/hl7-response' },
      transformation: { input: 'HL7V2', output: 'HL7V2' },
      requests: { response: { id: 'lab', config: { url: listener.url } } },
    })
    const reply = await hl7('/hl7-response', message('78'))
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.text, acknowledge('AA')(message('78'), undefined as never))
    assert.deepEqual(listener.messages, [message('78')])
    listener.answer = () => 'MSH|^~\\&|a\rMSA|AA|another\r'
    const mixedUp = await hl7('/hl7-response', message('79'))
    assert.equal(mixedUp.status, 502)
    assert.match(mixedUp.text, /is for another message/)
  })
})

test('an item of a forEach is a message', async () => {
  const { send } = await register((url) => ({
    response: { id: 'lab', config: { url }, forEach: { items: 'requestBody.all', concurrency: 2 } },
  }))
  assert.equal((await send({ all: [1, 2, 3] })).status, 200)
  assert.deepEqual(listener.messages.toSorted(), ['1', '2', '3'])
})

test('a dry run sends nothing and shows the call', async () => {
  const document = endpointDocument({
    endpoint: { pattern: '/dry' },
    requests: { response: { id: 'lab', config: { url: 'mllp://lab:2575' } } },
  })
  const canned = { status: 422, body: message('1'), headers: { 'content-type': 'text/plain' } }
  const reply = await service.fetch(
    '/endpoints/dry-run',
    json('POST', { endpoint: document, message: { body: { a: 1 } }, responses: { lab: canned } }),
  )
  assert.equal(reply.status, 200, reply.text)
  const { calls } = reply.json() as { calls: JsonObject[] }
  const [call] = calls as [JsonObject]
  assert.deepEqual([call.url, call.answered, (call.answer as JsonObject).status], ['mllp://lab:2575', 'canned', 422])
  assert.deepEqual(listener.messages, [])
})

describe('a document', () => {
  const lab = 'mllp://lab:2575'
  const faults: readonly [name: string, requests: JsonObject, path: string, sentence: RegExp][] = [
    [
      'without a port',
      { response: { id: 'a', config: { url: 'mllp://lab' } } },
      'requests.response[0].config.url',
      /needs a port/,
    ],
    [
      'with a path',
      { response: { id: 'a', config: { url: `${lab}/a` } } },
      'requests.response[0].config.url',
      /host and a port alone/,
    ],
    [
      'with a method',
      { response: { id: 'a', config: { url: lab, method: 'PUT' } } },
      'requests.response[0].config.method',
      /no methods/,
    ],
    [
      'with headers',
      { response: { id: 'a', config: { url: lab, headers: { 'X-A': '1' } } } },
      'requests.response[0].config.headers.X-A',
      /no headers/,
    ],
    [
      'with parameters',
      { response: { id: 'a', config: { url: lab, params: { query: { a: { path: 'constants' } } } } } },
      'requests.response[0].config.params.query',
      /without parameters/,
    ],
    [
      'with redirects',
      { response: { id: 'a', config: { url: lab, followRedirects: 1 } } },
      'requests.response[0].config.followRedirects',
      /no redirects/,
    ],
    [
      'with the key of a record',
      { response: { id: 'a', config: { url: lab }, key: { path: 'constants' } } },
      'requests.response[0].key',
      /key of a record/,
    ],
    [
      'with two targets',
      { response: { id: 'a', config: { url: lab }, kafkaProducerTopic: 'out' } },
      'requests.response[0]',
      /has both/,
    ],
    [
      'whose lookup has no message',
      { lookup: { id: 'a', config: { url: lab } } },
      'requests.lookup[0]',
      /sends the incoming message/,
    ],
  ]
  for (const [name, requests, path, sentence] of faults) {
    test(`${name} is refused`, async () => {
      const reply = await service.fetch(
        '/endpoints',
        json('POST', endpointDocument({ endpoint: { pattern: '/faulty' }, requests })),
      )
      assert.equal(reply.status, 400)
      const { details } = reply.json() as { details: { path: string; message: string }[] }
      const found = details.find((one) => one.path === path)
      assert.match(found?.message ?? JSON.stringify(details), sentence)
      assert.equal(details.length, 1, JSON.stringify(details))
    })
  }

  test('to a host that is denied is warned of', async () => {
    const url = 'mllp://denied.example.org:2575'
    const document = endpointDocument({
      endpoint: { pattern: '/denied' },
      requests: { response: { id: 'a', config: { url } } },
    })
    const reply = await service.fetch('/endpoints/dry-run', json('POST', { endpoint: document, run: false }))
    const { lint } = reply.json() as { lint: { warnings: JsonObject[] } }
    assert.match(JSON.stringify(lint.warnings), /Every call will fail with EGRESS_DENIED.*EGRESS_DENY denies it/)
  })
})

test('/metrics counts the calls', async () => {
  const text = await fetch(`${service.adminUrl}/metrics`).then((reply) => reply.text())
  assert.match(text, /crosswalk_outbound_calls_total\{[^}]*request="lab",status="422",fault=""\} \d/)
})
