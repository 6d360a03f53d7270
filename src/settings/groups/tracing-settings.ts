/** The settings of tracing, with OpenTelemetry's names. They have no effect without a collector's URL. */
import { fault, found } from '../../domain/lint.ts'
import type { Setting } from '../setting-kinds.ts'
import { choice, type Kind, optional } from '../setting-kinds.ts'

const collectorUrl: Kind<string> = {
  accepts: 'an `http://` or `https://` URL without user name, password, query and fragment',
  parse: (text) => {
    const url = URL.parse(text)
    const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === ''
    if (isPlain && url.username === '' && url.password === '') return found(text.replace(/\/+$/, ''))
    return fault(`Give ${collectorUrl.accepts}; credentials go into \`OTEL_EXPORTER_OTLP_HEADERS\`.`)
  },
}

/** `name=value,name=value`, values percent-encoded, as in W3C Baggage. */
const headerList: Kind<Readonly<Record<string, string>>> = {
  accepts: '`name=value` pairs with commas between them, values percent-encoded',
  parse: (text) => {
    const pairs = text.split(',').filter((pair) => pair.trim() !== '')
    const headers: Record<string, string> = {}
    for (const pair of pairs) {
      const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=(.*)$/.exec(pair) ?? []
      const decoded = value === undefined ? undefined : decode(value.trim())
      if (name === undefined || decoded === undefined) return fault(`Give ${headerList.accepts}.`)
      headers[name.toLowerCase()] = decoded
    }
    return found(headers)
  },
}

function decode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text)
    return /^[\t\x20-\x7e]*$/.test(decoded) ? decoded : undefined
  } catch {
    return undefined
  }
}

const ratio: Kind<number> = {
  accepts: 'a number from 0 to 1',
  parse: (text) =>
    /^(0?\.\d{1,15}|[01](\.\d{0,15})?)$/.test(text) && Number(text) <= 1
      ? found(Number(text))
      : fault('Give a number from 0 to 1.'),
}

const serviceName: Kind<string> = {
  accepts: '1 to 255 letters, digits, dots, underscores or hyphens',
  parse: (text) => (/^[a-zA-Z0-9._-]{1,255}$/.test(text) ? found(text) : fault(`Give ${serviceName.accepts}.`)),
}

export const tracing = {
  otlpEndpoint: {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    kind: optional(collectorUrl),
    default: '',
    means:
      'Where traces go: an OpenTelemetry collector that takes OTLP over HTTP as JSON, such as `http://localhost:4318`; `/v1/traces` is added. Unset: nothing is traced.',
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
    kind: serviceName,
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
      'Which messages are traced. `parentbased_`: where the caller has decided, as it did; `traceidratio`: the share `OTEL_TRACES_SAMPLER_ARG` of them.',
  },
  otelSamplerRatio: {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    kind: ratio,
    default: '1',
    means: 'The share of messages that `traceidratio` traces.',
  },
} as const satisfies Record<string, Setting<unknown>>
