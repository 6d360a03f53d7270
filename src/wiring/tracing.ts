/** Tracing; the OpenTelemetry packages are loaded only where a collector is set. */
import type { Exporter } from '../adapters/otel/exporter.ts'
import type { SampledMessage } from '../adapters/otel/sampling.ts'
import type { Logger } from '../domain/ports/logger-port.ts'
import type { TraceContext } from '../domain/tracing/trace-context.ts'
import type { Settings } from '../settings/settings.ts'

export type Tracing = Exporter & Readonly<{ traceContext(incoming: SampledMessage): TraceContext }>

/** Resolves to undefined where nothing is traced. */
export async function openTracing(settings: Settings, version: string, logger: Logger): Promise<Tracing | undefined> {
  const { otlpEndpoint, otlpHeaders, otelServiceName, otelSampler, otelSamplerRatio } = settings
  if (otlpEndpoint === undefined) return undefined
  const { createExporter } = await import('../adapters/otel/exporter.ts')
  const { createSampling } = await import('../adapters/otel/sampling.ts')
  const exporter = createExporter({
    url: `${otlpEndpoint}/v1/traces`,
    headers: otlpHeaders,
    serviceName: otelServiceName,
    version,
    logger,
  })
  return { traceContext: createSampling(otelSampler, otelSamplerRatio), ...exporter }
}
