/**
 * Tokens of OAuth 2.0 for requests, by client credentials (RFC 6749 section 4.4): asked for once by all requests that need the
 * same one, and kept until shortly before they end.
 */
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import {
  CircuitOpen,
  type HttpClient,
  type OutboundAnswer,
  OutboundError,
  timedOut,
} from '../../core/ports/http-client-port.ts'
import type { ClientCredentials } from '../../core/ports/outbound-port.ts'
import type { Clock } from '../../core/run.ts'
import { resultWithin } from '../../core/within.ts'
import { formatCall, parseTarget } from './attempt.ts'

/** Times are those of the clock that asks. */
export type Token = {
  readonly value: string
  readonly askedAt: number
  readonly until: number
  /** Asked for because a target refused the one before. */
  readonly isRenewed: boolean
  /** The requests of documents to which it brought another answer than 401: another target may take it all the same. */
  readonly acceptedBy: WeakSet<object>
}

type Taken = Readonly<{ token: Token; how: 'asked' | 'kept' }>

const MAX_KEPT = 1_000
const MAX_ANSWER_BYTES = 64 * 1024
const MAX_TOKEN_CHARACTERS = 16 * 1024
/** Where the answer has no `expires_in`. */
const ASSUMED_SECONDS = 300
const MAX_SECONDS = 86_400
/** A token is kept for all but this part of its life, at most a minute: it must still be valid when it arrives. */
const MARGIN = 0.1
const MAX_MARGIN_SECONDS = 60
/** A target that refuses a new token too would otherwise cost a token for each message. */
const REFUSED_AGAIN_MS = 60_000

export class TokenSource {
  private readonly http: Pick<HttpClient, 'send'>
  private readonly timeoutMs: number
  /** Those that were used last come last. */
  private readonly kept = new Map<string, Token>()
  private readonly asked = new Map<string, Promise<Token>>()

  /** `timeoutMs`: for asking, whoever waits. */
  constructor(http: Pick<HttpClient, 'send'>, timeoutMs: number) {
    this.http = http
    this.timeoutMs = timeoutMs
  }

  /** Fails with OutboundError, also if there is no token after `timeoutMs`, which the message gives as `statedMs`. */
  async take(
    credentials: ClientCredentials,
    clock: Clock,
    timeoutMs: number,
    statedMs: number = timeoutMs,
  ): Promise<Taken> {
    const key = keyOf(credentials)
    const token = this.kept.get(key)
    if (token === undefined || clock() >= token.until) return this.ask(key, credentials, clock, timeoutMs, statedMs)
    this.kept.delete(key)
    this.kept.set(key, token)
    return { token, how: 'kept' }
  }

  /** In place of a token that was refused to `requester`; undefined if a further one is no use to it. Fails as `take` does. */
  async renew(
    credentials: ClientCredentials,
    refused: Token,
    requester: object,
    clock: Clock,
    timeoutMs: number,
    statedMs: number = timeoutMs,
  ): Promise<Taken | undefined> {
    const key = keyOf(credentials)
    // Another request may have renewed it meanwhile.
    if (this.kept.get(key) === refused) {
      const isRecent = clock() - refused.askedAt < REFUSED_AGAIN_MS
      const wasUseless = refused.isRenewed && isRecent && !refused.acceptedBy.has(requester)
      if (wasUseless) return undefined
      this.kept.delete(key)
    }
    const token = this.kept.get(key)
    if (token !== undefined && clock() < token.until) return { token, how: 'kept' }
    return this.ask(key, credentials, clock, timeoutMs, statedMs, true)
  }

  private async ask(
    key: string,
    credentials: ClientCredentials,
    clock: Clock,
    timeoutMs: number,
    statedMs: number,
    isRenewed = false,
  ): Promise<Taken> {
    const asked = this.asked.get(key) ?? this.start(key, credentials, clock, isRenewed)
    const late = () => timedOut(callOf(credentials), statedMs)
    return { token: await resultWithin(timeoutMs, asked, late), how: 'asked' }
  }

  private start(key: string, credentials: ClientCredentials, clock: Clock, isRenewed: boolean): Promise<Token> {
    const asked = this.request(credentials, clock, isRenewed)
      .then((token) => {
        const [oldest] = this.kept.keys()
        if (this.kept.size >= MAX_KEPT && oldest !== undefined) this.kept.delete(oldest)
        this.kept.delete(key)
        this.kept.set(key, token)
        return token
      })
      .finally(() => this.asked.delete(key))
    this.asked.set(key, asked)
    return asked
  }

