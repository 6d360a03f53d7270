import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CompiledEndpoint } from '../../../../src/endpoints/compiled-endpoint.ts'
import { createMessageMetrics } from '../../../../src/observe/metrics/message-metrics.ts'
import type { OutcomeName } from '../../../../src/pipeline/outcome.ts'

test('counts messages by endpoint, outcome and code', () => {
  const messageMetrics = createMessageMetrics()
  assert.deepEqual(messageMetrics.entries(), [])
  const counts: readonly (readonly [name: string, outcome: OutcomeName, code: string, count: number])[] = [
    ['', 'refused', 'ROUTE_UNKNOWN', 1],
    ['a', 'done', '', 2],
    ['a', 'failed', 'LOOKUP_REFUSED', 1],
    ['a', 'failed', 'LOOKUP_UNREACHABLE', 1],
    ['a', 'partial', '', 1],
    ['a', 'refused', 'LOOKUP_REFUSED', 2],
    ['b', 'done', '', 1],
  ]
  for (const [name, outcome, code, count] of counts) {
    const compiled = name === '' ? undefined : ({ document: { name } } as CompiledEndpoint)
    for (let n = 0; n < count; n++) messageMetrics.count({ compiled, outcome, code })
  }
  const counted = messageMetrics.entries().map(({ endpoint, outcome, code, count }) => [endpoint, outcome, code, count])
  assert.deepEqual(counted.sort(), counts)
})
