/** Follows redirects, by the rules of RFC 9110 section 15.4 and of browsers (https://fetch.spec.whatwg.org/#http-redirect-fetch). */
import type { OutboundAnswer, OutboundRequest } from '../../domain/ports.ts'

export type Exchange = (request: OutboundRequest) => Promise<OutboundAnswer>

/** What says nothing about who asks: all other headers may be credentials, whatever their names. */
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

/**
 * Sends, and asks where it is sent on to, at most `request.redirects` times, all within its `timeoutMs`. What must not be
 * followed is the answer: one redirect too many, one that leads from https to http, or to what is no http URL.
 */
export async function sendFollowing(request: OutboundRequest, exchange: Exchange): Promise<OutboundAnswer> {
  const deadlineAt = performance.now() + request.timeoutMs
  let next = request
  for (let left = request.redirects ?? 0; ; left -= 1) {
    const answer = await exchange(next)
    const target = left > 0 ? targetOf(next.url, answer) : undefined
    if (target === undefined) return answer
    next = { ...redirected(next, answer.status, target), timeoutMs: deadlineAt - performance.now() }
  }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

function targetOf(from: string, { status, headers: { location } }: OutboundAnswer): URL | undefined {
  if (!REDIRECTS.has(status) || typeof location !== 'string') return undefined
  const target = URL.parse(location, from)
  if (target === null || !/^https?:$/.test(target.protocol)) return undefined
  if (target.protocol === 'http:' && new URL(from).protocol === 'https:') return undefined
  return target
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
