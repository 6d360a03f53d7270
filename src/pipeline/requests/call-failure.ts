/** What a call that gave no whole answer fails the message with. */
import { Failure } from '../../core/failure.ts'
import type { FailureCode } from '../../core/failure-table.ts'
import type { MessageBudget } from '../../core/message-budget.ts'
import { CircuitOpen, type OutboundError } from '../../core/ports/http-client-port.ts'
import type { PreparedRequest, RequestKind } from './request-call.ts'
import { withoutValues } from './secret-references.ts'

/**
 * The failure of a message by a call without a whole answer. `id` and `path`: of the request. No text has the value of a
 * secret; the text for the log has no path of a URL.
 */
export function outboundFailure(
  kind: RequestKind,
  id: string,
  path: string,
  error: OutboundError,
  prepared: PreparedRequest,
  budget: MessageBudget,
): Failure {
  if (error.fault === 'over-budget') return budget.refusal(path)
  const codes = {
    unreachable: `${kind}_UNREACHABLE`,
    timeout: `${kind}_TIMED_OUT`,
    'too-large': `${kind}_UNREADABLE`,
    unreadable: `${kind}_UNREADABLE`,
    refused: `${kind}_REFUSED`,
    denied: 'EGRESS_DENIED',
    'circuit-open': `${kind}_CIRCUIT_OPEN`,
  } as const satisfies Record<Exclude<OutboundError['fault'], 'over-budget'>, FailureCode>
  const sentence = (text: string) => `The request "${id}" failed: ${text}`
  const { url, shownUrl, secrets } = prepared
  const { origin, pathname } = URL.parse(url) ?? { origin: '', pathname: '' }
  const text = url === shownUrl ? error.message : error.message.replaceAll(origin + pathname, withoutQuery(shownUrl))
  const base = BASE.exec(shownUrl)?.[0]
  const unquoted = withoutPaths(base === undefined ? error.message : error.message.replaceAll(origin, base))
  return withoutValues(
    new Failure(codes[error.fault], sentence(text), {
      path,
      cause: error,
      unquoted: sentence(unquoted),
      ...(error instanceof CircuitOpen ? ofCircuit(error) : {}),
    }),
    secrets,
  )
}

/** The status of the calls that opened the circuit: senders need not know of circuits. */
const ofCircuit = ({ status, retryAfterMs }: CircuitOpen) => ({
  status,
  headers: { 'retry-after': `${Math.ceil(retryAfterMs / 1000)}` },
})

/** A secret reference in place of an origin. */
const BASE = /^\$\{[^}]*\}/

/** The path of a URL may have values of the message, such as the number of a patient. */
const withoutPaths = (text: string): string => text.replace(/(https?:\/\/[^\s/]+|\$\{[^}]*\})\/\S*/g, '$1')

const withoutQuery = (url: string): string => url.split('?', 1)[0] ?? ''
