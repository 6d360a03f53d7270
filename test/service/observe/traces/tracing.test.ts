/** Traces: what a collector gets to see of messages over HTTP, and what other systems get to see of the trace. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { after, beforeEach, describe, test } from 'node:test'
import { HTTP } from '../../../../src/core/origin.ts'
import { readParent } from '../../../../src/core/tracing/trace.ts'
import { createSampling, type Sampler } from '../../../../src/observe/traces/sampling.ts'
import { until } from '../../../support/broker/broker.ts'
import { describeServices } from '../../../support/databases.ts'
import { type CollectedSpan, startCollector } from '../../../support/observe/traces/collector.ts'
import { json, startService, startUpstream } from '../../../support/service.ts'
import { nowhere } from '../../../support/services/free-ports.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'

test('traceparent is read, or ignored where it is not of its form', () => {
  const good: readonly (readonly [header: string, sampled: boolean])[] = [
    [`00-${TRACE}-${CALLER}-01`, true],
    [`00-${TRACE}-${CALLER}-00`, false],
    [`00-${TRACE}-${CALLER}-03`, true],
    [`cc-${TRACE}-${CALLER}-01-what-will-be`, true],
  ]
  for (const [traceparent, sampled] of good)
    assert.deepEqual(readParent({ traceparent }), { traceId: TRACE, parentId: CALLER, sampled, state: undefined })
  for (const traceparent of [
    `00-${TRACE}-${CALLER}-01-more`,
    `ff-${TRACE}-${CALLER}-01`,
    `00-${'0'.repeat(32)}-${CALLER}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${CALLER}-01`,
    `00-${TRACE}-${CALLER}`,
    '',
  ])
    assert.equal(readParent({ traceparent }), undefined, traceparent)
})

describe('sampling', () => {
  test('follows the caller, or not, as the sampler says', () => {
    const cases: readonly (readonly [sampler: Sampler, ratio: number, flags: '00' | '01' | undefined, is: boolean])[] =
      [
        ['parentbased_always_on', 1, undefined, true],
        ['parentbased_always_on', 1, '01', true],
        ['parentbased_always_on', 1, '00', false],
        ['parentbased_always_off', 1, undefined, false],
        ['parentbased_always_off', 1, '01', true],
        ['parentbased_traceidratio', 0, '01', true],
        ['parentbased_traceidratio', 0, undefined, false],
        ['parentbased_traceidratio', 1, undefined, true],
        ['always_on', 1, '00', true],
        ['always_off', 1, '01', false],
        ['traceidratio', 0, '01', false],
        ['traceidratio', 1, '00', true],
      ]
    for (const [sampler, ratio, flags, is] of cases) {
      const requestHeaders = flags === undefined ? {} : { traceparent: `00-${TRACE}-${CALLER}-${flags}` }
      const { sampled, traceId } = createSampling(sampler, ratio)({ requestHeaders, origin: HTTP })
      assert.deepEqual([sampled, traceId === TRACE], [is, flags !== undefined], `${sampler} ${ratio} ${flags}`)
    }
  })

  test('a ratio takes about that share of traces, and the same ones everywhere', () => {
    const [one, other] = [createSampling('traceidratio', 0.25), createSampling('traceidratio', 0.25)]
    let taken = 0
    for (let n = 0; n < 4_000; n += 1) {
      const started = one({ requestHeaders: {}, origin: HTTP })
      const requestHeaders = { traceparent: `00-${started.traceId}-${started.spanId}-00` }
      assert.equal(other({ requestHeaders, origin: HTTP }).sampled, started.sampled)
      if (started.sampled) taken += 1
    }
    assert.ok(taken > 800 && taken < 1_200, String(taken))
  })
})

const collector = await startCollector()
const upstream = await startUpstream(({ url }, response) => {
  if (url.startsWith('/fails')) response.statusCode = 503
  return { ok: true }
})
after(async () => {
  await collector.stop()
  await upstream.stop()
})

const TRACED = {
  OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
  OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a%20b,authorization=Bearer abc',
  OTEL_SERVICE_NAME: 'mapper',
}

describeServices('the trace of a message', TRACED, (stage) => {
  beforeEach(() => {
    collector.forget()
    upstream.received.length = 0
  })
  const spansOf = (traceId: string, count: number): Promise<CollectedSpan[]> =>
    until(
      () => collector.spans.filter((span) => span.traceId === traceId),
      ({ length }) => length >= count,
    )

  test('is a span, with one for each stage and call, and the trace goes on at the targets', async () => {
    const config = { url: `${upstream.url}/fine/Mandela?token=s3cret`, method: 'POST' }
    await stage.service.register({
      name: 'Traced',
      endpoint: { pattern: '/traced/:who' },
      requests: {
        lookup: [{ id: 'look', config, forwardExistingRequestBody: true }],
        response: [{ id: 'send', config, allowedStatuses: ['2xx'] }],
      },
      state: { extract: { requestBody: { last: 'diagnosis' } } },
    })
    const reply = await stage.service.fetch(
      '/traced/Nelson?name=Rolihlahla',
      json('POST', { diagnosis: 'plague' }, { traceparent: `00-${TRACE}-${CALLER}-01`, tracestate: 'vendor=1' }),
    )
    assert.equal(reply.status, 200)
    const stages = ['recall', 'parse', 'lookup', 'map', 'extract', 'serialise', 'respond']
    const spans = await spansOf(TRACE, 1 + stages.length + 2)
    const [message = assert.fail()] = spans
    assert.deepEqual(
      spans.map(({ name, kind, parentSpanId, failed }) => [name, kind, parentSpanId, failed]),
      [
        ['POST /traced/:who', 'server', CALLER, false],
        ...stages.map((stage) => [stage, 'internal', message.spanId, false]),
        ['POST look', 'client', spans.find(({ name }) => name === 'lookup')?.spanId, false],
        ['POST send', 'client', spans.find(({ name }) => name === 'respond')?.spanId, false],
      ],
    )
    assert.deepEqual([message.service, message.traceState], ['mapper', 'vendor=1'])
    assert.deepEqual(message.attributes, {
      'crosswalk.message.id': reply.headers.get('x-crosswalk-message-id'),
      'crosswalk.endpoint': 'Traced',
      'crosswalk.source': 'http',
      'crosswalk.outcome': 'done',
      'http.request.method': 'POST',
      'http.route': '/traced/:who',
      'http.response.status_code': 200,
    })
    for (const { start, end } of spans) assert.ok(start >= message.start && end <= message.end)
    const now = BigInt(Date.now()) * 1_000_000n
    assert.ok(message.end <= now + 1_000_000_000n && message.start > now - 60_000_000_000n)
    const calls = spans.filter(({ kind }) => kind === 'client')
    assert.deepEqual(
      upstream.received.map(({ headers }) => [headers.traceparent, headers.tracestate]),
      calls.map(({ spanId }) => [`00-${TRACE}-${spanId}-01`, 'vendor=1']),
    )
    const [{ headers } = assert.fail()] = collector.received
    assert.deepEqual([headers['x-tenant'], headers.authorization], ['a b', 'Bearer abc'])
    const reported = collector.received.map(({ body }) => body).join()
    for (const secret of ['s3cret', 'Mandela', 'Nelson', 'Rolihlahla', 'plague']) assert.ok(!reported.includes(secret))
  })

  test('that fails says so, at the call to blame too', async () => {
    const config = { url: `${upstream.url}/fails` }
    await stage.service.register({ endpoint: { pattern: '/failing' }, requests: { lookup: { id: 'look', config } } })
    const traceId = TRACE.replace('0', '1')
    await stage.service.fetch('/failing', json('POST', {}, { traceparent: `00-${traceId}-${CALLER}-01` }))
    const spans = await spansOf(traceId, 4)
    assert.deepEqual(
      spans.filter(({ failed }) => failed).map(({ name, attributes }) => [name, attributes['error.type']]),
      [
        ['POST /failing', 'LOOKUP_REFUSED'],
        ['GET look', '503'],
      ],
    )
  })

  test('that its caller does not sample is not reported, and its calls say so', async () => {
    const config = { url: `${upstream.url}/fine` }
    await stage.service.register({ endpoint: { pattern: '/quiet' }, requests: { lookup: { id: 'look', config } } })
    const traceId = TRACE.replace('0', '2')
    await stage.service.fetch('/quiet', json('POST', {}, { traceparent: `00-${traceId}-${CALLER}-00` }))
    assert.match(String(upstream.received.at(-1)?.headers.traceparent), new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`))
    const later = TRACE.replace('0', '3')
    await stage.service.fetch('/quiet', json('POST', {}, { traceparent: `00-${later}-${CALLER}-01` }))
    await spansOf(later, 3)
    assert.deepEqual(await spansOf(traceId, 0), [])
  })
})

describe('a collector', () => {
  const traced = async (url: string) => {
    const service = await startService({ OTEL_EXPORTER_OTLP_ENDPOINT: url })
    await service.register({ endpoint: { pattern: '/traced' } })
    return service
  }
  const warnings = ({ log }: Awaited<ReturnType<typeof traced>>) =>
    log.filter(({ level, message }) => level === 'warn' && /collector/.test(message))

  test('gets what still waits when the service stops', async () => {
    const collector = await startCollector()
    const service = await traced(collector.url)
    await service.fetch('/traced', json('POST', {}))
    await service.stop()
    assert.equal(collector.spans.filter(({ kind }) => kind === 'server').length, 1)
    await collector.stop()
  })

  test('that is away neither fails messages nor holds them up, and what is lost is logged', async () => {
    const service = await traced(await nowhere())
    for (let n = 0; n < 3; n += 1) assert.equal((await service.fetch('/traced', json('POST', {}))).status, 200)
    await service.stop()
    const [{ fields } = assert.fail()] = warnings(service)
    assert.deepEqual(fields, { lost: 3 * 5 })
  })

  test('that never answers does not hold up the stop', async () => {
    const called = Promise.withResolvers<ServerResponse>()
    const collector = await startCollector((response) => {
      called.resolve(response)
      return true
    })
    const service = await traced(collector.url)
    await service.fetch('/traced', json('POST', {}))
    const response = await called.promise
    const givenUp = once(response, 'close').then(() => 'the call was given up')
    assert.equal(await Promise.race([service.stop().then(() => 'stopped'), givenUp]), 'stopped')
    response.end()
    await collector.stop()
  })

  test('that is not named: the headers of a trace are not passed on', async () => {
    const upstream = await startUpstream(() => ({}))
    const service = await startService()
    const config = { url: upstream.url }
    await service.register({ endpoint: { pattern: '/plain' }, requests: { lookup: { id: 'look', config } } })
    await service.fetch('/plain', json('POST', {}, { traceparent: `00-${TRACE}-${CALLER}-01` }))
    assert.equal(upstream.received[0]?.headers.traceparent, undefined)
    await service.stop()
    await upstream.stop()
  })
})
