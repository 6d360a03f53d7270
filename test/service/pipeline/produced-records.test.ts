/** Which documents only go from topic to topic, and what is said of those that say `exactlyOnce` and do more. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkDocument } from '../../../src/config/checks/check-document.ts'
import type { JsonObject } from '../../../src/domain/json.ts'
import { collectInto, type Lint } from '../../../src/domain/lint.ts'
import { producedRecords } from '../../../src/pipeline/produced-records.ts'
import { endpointDocument } from '../../support/service.ts'

const topic = (id: string, fields: JsonObject = {}) => ({ id, kafkaProducerTopic: id, ...fields })
const url = { id: 'a', config: { method: 'POST', url: 'http://127.0.0.1/' } }
const lookup = { id: 'l', config: { method: 'GET', url: 'http://127.0.0.1/' } }

type Case = Readonly<{
  name: string
  document: JsonObject
  produces?: number
  faults?: readonly (readonly [string, string])[]
}>

const exactlyOnce = (fields: JsonObject, response: JsonObject[] = [topic('a')]): JsonObject => {
  const { kafka = {}, requests = {}, ...others } = fields as { kafka?: JsonObject; requests?: JsonObject }
  return { kafka: { exactlyOnce: true, ...kafka }, requests: { ...requests, response }, ...others }
}

const cases: readonly Case[] = [
  { name: 'by default, records do not overlap', document: { requests: { response: [topic('a')] } } },
  {
    name: 'they overlap where the document asks for its order',
    document: { kafka: { order: 'partition' }, requests: { response: [topic('a'), topic('b')] } },
    produces: 2,
  },
  {
    name: 'not if a message does more, which is no fault',
    document: { kafka: { order: 'partition' }, requests: { lookup: [lookup], response: [topic('a')] } },
  },
  { name: 'exactlyOnce', document: exactlyOnce({}), produces: 1 },
  { name: 'exactlyOnce: false', document: exactlyOnce({ kafka: { exactlyOnce: false } }) },
  {
    name: 'with its order',
    document: exactlyOnce({ kafka: { order: 'partition' } }, [topic('a'), topic('b')]),
    produces: 2,
  },
  {
    name: 'with another order',
    document: exactlyOnce({ kafka: { order: 'key' } }),
    produces: 1,
    faults: [['kafka.order', 'write "partition", or leave "order" out']],
  },
  {
    name: 'with a lookup',
    document: exactlyOnce({ requests: { lookup: [lookup] } }),
    produces: 1,
    faults: [['requests.lookup', 'A lookup cannot be part of a Kafka transaction; leave it out']],
  },
  {
    name: 'with state',
    document: exactlyOnce({ state: { extract: { requestBody: { seen: 'id' } } } }),
    produces: 1,
    faults: [['state', 'State that the message reads or leaves cannot be part']],
  },
  {
    name: 'with a URL beside a topic',
    document: exactlyOnce({}, [topic('b'), url]),
    produces: 2,
    faults: [['requests.response[1]', 'A request to a URL cannot be part']],
  },
  {
    name: 'with forEach',
    document: exactlyOnce({}, [topic('a', { forEach: { items: 'requestBody.list' } })]),
    produces: 1,
    faults: [['requests.response[0].forEach', '"forEach" cannot be part']],
  },
  {
    name: 'without a response request',
    document: exactlyOnce({}, []),
    produces: 0,
    faults: [['kafka.exactlyOnce', 'add a response request with a topic']],
  },
]

describe('records that a message produces', () => {
  for (const { name, document, produces, faults = [] } of cases) {
    test(name, () => {
      const { endpoint } = checkDocument(endpointDocument({ kafkaConsumerTopic: 't', ...document }))
      const lints: Lint[] = []
      assert.equal(producedRecords(endpoint, collectInto(lints)), produces)
      assert.deepEqual(
        lints.map(({ path, severity }) => [path, severity]),
        faults.map(([path]) => [path, 'error']),
      )
      for (const [index, [, text]] of faults.entries())
        assert.ok(lints[index]?.message.includes(text), lints[index]?.message)
    })
  }
})
