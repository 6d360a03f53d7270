/** What becomes of spans whose collector refuses them, is busy or takes too few. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import { newSpanId, newTraceId, startTrace } from '../../../src/core/tracing/trace.ts'
import { createExporter, type Exporter } from '../../../src/observe/traces/exporter.ts'
import { until } from '../../support/broker/broker.ts'
import { type Collector, startCollector } from '../../support/observe/traces/collector.ts'

type Warning = Readonly<{ fields: object; message: string }>

/** One span each: neither a stage nor a call. */
function message(state?: string): Parameters<Exporter['observe']>[0] {
  const context = { traceId: newTraceId(), spanId: newSpanId(), parentId: undefined, sampled: true, state }
  return {
    messageId: newSpanId(),
    source: 'http',
    outcome: 'done',
    code: '',
    startedAt: Date.now(),
    ms: 1.5,
    trace: startTrace(context),
    answer: { status: 200 },
    incoming: undefined,
    compiled: undefined,
  }
}

async function exporting(
  refuse: (response: ServerResponse, before: number) => boolean,
  use: (exporter: Exporter, collector: Collector, warnings: readonly Warning[]) => Promise<void>,
): Promise<void> {
  const collector = await startCollector(refuse)
  const warnings: Warning[] = []
  const exporter = createExporter({
    url: `${collector.url}/v1/traces`,
    headers: {},
    serviceName: 'mapper',
    version: '0.0.0',
    logger: { warn: (fields, message) => void warnings.push({ fields, message }) },
    timeoutMs: 500,
  })
  await use(exporter, collector, warnings)
  await collector.stop()
}

const answering = (status: number) => (response: ServerResponse) => {
  response.statusCode = status
  response.end()
  return true
}

describe('a collector', () => {
  const later: readonly { name: string; refuse: (response: ServerResponse) => boolean }[] = [
    { name: 'answers 503', refuse: answering(503) },
    { name: 'answers 429', refuse: answering(429) },
    {
      name: 'drops the connection',
      refuse: (response) => {
        response.destroy()
        return true
      },
    },
    { name: 'does not answer in time', refuse: () => true },
  ]
  for (const { name, refuse } of later) {
    test(`that ${name} gets the spans later, once, and is logged once`, () =>
      exporting(
        (response, before) => before < 2 && refuse(response),
        async (exporter, { spans }, warnings) => {
          for (let n = 0; n < 3; n += 1) exporter.observe(message())
          await until(
            () => spans.length,
            (count) => count === 3,
          )
          await exporter.close()
          assert.equal(spans.length, 3)
          assert.deepEqual(
            warnings.map(({ fields }) => fields),
            [{ lost: 0 }],
          )
          assert.match(warnings[0]?.message ?? '', /^Traces do not reach the collector: /)
        },
      ))
  }

  test('that refuses spans for good does not get them again', () =>
    exporting(
      (response, before) => before === 0 && answering(400)(response),
      async (exporter, { spans, received }, warnings) => {
        exporter.observe(message())
        await until(
          () => warnings.length,
          (count) => count > 0,
        )
        exporter.observe(message())
        await exporter.close()
        assert.deepEqual([spans.length, received.length], [1, 2])
        assert.deepEqual(warnings, [
          { fields: { lost: 1 }, message: 'Traces do not reach the collector: it answered with status 400' },
          { fields: { lost: 1 }, message: 'Some spans did not reach the collector' },
        ])
      },
    ))

  test('that never answers has 10,000 spans waiting for it at most, and close waits for at most 2 s', () =>
    exporting(
      () => true,
      async (exporter, { received }, warnings) => {
        for (let n = 0; n < 12_345; n += 1) exporter.observe(message())
        await until(
          () => received.length,
          (count) => count > 0,
        )
        const startMs = performance.now()
        await exporter.close()
        assert.ok(performance.now() - startMs < 15_000)
        assert.deepEqual(warnings.at(-1), {
          fields: { lost: 12_345 },
          message: 'Some spans did not reach the collector',
        })
      },
    ))
})

test('hands on the trace state of the caller as it came', () =>
  exporting(
    () => false,
    async (exporter, { spans }) => {
      exporter.observe(message('vendor=1,other@tenant=x:y'))
      await exporter.close()
      assert.equal(spans[0]?.traceState, 'vendor=1,other@tenant=x:y')
    },
  ))