  private async request(credentials: ClientCredentials, clock: Clock, isRenewed: boolean): Promise<Token> {
    const askedAt = clock()
    const { status, body } = await this.send(credentials)
    const read = readAnswer(body)
    if (status < 200 || status > 299) {
      const { error } = read ?? {}
      const why = typeof error === 'string' && ERRORS.has(error) ? ` (${error})` : ''
      throw noToken(credentials, `answered with status ${status}${why}`)
    }
    if (read === undefined) throw noToken(credentials, 'gave an answer that is no JSON object')
    const { access_token: value, token_type: type = 'Bearer', expires_in: expires } = read
    if (typeof value !== 'string' || value === '') throw noToken(credentials, 'gave no "access_token"')
    if (value.length > MAX_TOKEN_CHARACTERS || !TOKEN.test(value))
      throw noToken(credentials, `gave an "access_token" that no header can hold, or of more than 16 KiB`)
    if (typeof type !== 'string' || type.toLowerCase() !== 'bearer')
      throw noToken(credentials, 'gave a token whose "token_type" is not "Bearer"')
    const seconds = readSeconds(expires)
    if (seconds === undefined) throw noToken(credentials, 'gave an "expires_in" that is no number of seconds')
    const keptSeconds = seconds - Math.min(seconds * MARGIN, MAX_MARGIN_SECONDS)
    return { value, askedAt, until: askedAt + keptSeconds * 1000, isRenewed, acceptedBy: new WeakSet() }
  }

  /** Its redirects are not followed: they would get the secret. */
  private async send(credentials: ClientCredentials): Promise<OutboundAnswer> {
    const { url, originName, clientId, clientSecret, scope, audience } = credentials
    const form = new URLSearchParams({ grant_type: 'client_credentials' })
    if (scope !== undefined) form.set('scope', scope)
    if (audience !== undefined) form.set('audience', audience)
    const basic = Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString('base64')
    let leftBytes = MAX_ANSWER_BYTES
    const take = (bytes: number): boolean => {
      leftBytes -= bytes
      return leftBytes >= 0
    }
    try {
      return await this.http.send({
        method: 'POST',
        url,
        headers: {
          authorization: `Basic ${basic}`,
          accept: 'application/json',
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: form.toString(),
        timeoutMs: this.timeoutMs,
        retries: 0,
        idempotent: true,
        budget: { take },
        ...(originName === undefined ? {} : { originName }),
      })
    } catch (thrown) {
      throw thrown instanceof OutboundError ? withName(thrown, credentials) : thrown
    }
  }
}

/** The error with the shown URL of the endpoint in place of its own. */
function withName(error: OutboundError, credentials: ClientCredentials): OutboundError {
  const { fault, cause } = error
  if (fault === 'too-large' || fault === 'over-budget')
    return noToken(credentials, 'gave an answer of more than 64 KiB')
  const target = parseTarget(credentials.url)
  const own = target === undefined ? '' : formatCall({ method: 'POST', ...target })
  const message = own === '' ? error.message : error.message.replaceAll(own, callOf(credentials))
  if (error instanceof CircuitOpen) return new CircuitOpen(message, error.status, error.retryAfterMs)
  return new OutboundError(fault === 'unreadable' ? 'no-auth' : fault, message, { cause })
}

const nameOf = ({ shownUrl }: ClientCredentials): string => `the token endpoint ${shownUrl}`
const callOf = (credentials: ClientCredentials): string => `the call of ${nameOf(credentials)}`

const noToken = (credentials: ClientCredentials, what: string): OutboundError =>
  new OutboundError('no-auth', `${nameOf(credentials)} ${what}.`)

/** What RFC 6749 section 5.2 lets an endpoint say; any other text may quote the secret. */
const ERRORS: ReadonlySet<string> = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
])

/** RFC 6749 appendix A.12, without the space. */
const TOKEN = /^[\x21-\x7e]+$/

function readAnswer(body: Uint8Array): JsonObject | undefined {
  try {
    const read: Json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return isObject(read) ? read : undefined
  } catch {
    return undefined
  }
}

/** Some endpoints give the number as a text. */
function readSeconds(expires: Json = ASSUMED_SECONDS): number | undefined {
  if (expires === null) return ASSUMED_SECONDS
  const seconds = typeof expires === 'string' && /^\d{1,10}$/.test(expires) ? Number(expires) : expires
  return typeof seconds === 'number' && seconds >= 0 ? Math.min(seconds, MAX_SECONDS) : undefined
}

/** RFC 6749 section 2.3.1 encodes both before they are joined. */
const formEncoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1)

const keyOf = ({ url, clientId, clientSecret, scope, audience }: ClientCredentials): string =>
  JSON.stringify([url, clientId, clientSecret, scope ?? null, audience ?? null])
