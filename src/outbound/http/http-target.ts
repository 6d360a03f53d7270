/** Requests to http and https URLs. */
import type { Body } from '../../core/ports/destination.ts'
import type { PreparedRequest } from '../../core/ports/outbound-port.ts'
import type { Sending } from '../../core/run.ts'
import { REDACTED } from '../../core/secrets/secrets.ts'
import { type CallSpan, noteSent } from '../../core/tracing/trace.ts'
import { type OpenTarget, serverAttributes, type Target, withTrace } from '../target.ts'
import { withCache } from './answer-cache.ts'
import type { OwnHttpClient } from './http-client.ts'
import { withTokens } from './token-calls.ts'
import { TokenSource } from './token-source.ts'

/** Names and units as in src/settings/settings.ts. */
type HttpNeeds = Readonly<{ http: OwnHttpClient; settings: Readonly<{ requestTimeoutMs: number }> }>

export const HTTP_TARGET = {
  schemes: ['http', 'https'],
  isHttp: true,
  requests: 'A request to a URL',
  joinsTransactions: false,
  listHeaders: (prepared, body, run, called) => {
    const headers = headersFor(prepared, body, run, called)
    const isTokenSent = prepared.auth?.oauth2 !== undefined
    return Object.entries(isTokenSent ? { ...headers, authorization: `Bearer ${REDACTED}` } : headers)
  },
  describeSpan: ({ id, method, target, answer }) => ({
    name: `${method} ${id}`,
    kind: 'client',
    attributes: {
      'http.request.method': method,
      ...serverAttributes(target, { 'http:': 80, 'https:': 443 }),
      'http.response.status_code': answer?.status,
    },
  }),
  open: ({ http, settings }: HttpNeeds): OpenTarget => {
    const send: OpenTarget['send'] = ({ options }, { prepared, body, ...times }, run, called) => {
      const { method, url, auth } = prepared
      const { budget, lease } = run
      const headers = headersFor(prepared, body, run, called)
      noteSent(run.trace, called, headers, body?.content)
      const request = {
        ...options,
        method,
        url,
        headers,
        ...times,
        patient: run.mayWait,
        budget,
        signal: lease?.signal,
      }
      const own = auth?.tls === undefined ? request : { ...request, tls: auth.tls }
      return http.send(body === undefined ? own : { ...own, body: body.content })
    }
    const tokens = new TokenSource(http, settings.requestTimeoutMs)
    return { send: withCache(withTokens(tokens, send)), health: http.health, close: http.close }
  },
} as const satisfies Target

function headersFor(
  { headers: own }: PreparedRequest,
  body: Body | undefined,
  run: Sending,
  called: CallSpan,
): PreparedRequest['headers'] {
  const traced = withTrace(own, run, called)
  return body === undefined ? traced : { ...traced, 'content-type': body.contentType }
}
