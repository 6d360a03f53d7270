/** Tracing, loaded only where there is a collector. */
import { createHttpClient } from './adapters/http-client/http-client.ts'
import type { Exporter } from './adapters/otel/exporter.ts'
import type { Logger } from './domain/ports.ts'
import type { TraceContext } from './domain/trace-context.ts'
import type { Incoming } from './registry/intake.ts'
import type { Settings } from './settings.ts'

export type Tracing = Exporter & Readonly<{ traceContext(incoming: Incoming): TraceContext }>

/** What a collector answers is not read. */
const ANSWER_LIMIT_BYTES = 65_536

/** Undefined where nothing is traced. */
export async function openTracing(settings: Settings, version: string, logger: Logger): Promise<Tracing | undefined> {
  const { otlpEndpoint, otlpHeaders, otelServiceName, otelSampler, otelSamplerRatio } = settings
  if (otlpEndpoint === undefined) return undefined
  const { createExporter } = await import('./adapters/otel/exporter.ts')
  const { createSampling } = await import('./adapters/otel/sampling.ts')
  const http = createHttpClient({
    connectTimeoutMs: settings.requestConnectTimeoutMs,
    answerLimitBytes: ANSWER_LIMIT_BYTES,
  })
  const { observe, close } = createExporter({
    http,
    url: `${otlpEndpoint}/v1/traces`,
    headers: otlpHeaders,
    serviceName: otelServiceName,
    version,
    logger,
  })
  return {
    traceContext: createSampling(otelSampler, otelSamplerRatio),
    observe,
    close: async () => {
      await close()
      // A call that the collector does not answer may take as long as its timeout.
      void http.close()
    },
  }
}
