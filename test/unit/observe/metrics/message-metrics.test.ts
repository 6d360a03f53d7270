import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '../../../../src/core/failure.ts'
import type { FailureCode } from '../../../../src/core/failure-table.ts'
import type { Answer } from '../../../../src/core/message.ts'
import { checkDocument } from '../../../../src/document/checks/check-document.ts'
import type { CompiledEndpoint } from '../../../../src/endpoints/compiled-endpoint.ts'
import { createMessageMetrics } from '../../../../src/observe/metrics/message-metrics.ts'
import type { Outcome } from '../../../../src/pipeline/outcome.ts'
import { classifyOutcome, outcomeCode } from '../../../../src/pipeline/outcome.ts'

const answered = (answer: Partial<Answer> = {}): Outcome => ({
  answer: { status: 200, headers: {}, body: '', ...answer },
  failure: undefined,
})
const failed = (code: FailureCode, status?: number): Outcome => ({
  answer: { status: 0, headers: {}, body: '' },
  failure: new Failure(code, '', status === undefined ? {} : { status }),
})

function named(name: string): CompiledEndpoint {
  const raw = { name, endpoint: { pattern: '/' }, transformation: { input: 'JSON', output: 'JSON' } }
  const document = { ...raw, _id: '', createdAt: '', updatedAt: '', __v: 0 as const }
  return { version: 1, document, endpoint: checkDocument(raw).endpoint, routeKey: '', handle: () => answered() }
}

test('counts messages by endpoint, outcome and code', () => {
  const messageMetrics = createMessageMetrics()
  assert.deepEqual(messageMetrics.entries(), [])
  const [a, b] = [named('a'), named('b')]
  const reported: readonly (readonly [CompiledEndpoint | undefined, Outcome])[] = [
    [a, answered()],
    [b, answered()],
    [a, answered()],
    // What an upstream said is the answer as configured, whatever its status and headers, unless it was a refusal.
    [b, answered({ status: 503, headers: { 'x-crosswalk-status': 'partial' } })],
    [b, answered({ status: 404, refused: true })],
    [b, answered({ status: 302, refused: true })],
    [b, answered({ status: 503, refused: true })],
    [a, answered({ partial: true })],
    [a, failed('BODY_UNREADABLE')],
    [a, failed('LOOKUP_UNREACHABLE')],
    [a, failed('LOOKUP_REFUSED', 404)],
    [a, failed('LOOKUP_REFUSED', 404)],
    [a, failed('LOOKUP_REFUSED', 503)],
    [undefined, failed('ROUTE_UNKNOWN')],
  ]
  for (const [compiled, outcome] of reported)
    messageMetrics.count({ compiled, outcome: classifyOutcome(outcome), code: outcomeCode(outcome) })
  const lines = messageMetrics
    .entries()
    .map(({ endpoint, outcome, code, count }) => `${endpoint} ${outcome} ${code} ${count}`)
  assert.deepEqual(lines.sort(), [
    ' refused ROUTE_UNKNOWN 1',
    'a done  2',
    'a failed LOOKUP_REFUSED 1',
    'a failed LOOKUP_UNREACHABLE 1',
    'a partial  1',
    'a refused BODY_UNREADABLE 1',
    'a refused LOOKUP_REFUSED 2',
    'b done  2',
    'b failed RESPONSE_REFUSED 1',
    'b refused RESPONSE_REFUSED 2',
  ])
})
