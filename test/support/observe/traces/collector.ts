/** A collector of OpenTelemetry on 127.0.0.1: takes OTLP over HTTP as JSON, as strictly as the protocol is written. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type Received, startUpstream } from '../../service.ts'

export type CollectedSpan = Readonly<{
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  traceState: string | undefined
  name: string
  kind: string
  /** Nanoseconds since the epoch. */
  start: bigint
  end: bigint
  attributes: Readonly<Record<string, string | number>>
  failed: boolean
  service: string
}>

export type Collector = Readonly<{
  url: string
  /** Every call that reached it. */
  received: readonly Received[]
  /** Of the calls that it took, in order of arrival. */
  spans: readonly CollectedSpan[]
  /** Drops what has come so far. */
  forget(): void
  stop(): Promise<void>
}>

const KINDS = ['', 'internal', 'server', 'client', 'producer', 'consumer']

/** `refuse` may answer a call by itself, and gets the number of those before; what it gives true for is not taken. */
export async function startCollector(
  refuse: (response: ServerResponse, before: number) => boolean = () => false,
): Promise<Collector> {
  const spans: CollectedSpan[] = []
  let calls = 0
  const upstream = await startUpstream((request, response) => {
    assert.deepEqual([request.method, request.url], ['POST', '/v1/traces'])
    assert.equal(request.headers['content-type'], 'application/json')
    calls += 1
    if (refuse(response, calls - 1)) return undefined
    spans.push(...decode(request.body))
    return {}
  })
  const { url, received, stop } = upstream
  const forget = () => {
    spans.length = 0
    received.length = 0
  }
  return { url, received, spans, forget, stop }
}

type Wire = {
  resourceSpans: {
    resource: { attributes: Attributes }
    scopeSpans: { scope: { name: string; version: string }; spans: WireSpan[] }[]
  }[]
}
type Attributes = { key: string; value: { stringValue?: string; intValue?: number } }[]
type WireSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  traceState?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Attributes
  status: { code?: number }
}

function decode(body: string): CollectedSpan[] {
  const { resourceSpans } = JSON.parse(body) as Wire
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name'])
    return scopeSpans.flatMap(({ scope, spans }) => {
      assert.equal(scope.name, 'crosswalk')
      return spans.map((span) => decodeSpan(span, service))
    })
  })
}

function decodeSpan(span: WireSpan, service: string): CollectedSpan {
  assert.match(span.traceId, /^[0-9a-f]{32}$/)
  assert.match(span.spanId, /^[0-9a-f]{16}$/)
  const [start, end] = [BigInt(span.startTimeUnixNano), BigInt(span.endTimeUnixNano)]
  assert.ok(end >= start)
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    traceState: span.traceState,
    name: span.name,
    kind: KINDS[span.kind] ?? assert.fail(`a kind ${span.kind}`),
    start,
    end,
    attributes: valuesOf(span.attributes),
    failed: span.status.code === 2,
    service,
  }
}

const valuesOf = (attributes: Attributes): Record<string, string | number> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.intValue ?? assert.fail(`${key} has no value`),
    ]),
  )
