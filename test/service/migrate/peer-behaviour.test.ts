/** What openhim-mediator-mapping answered to the messages of the fixtures, compared with this service. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createReport, judgeAll } from '../../../migrate/compare/comparison-report.ts'
import { compareLive } from '../../../migrate/compare/live-comparison.ts'
import type { JsonObject } from '../../../src/core/json.ts'
import { fixtures, messagesIn } from '../../support/migrate/fixtures.ts'
import { startRecordedPeer } from '../../support/migrate/recorded-peer.ts'
import { type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'
import { answerUpstream } from './upstream.ts'

const FEWEST_MESSAGES = 20

/** How many messages are answered the same, and how many have each deliberate difference: a rule that explains more shows here. */
const EXPECTED: Readonly<Record<string, readonly [same: number, deliberate: JsonObject]>> = {
  'body-height': [0, { 'time-of-message': 25, 'failure-body': 6, 'failure-status': 5 }],
  'change-person': [
    21,
    { 'empty-parents': 10, 'failure-body': 6, 'route-matching': 3, 'failure-status': 2, 'url-values': 1 },
  ],
  'changes-since': [21, {}],
  'each-unit': [
    17,
    {
      'url-values': 13,
      'failure-body': 10,
      'paths-over-arrays': 6,
      'failure-status': 4,
      'nested-arrays': 2,
      'empty-answers': 1,
      'empty-parents': 1,
    },
  ],
  facilities: [18, { 'failure-body': 3, 'url-encoding': 1, 'failure-status': 1, 'url-values': 1 }],
  'intake-form': [0, { 'empty-parents': 23, 'failure-body': 9, 'null-targets': 1, 'failure-status': 1 }],
  'link-record': [40, { 'failure-body': 3, 'empty-parents': 2, 'failure-status': 2 }],
  practitioners: [
    12,
    { 'failure-body': 4, 'empty-answers': 2, 'url-encoding': 1, 'failure-status': 1, 'lookup-texts': 1 },
  ],
  register: [
    26,
    {
      'missing-values': 6,
      'failure-body': 6,
      'wildcard-places': 3,
      'empty-parents': 2,
      'failure-status': 2,
      'nested-arrays': 1,
      'paths-over-arrays': 1,
    },
  ],
  'two-targets': [
    38,
    {
      'url-values': 9,
      'empty-answers': 6,
      'failure-body': 2,
      'failed-response': 2,
      'paths-over-arrays': 1,
      'failure-status': 1,
    },
  ],
  'xml-answer': [21, { 'failure-body': 5, 'xml-values': 5, 'empty-parents': 2, 'failure-status': 1 }],
  'xml-order': [18, { 'failure-body': 4, 'xml-white-space': 1 }],
}

describe('each fixture behaves as with the peer', () => {
  let service: Service
  let upstream: Upstream
  before(async () => {
    service = await startService()
    upstream = await startUpstream(answerUpstream)
  })
  after(async () => {
    await service.stop()
    await upstream.stop()
  })

  for (const { name } of fixtures('')) {
    test(name, async () => {
      const fixture = fixtures(upstream.url).find((one) => one.name === name)
      assert.ok(fixture)
      await service.register(fixture.document)
      const peer = await startRecordedPeer(name)
      try {
        const comparisons = await compareLive({
          peerUrl: peer.url,
          serviceUrl: service.url,
          key: undefined,
          messages: messagesIn(fixture.messages),
          allowSideEffects: true,
          progress: () => undefined,
        })
        const report = createReport(judgeAll(comparisons, []), [])
        assert.equal(report.unexplained, 0, report.text)
        const { same, deliberate } = report.json.summary as JsonObject
        assert.deepEqual([same, deliberate], EXPECTED[name])
        assert.ok(comparisons.length >= FEWEST_MESSAGES, `${comparisons.length} messages`)
      } finally {
        await peer.stop()
      }
    })
  }
})
