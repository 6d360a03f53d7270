/** The settings of tracing, named as in OpenTelemetry. They have no effect without the URL of a collector. */
import {
  choice,
  createKind,
  httpUrl,
  isPlainUrl,
  type Kind,
  optional,
  plainName,
  type Setting,
} from '../setting-kinds.ts'

const collectorUrl = createKind(
  httpUrl.accepts,
  (text) => (isPlainUrl(text) ? text.replace(/\/+$/, '') : undefined),
  '; credentials go into `OTEL_EXPORTER_OTLP_HEADERS`',
)

/** `name=value,name=value`, values percent-encoded, as in W3C Baggage. */
const headerList: Kind<Readonly<Record<string, string>>> = createKind(
  '`name=value` pairs with commas between them, values percent-encoded',
  (text) => {
    const pairs = text.split(',').filter((pair) => pair.trim() !== '')
    const headers: Record<string, string> = {}
    for (const pair of pairs) {
      const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=(.*)$/.exec(pair) ?? []
      const decoded = value === undefined ? undefined : decode(value.trim())
      if (name === undefined || decoded === undefined) return undefined
      headers[name.toLowerCase()] = decoded
    }
    return headers
  },
)

function decode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text)
    return /^[\t\x20-\x7e]*$/.test(decoded) ? decoded : undefined
  } catch {
    return undefined
  }
}

const ratio = createKind('a number from 0 to 1', (text) =>
  /^(0?\.\d{1,15}|[01](\.\d{0,15})?)$/.test(text) && Number(text) <= 1 ? Number(text) : undefined,
)

export const tracing = {
  otlpEndpoint: {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    kind: optional(collectorUrl),
    default: '',
    means:
      'URL of an OpenTelemetry collector that takes OTLP over HTTP as JSON, such as `http://localhost:4318`; `/v1/traces` is added. Unset: nothing is traced.',
    secret: true,
  },
  otlpHeaders: {
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    kind: headerList,
    default: '',
    means: 'Headers of every call to the collector, such as `authorization=Bearer%20abc`.',
    secret: true,
  },
  otelServiceName: {
    name: 'OTEL_SERVICE_NAME',
    kind: plainName(255),
    default: 'crosswalk',
    means: 'Name of the service in traces.',
  },
  otelSampler: {
    name: 'OTEL_TRACES_SAMPLER',
    kind: choice(
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
      'always_on',
      'always_off',
      'traceidratio',
    ),
    default: 'parentbased_always_on',
    means:
      'Which messages are traced. `parentbased_`: follows the decision of the caller, if there is one; `traceidratio`: the share `OTEL_TRACES_SAMPLER_ARG` of them.',
  },
  otelSamplerRatio: {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    kind: ratio,
    default: '1',
    means: 'The share of messages that `traceidratio` traces.',
  },
} as const satisfies Record<string, Setting<unknown>>
