/**
 * What follows an answer: redirects, by the rules of RFC 9110 section 15.4 and of browsers
 * (https://fetch.spec.whatwg.org/#http-redirect-fetch), and the decoding of its content codings.
 */

import { addAbortSignal, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { REDIRECT_STATUSES } from '../../core/http.ts'
import {
  type OutboundAnswer,
  OutboundError,
  type OutboundRequest,
  overBudget,
  tooLarge,
} from '../../core/ports/http-client-port.ts'

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
  const target = redirectTarget(request.url, answer)
  if (target === undefined) return answer
  const remark = redirects === 0 ? TOO_MANY : findRefusal(request, target)
  if (remark !== undefined) return { ...answer, remark }
  const { timeoutMs, statedTimeoutMs = timeoutMs } = request
  const next = redirected(request, answer.status, target)
  return { ...next, redirects: redirects - 1, timeoutMs: leftMs, statedTimeoutMs }
}

const TOO_MANY = 'It redirects too many times.'
const TO_HTTP = 'It redirects from https to http, which is never followed.'
const AWAY = 'It redirects to another origin; set "followRedirects" to follow it there.'

/** The http or https URL that the answer names. */
function redirectTarget(from: string, { headers: { location } }: OutboundAnswer): URL | undefined {
  const target = typeof location === 'string' ? URL.parse(location, from) : null
  return target !== null && /^https?:$/.test(target.protocol) ? target : undefined
}

function findRefusal({ url, staysOnOrigin }: OutboundRequest, target: URL): string | undefined {
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
  const { originName: _name, tls: _tls, ...rest } = request
  const onward = { ...(isElsewhere ? rest : request), url: target.href, headers: Object.fromEntries(kept) }
  if (!becomesGet) return onward
  const { body: _, ...bodiless } = onward
  return { ...bodiless, method: 'GET' }
}

/** Makes the decoder of a body. */
type Coding = (body: Uint8Array) => Transform

const CODINGS: ReadonlyMap<string, Coding> = new Map<string, Coding>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  // "Deflate" is the zlib format, but some servers send the bare stream (RFC 9110 section 8.4.1.2).
  ['deflate', (body) => (hasZlibHeader(body) ? createInflate() : createInflateRaw())],
  ['br', () => createBrotliDecompress()],
])

/** Each coding may take as much work as the whole limit, so their number is limited. */
const MAX_CODINGS = 3

/**
 * Decodes the content codings of an answer (RFC 9110 section 8.4), up to the limit of its body.
 *
 * In: the body as transferred, and the `content-encoding` header; an empty body is empty in every coding. `signal` ends the
 * work; `budget` pays for the output as it grows. Fails with OutboundError: 'too-large' or 'over-budget' as soon as the
 * output exceeds `limitBytes` or the budget, 'unreadable' if a coding is unknown or the body is not in it; and with the
 * reason of `signal`.
 */
export async function decodeBody(
  subject: string,
  body: Uint8Array,
  contentEncoding: string | readonly string[] | undefined,
  limitBytes: number,
  signal?: AbortSignal,
  budget?: OutboundRequest['budget'],
): Promise<Uint8Array> {
  if (contentEncoding === undefined || body.length === 0) return body
  const codings = String(contentEncoding)
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity')
  if (codings.length > MAX_CODINGS) throw unreadable(subject, 'is in more than three content codings')
  let decoded = body
  for (const coding of codings.reverse()) {
    signal?.throwIfAborted()
    const create = CODINGS.get(coding)
    if (create === undefined) {
      throw unreadable(subject, `is in the content coding ${shown(coding)}; only gzip, deflate and br are understood`)
    }
    let sizeBytes = 0
    const grow = (bytes: number): OutboundError | undefined => {
      sizeBytes += bytes
      if (sizeBytes > limitBytes) return tooLarge(subject, limitBytes)
      return budget?.take(bytes) === false ? overBudget(subject) : undefined
    }
    try {
      decoded = await decode(create(decoded), decoded, grow, signal)
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof OutboundError) throw error
      throw unreadable(subject, `is not in the content coding ${shown(coding)} that it declares`, error)
    }
  }
  return decoded
}

/** `grow`: called with the bytes of each piece before it is kept; the error that it gives ends the work. */
function decode(
  decoder: Transform,
  body: Uint8Array,
  grow: (bytes: number) => OutboundError | undefined,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  if (signal !== undefined) addAbortSignal(signal, decoder)
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    decoder.on('data', (piece: Buffer) => {
      const error = grow(piece.length)
      if (error === undefined) pieces.push(piece)
      else decoder.destroy(error)
    })
    decoder.once('end', () => resolve(Buffer.concat(pieces)))
    decoder.once('error', reject)
    decoder.end(body)
  })
}

function hasZlibHeader(body: Uint8Array): boolean {
  const [method = 0, flags = 0] = body
  return (method & 0x0f) === 8 && (method * 256 + flags) % 31 === 0
}

const shown = (coding: string): string => JSON.stringify(coding.length > 40 ? `${coding.slice(0, 40)}…` : coding)

const unreadable = (subject: string, what: string, cause?: unknown): OutboundError =>
  new OutboundError('unreadable', `The answer to ${subject} ${what}.`, { cause })
