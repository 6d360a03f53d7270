/** The state of the service: /uptime on both ports, health and metrics on the admin port. */
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { JsonObject } from '../../../domain/json.ts'
import type { MediatorStatus } from '../../../domain/openhim/core-port.ts'
import type { ConsumerStatus } from '../../../domain/ports/consumer-state.ts'
import type { WorkerCounts } from '../../../domain/worker-processes.ts'
import { refuseBelow, refuseOtherMethods, sendJson } from '../replies.ts'
import { needs } from './auth-hook.ts'

export function serveUptime(server: FastifyInstance, uptimeMs: () => number): void {
  server.get('/uptime', needs('open'), async (_request, reply) =>
    sendJson(reply, 200, { milliseconds: Math.floor(uptimeMs()) }),
  )
  refuseOtherMethods(server, '/uptime', ['GET'], 'open')
  refuseBelow(server, '/uptime', 'open')
}

/** `ready`: whether the service can answer messages now; the rest is detail for people. */
export type Health = Readonly<{
  ready: boolean
  stopping: boolean
  version: string
  /** Whether the store can be read and written. */
  store: 'ok' | 'unavailable'
  /** One sentence; undefined if all is well. */
  storeError: string | undefined
  /** Whether records of messages can be read and written. If not, messages are answered all the same. */
  messageLog: 'ok' | 'unavailable'
  messageLogError: string | undefined
  /** The version of the shared store that this instance has loaded; undefined if the store is not shared. */
  configurationVersion: number | undefined
  endpoints: number
  /** Ids of stored endpoints that this version of the service rejects. */
  endpointsNotInForce: readonly string[]
  /** How many endpoints are active since the start and not checked yet; undefined if all are. */
  endpointsUnchecked: number | undefined
  messagesInFlight: number
  /** Undefined if the service has one process. */
  workers: WorkerCounts | undefined
  /** An unavailable broker does not make the service unready: messages over HTTP do not need it. */
  consumers: readonly ConsumerStatus[]
  /** Undefined if the service is not a mediator. A core that is away does not make the service unready either. */
  openhim: MediatorStatus | undefined
}>

export function serveConsumers(server: FastifyInstance, status: () => Promise<readonly ConsumerStatus[]>): void {
  server.get('/consumers', needs('viewer'), async () => status())
  refuseOtherMethods(server, '/consumers', ['GET'])
}

/** The counts of the messages of all endpoints. */
export function serveTotals(server: FastifyInstance, report: () => Promise<JsonObject>): void {
  server.get('/stats', needs('viewer'), async (_request, reply) => sendJson(reply, 200, await report()))
  refuseOtherMethods(server, '/stats', ['GET'])
}

export function serveHealth(server: FastifyInstance, health: () => Promise<Health>): void {
  server.get('/health/live', needs('open'), async (_request, reply) => sendJson(reply, 200, { status: 'alive' }))
  server.get('/health/ready', needs('open'), async (_request, reply) => {
    const { ready, ...detail } = await health()
    if (ready) return sendJson(reply, 200, { status: 'ready', ...detail })
    return sendJson(reply, 503, { status: 'not ready', ...detail }, { 'retry-after': '1' })
  })
}

/** Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats/). */
const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** /metrics, for Prometheus. `metrics` gives the body in parts; the next one is made when the caller has read the last. */
export function serveMetrics(server: FastifyInstance, metrics: () => AsyncIterable<Uint8Array>): void {
  server.get('/metrics', needs('metrics'), async (_request, reply) =>
    reply.type(EXPOSITION_TYPE).send(Readable.from(metrics(), { objectMode: false })),
  )
}
