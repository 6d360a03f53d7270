/**
 * Follows redirects, by the rules of RFC 9110 section 15.4 and of browsers
 * (https://fetch.spec.whatwg.org/#http-redirect-fetch).
 */
import { REDIRECT_STATUSES } from '../../core/http.ts'
import type { OutboundAnswer, OutboundRequest } from '../../core/ports/http-client-port.ts'

/** Headers that say nothing about the sender: all others may be credentials, whatever their names. */
const HARMLESS: ReadonlySet<string> = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'content-encoding',
  'content-language',
  'content-type',
  'user-agent',
  'traceparent',
])

const OF_BODY = /^content-/

export const isRedirect = ({ redirects }: OutboundRequest, { status }: OutboundAnswer): boolean =>
  redirects !== undefined && REDIRECT_STATUSES.has(status)

/**
 * In: a redirect, and the milliseconds that the request has left. Out: the request that follows it, with one redirect less;
 * or, if it must not be followed, the answer with a remark that says why.
 */
export function follow(
  request: OutboundRequest,
  answer: OutboundAnswer,
  leftMs: number,
): OutboundRequest | OutboundAnswer {
  const { redirects = 0 } = request
  const target = targetOf(request.url, answer)
  if (target === undefined) return answer
  const remark = redirects === 0 ? TOO_MANY : refusalOf(request, target)
  if (remark !== undefined) return { ...answer, remark }
  return { ...redirected(request, answer.status, target), redirects: redirects - 1, timeoutMs: leftMs }
}

const TOO_MANY = 'More redirects came than are followed.'
const TO_HTTP = 'It redirects from https to http, which is never followed.'
const AWAY = 'It redirects to another origin; set "followRedirects" to follow it there.'

/** Undefined if the answer names no http or https URL. */
function targetOf(from: string, { headers: { location } }: OutboundAnswer): URL | undefined {
  const target = typeof location === 'string' ? URL.parse(location, from) : null
  return target !== null && /^https?:$/.test(target.protocol) ? target : undefined
}

function refusalOf({ url, staysOnOrigin }: OutboundRequest, target: URL): string | undefined {
  const from = new URL(url)
  if (target.protocol === 'http:' && from.protocol === 'https:') return TO_HTTP
  return staysOnOrigin === true && target.origin !== from.origin ? AWAY : undefined
}

function redirected(request: OutboundRequest, status: number, target: URL): OutboundRequest {
  const { method, url, headers } = request
  const becomesGet = status === 303 ? method !== 'HEAD' : status <= 302 && method === 'POST'
  const isElsewhere = new URL(url).origin !== target.origin
  const kept = Object.entries(headers).filter(
    ([name]) => (!isElsewhere || HARMLESS.has(name)) && !(becomesGet && OF_BODY.test(name)),
  )
  target.username = ''
  target.password = ''
  target.hash = ''
  const { originName, ...rest } = request
  const named = isElsewhere || originName === undefined ? rest : request
  const onward = { ...named, url: target.href, headers: Object.fromEntries(kept) }
  if (!becomesGet) return onward
  const { body: _, ...bodiless } = onward
  return { ...bodiless, method: 'GET' }
}
