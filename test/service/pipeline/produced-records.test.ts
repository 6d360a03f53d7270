/** Which documents only go from topic to topic, and what is said of those that say `exactlyOnce` and do more. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../src/core/lint.ts'
import { checkDocument } from '../../../src/document/checks/check-document.ts'
import { producedRecords } from '../../../src/pipeline/produced-records.ts'
import { endpointDocument } from '../../support/service.ts'

const topic = (id: string, fields: JsonObject = {}) => ({ id, kafkaProducerTopic: id, ...fields })
const url = { id: 'a', config: { method: 'POST', url: 'http://127.0.0.1/' } }
const lookup = { id: 'l', config: { method: 'GET', url: 'http://127.0.0.1/' } }

type Case = [name: string, document: JsonObject, produces?: number, ...fault: [] | [path: string, says: string]]

const exactlyOnce = (fields: JsonObject, response: JsonObject[] = [topic('a')]): JsonObject => {
  const { kafka = {}, requests = {}, ...others } = fields as { kafka?: JsonObject; requests?: JsonObject }
  return { kafka: { exactlyOnce: true, ...kafka }, requests: { ...requests, response }, ...others }
}

const cases: Case[] = [
  ['by default, records do not overlap', { requests: { response: [topic('a')] } }],
  [
    'they overlap where the document asks for its order',
    { kafka: { order: 'partition' }, requests: { response: [topic('a'), topic('b')] } },
    2,
  ],
  [
    'not if a message does more, which is no fault',
    { kafka: { order: 'partition' }, requests: { lookup: [lookup], response: [topic('a')] } },
  ],
  ['exactlyOnce', exactlyOnce({}), 1],
  ['exactlyOnce: false', exactlyOnce({ kafka: { exactlyOnce: false } })],
  ['with its order', exactlyOnce({ kafka: { order: 'partition' } }, [topic('a'), topic('b')]), 2],
  [
    'with another order',
    exactlyOnce({ kafka: { order: 'key' } }),
    1,
    'kafka.order',
    'write "partition", or leave "order" out',
  ],
  [
    'with a lookup',
    exactlyOnce({ requests: { lookup: [lookup] } }),
    1,
    'requests.lookup',
    'A lookup cannot be part of a Kafka transaction; leave it out',
  ],
  [
    'with state',
    exactlyOnce({ state: { extract: { requestBody: { seen: 'id' } } } }),
    1,
    'state',
    'State that the message reads or leaves cannot be part',
  ],
  [
    'with a URL beside a topic',
    exactlyOnce({}, [topic('b'), url]),
    2,
    'requests.response[1]',
    'A request to a URL cannot be part',
  ],
  [
    'with forEach',
    exactlyOnce({}, [topic('a', { forEach: { items: 'requestBody.list' } })]),
    1,
    'requests.response[0].forEach',
    '"forEach" cannot be part',
  ],
  [
    'with a durable request',
    exactlyOnce({}, [topic('a', { delivery: {} })]),
    1,
    'requests.response[0].delivery',
    'A durable request cannot be part',
  ],
  [
    'with when',
    exactlyOnce({}, [topic('a', { when: 'true' })]),
    1,
    'requests.response[0].when',
    'A request with "when" cannot be part',
  ],
  [
    'with when, they do not overlap, which is no fault',
    { kafka: { order: 'partition' }, requests: { response: [topic('a', { when: 'true' })] } },
  ],
  ['without a response request', exactlyOnce({}, []), 0, 'kafka.exactlyOnce', 'add a response request with a topic'],
]

for (const [name, document, produces, path, says] of cases) {
  test(`records that a message produces: ${name}`, () => {
    const { endpoint } = checkDocument(endpointDocument({ kafkaConsumerTopic: 't', ...document }))
    const lints: Lint[] = []
    assert.equal(producedRecords(endpoint, collectInto(lints)), produces)
    const places = lints.map((lint) => [lint.path, lint.severity])
    assert.deepEqual(places, path === undefined ? [] : [[path, 'error']])
    if (says !== undefined) assert.ok(lints[0]?.message.includes(says), lints[0]?.message)
  })
}
