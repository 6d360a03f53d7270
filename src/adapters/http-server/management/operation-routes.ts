/** What tells how the service is: /uptime on both ports, health and metrics on the admin port. */
import type { FastifyInstance } from 'fastify'
import type { ConsumerStatus } from '../../../domain/ports/consumer-state.ts'
import type { WorkerCounts } from '../../../domain/worker-processes.ts'
import { sendJson } from '../replies.ts'
import { needs } from './auth-hook.ts'
import { refuseBelow, refuseOtherMethods } from './endpoint-routes.ts'

export function serveUptime(server: FastifyInstance, uptimeMs: () => number): void {
  server.get('/uptime', needs('open'), async (_request, reply) =>
    sendJson(reply, 200, { milliseconds: Math.floor(uptimeMs()) }),
  )
  refuseOtherMethods(server, '/uptime', ['GET'], 'open')
  refuseBelow(server, '/uptime', 'open')
}

/** `ready`: whether messages can be answered now; the rest is detail for people. */
export type Health = Readonly<{
  ready: boolean
  stopping: boolean
  /** Of the service. */
  version: string
  store: 'ok' | 'unavailable'
  /** The version of the shared store that this instance is on; left out where the store is not shared. */
  configurationVersion: number | undefined
  endpoints: number
  /** Stored endpoints that this version refuses, by id. */
  endpointsNotInForce: readonly string[]
  messagesInFlight: number
  /** Of a service that has several; left out where one process is all. */
  workers: WorkerCounts | undefined
  /** A broker that is away does not make the service unready: messages over HTTP are answered without it. */
  consumers: readonly ConsumerStatus[]
}>

export function serveConsumers(server: FastifyInstance, status: () => Promise<readonly ConsumerStatus[]>): void {
  server.get('/consumers', needs('viewer'), async () => status())
  refuseOtherMethods(server, '/consumers', ['GET'])
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

/** /metrics, for Prometheus. `metrics` resolves to the body. Fails with what it fails with. */
export function serveMetrics(server: FastifyInstance, metrics: () => Promise<Uint8Array>): void {
  server.get('/metrics', needs('metrics'), async (_request, reply) => reply.type(EXPOSITION_TYPE).send(await metrics()))
}
