/** Requests that carry a token of OAuth 2.0. */

import type { Destination } from '../../core/ports/destination.ts'
import type { OutboundAnswer } from '../../core/ports/http-client-port.ts'
import type { ClientCredentials, Outbound, Outgoing } from '../../core/ports/outbound-port.ts'
import type { Sending } from '../../core/run.ts'
import { REDACTED } from '../../core/secrets/secrets.ts'
import { type CallSpan, noteSecrets } from '../../core/tracing/trace.ts'
import type { Token, TokenSource } from './token-source.ts'

type Send = Outbound['send']

/** Sends with a token what needs one, and once more with another one if the target answers 401. */
export const withTokens =
  (tokens: TokenSource, send: Send): Send =>
  (to, outgoing, run, called) => {
    const oauth2 = outgoing.prepared.auth?.oauth2
    if (oauth2 === undefined) return send(to, outgoing, run, called)
    return sendWithToken(tokens, oauth2, to, (next) => send(to, next, run, called), outgoing, run, called)
  }

async function sendWithToken(
  tokens: TokenSource,
  credentials: ClientCredentials,
  to: Destination,
  send: (outgoing: Outgoing) => Promise<OutboundAnswer>,
  outgoing: Outgoing,
  run: Sending,
  called: CallSpan,
): Promise<OutboundAnswer> {
  const { shownUrl: from } = credentials
  const { prepared, timeoutMs, statedTimeoutMs = timeoutMs } = outgoing
  const endAt = performance.now() + timeoutMs
  const leftMs = () => Math.max(0, endAt - performance.now())
  const sendWith = async (token: Token): Promise<OutboundAnswer> => {
    noteSecrets(run.trace, new Map([[token.value, REDACTED]]))
    const headers = { ...prepared.headers, authorization: `Bearer ${token.value}` }
    const answer = await send({ ...outgoing, prepared: { ...prepared, headers }, timeoutMs: leftMs(), statedTimeoutMs })
    if (answer.status !== 401) token.acceptedBy.add(to)
    return answer
  }
  called.token = { from, how: 'failed' }
  const { token, how } = await tokens.take(credentials, run.clock, timeoutMs, statedTimeoutMs)
  called.token = { from, how }
  const answer = await sendWith(token)
  if (answer.status !== 401) return answer
  const renewed = await tokens.renew(credentials, token, to, run.clock, leftMs(), statedTimeoutMs)
  if (renewed === undefined) return answer
  called.token = { from, how: 'renewed' }
  return sendWith(renewed.token)
}
