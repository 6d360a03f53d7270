/** Where the console says that messages arrive. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type EndpointRow, entrancesBesideRoute, formatEntrance } from '../../../../console/src/api/endpoint-row.ts'
import { DOORS } from '../../../../src/core/origin.ts'

const row = (fields: Partial<EndpointRow>): EndpointRow => fields as EndpointRow

test('each door but that of routes says what summaries show of it', () => {
  for (const [door, { entrance }] of Object.entries(DOORS)) assert.equal(entrance === undefined, door === 'http', door)
})

test('a row names its route, or the doors beside it', () => {
  const both = { kafkaConsumerTopic: 'orders', mllpPort: 2575 }
  assert.equal(formatEntrance(row({ method: 'POST', pattern: '/a', ...both }), 'http://b'), 'POST http://b/a')
  assert.equal(formatEntrance(row(both)), 'topic orders, MLLP port 2575')
  assert.deepEqual(entrancesBesideRoute(row({ mllpPort: 2575 })), ['MLLP port 2575'])
  assert.deepEqual(entrancesBesideRoute(row({ method: 'POST', pattern: '/a' })), [])
})
