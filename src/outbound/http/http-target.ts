/** Requests to http and https URLs. */
import type { Body, PreparedRequest } from '../../core/ports/outbound-port.ts'
import type { Run } from '../../core/run.ts'
import { type CallSpan, noteSent } from '../../core/tracing/trace.ts'
import { type OpenTarget, serverAttributes, type Target, withTrace } from '../target.ts'
import type { OwnHttpClient } from './http-client.ts'

export const HTTP_TARGET = {
  schemes: ['http', 'https'],
  isHttp: true,
  requests: 'A request to a URL',
  joinsTransactions: false,
  listHeaders: (prepared, body, run, called) => Object.entries(headersFor(prepared, body, run, called)),
  describeSpan: ({ id, method, target, answer }) => ({
    name: `${method} ${id}`,
    kind: 'client',
    attributes: {
      'http.request.method': method,
      ...serverAttributes(target, { 'http:': 80, 'https:': 443 }),
      'http.response.status_code': answer?.status,
    },
  }),
  open: ({ http }: Readonly<{ http: OwnHttpClient }>): OpenTarget => ({
    send: ({ options }, { prepared, body, timeoutMs }, run, called) => {
      const { method, url } = prepared
      const headers = headersFor(prepared, body, run, called)
      noteSent(run.trace, called, headers, body?.content)
      const request = { ...options, method, url, headers, timeoutMs, patient: run.mayWait, budget: run.budget }
      return http.send(body === undefined ? request : { ...request, body: body.content })
    },
    health: http.health,
    close: http.close,
  }),
} as const satisfies Target

function headersFor(
  { headers: own }: PreparedRequest,
  body: Body | undefined,
  run: Run,
  called: CallSpan,
): PreparedRequest['headers'] {
  const traced = withTrace(own, run, called)
  return body === undefined ? traced : { ...traced, 'content-type': body.contentType }
}
