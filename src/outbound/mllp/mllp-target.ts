/**
 * Requests to `mllp://host:port`, where listeners of HL7 v2 take messages and acknowledge each. The acknowledgement is the
 * answer: AA and CA are 200, AE and CE, which the same message may not get again, 503, AR and CR 422.
 */
import { type EgressPolicy, type EgressRule, namesHost } from '../../core/egress/egress-policy.ts'
import type { Body } from '../../core/ports/destination.ts'
import type { OutboundHealth } from '../../core/ports/http-client-port.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import { noteSent } from '../../core/tracing/trace.ts'
import { type Fields, type OpenTarget, serverAttributes, type Target } from '../target.ts'
import type { MllpClient } from './mllp-client.ts'
import { checkMllpUrl } from './mllp-url.ts'

/** Names and units as in src/settings/settings.ts. */
type MllpSettings = Readonly<{
  mllpTargetTls: readonly EgressRule[]
  mllpTargetTlsCa: string | undefined
  mllpTargetTlsCert: string | undefined
  mllpTargetTlsKey: string | undefined
  requestConnectTimeoutMs: number
  requestConnectionsPerOrigin: number
  requestRetryBudgetPercent: number
  circuitBreakerFailures: number
  circuitBreakerPauseMs: number
  circuitBreakerMaxPauseMs: number
  answerLimitBytes: number
}>

type MllpNeeds = Readonly<{ settings: MllpSettings; egress: EgressPolicy; logger: Pick<Logger, 'info' | 'warn'> }>

/** Many listeners close a connection that is idle for a minute. */
const IDLE_MS = 30_000

export const MLLP_TARGET = {
  schemes: ['mllp'],
  isHttp: false,
  method: 'SEND',
  requests: 'A request over MLLP',
  joinsTransactions: false,
  checkUrl: checkMllpUrl,
  lint: (request, endpoint, lint) => {
    const { config, forwardExistingRequestBody } = request
    if (!isFields(config)) return
    const { requests } = endpoint
    const isLookup = isFields(requests) && Array.isArray(requests.lookup) && requests.lookup.includes(request)
    if (isLookup && forwardExistingRequestBody !== true && config.body === undefined) {
      lint.error(
        'A lookup over MLLP sends the incoming message; set "forwardExistingRequestBody": true, or give a "body" in "config".',
      )
    }
    const { method, headers, params, followRedirects } = config
    const at = (...path: string[]) => lint.at('config', ...path)
    // A document that was stored has the method that its kind of request has by default.
    if (method !== 'POST' && method !== 'GET') at('method').error('MLLP has no methods; leave "method" out.')
    for (const name of namesIn(headers)) {
      if (name.toLowerCase() === 'content-type') continue
      at('headers', name).error(
        `MLLP has no headers; leave "${name}" out. Only a "Content-Type" is read, for the format of the body.`,
      )
    }
    for (const group of ['query', 'url']) {
      if (namesIn(isFields(params) ? params[group] : undefined).length === 0) continue
      at('params', group).error('An MLLP URL is a host and a port alone, without parameters; leave them out.')
    }
    if (followRedirects !== undefined) at('followRedirects').error('MLLP has no redirects; leave this out.')
  },
  listHeaders: (_prepared, body) => Object.entries(headersFor(body)),
  describeSpan: ({ id, target }) => ({
    name: `send ${id}`,
    kind: 'client',
    attributes: { 'network.protocol.name': 'mllp', ...serverAttributes(target) },
  }),
  open: (needs: MllpNeeds): OpenTarget => {
    let client: MllpClient | undefined
    let loading: Promise<MllpClient> | undefined
    const load = async () => {
      const { MllpClient: Client } = await import('./mllp-client.ts')
      client = new Client(toOptions(needs))
      return client
    }
    return {
      send: async ({ options }, { prepared, body, timeoutMs }, run, called) => {
        noteSent(run.trace, called, headersFor(body), body?.content)
        loading ??= load()
        return (await loading).send({
          url: prepared.url,
          content: Buffer.from(body?.content ?? ''),
          timeoutMs,
          retries: options.retries,
          idempotent: options.idempotent === true,
          patient: run.mayWait,
          signal: run.lease?.signal,
          take: (bytes) => run.budget.take(bytes),
        })
      },
      health: () => client?.health() ?? NOTHING_SENT,
      close: async () => (await loading)?.close(),
    }
  },
} as const satisfies Target

const NOTHING_SENT: OutboundHealth = { open: [], opened: 0, refused: 0, retries: 0, retriesWithheld: 0 }

/** It is not sent: records and reports read from it what the body is. */
const headersFor = (body: Body | undefined): Readonly<Record<string, string>> =>
  body === undefined ? {} : { 'content-type': body.contentType }

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

const namesIn = (value: unknown): string[] => (isFields(value) ? Object.keys(value) : [])

const toOptions = ({ settings, egress, logger }: MllpNeeds) => ({
  connectTimeoutMs: settings.requestConnectTimeoutMs,
  limitBytes: settings.answerLimitBytes,
  maxConnections: settings.requestConnectionsPerOrigin,
  idleMs: IDLE_MS,
  egress: { policy: egress },
  tlsFor: ({ host, port }: { host: string; port: number }) =>
    namesHost(settings.mllpTargetTls, host, port)
      ? { ca: settings.mllpTargetTlsCa, cert: settings.mllpTargetTlsCert, key: settings.mllpTargetTlsKey }
      : undefined,
  retryBudgetPercent: settings.requestRetryBudgetPercent,
  circuit: {
    failures: settings.circuitBreakerFailures,
    pauseMs: settings.circuitBreakerPauseMs,
    maxPauseMs: settings.circuitBreakerMaxPauseMs,
  },
  logger,
})
