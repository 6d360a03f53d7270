/** /metrics, for Prometheus. */
import type { FastifyInstance } from 'fastify'
import { needs } from './protect.ts'

/** Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats/). */
const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** `metrics` resolves to the body. Fails with what it fails with. */
export function serveMetrics(server: FastifyInstance, metrics: () => Promise<Uint8Array>): void {
  server.get('/metrics', needs('metrics'), async (_request, reply) => reply.type(EXPOSITION_TYPE).send(await metrics()))
}
