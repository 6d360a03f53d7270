/** JSON Web Tokens, verified by `jose`. The service's own HTTP client fetches the keys of issuers, so egress rules hold. */
import type { JWTVerifyGetKey, JWTVerifyOptions } from 'jose'
import { Failure } from '../../core/failure.ts'
import type { JsonObject } from '../../core/json.ts'
import { type HttpClient, OutboundError } from '../../core/ports/http-client-port.ts'
import type { TokenRules, TokenVerifier } from '../../core/ports/token-verifier-port.ts'

/** Public keys verify signatures only, shared secrets message authentication codes only: none is mistaken for the other. */
const SIGNATURES = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
const CODES = ['HS256', 'HS384', 'HS512']

/** The most that the clocks of two machines may differ. */
const CLOCK_TOLERANCE_S = 30
const FETCH_TIMEOUT_MS = 5_000
/** Issuers whose keys are cached: far more than documents name. */
const MAX_KEY_SETS = 1_000

/** Loads `jose` with the first token, because few services get one. */
export function createTokenVerifier(http: HttpClient): TokenVerifier {
  const keySets = new Map<string, JWTVerifyGetKey>()

  async function keysAt(url: string): Promise<JWTVerifyGetKey> {
    const known = keySets.get(url)
    if (known !== undefined) return known
    const { createRemoteJWKSet, customFetch } = await import('jose')
    const keys = createRemoteJWKSet(new URL(url), {
      timeoutDuration: FETCH_TIMEOUT_MS,
      [customFetch]: (address: string, init: { headers: Headers }) => fetchWith(http, address, init.headers),
    })
    for (const oldest of keySets.keys()) if (keySets.size >= MAX_KEY_SETS) keySets.delete(oldest)
    keySets.set(url, keys)
    return keys
  }

  return {
    verify: async (token, { issuer, audience, key }) => {
      const { jwtVerify } = await import('jose')
      const options: JWTVerifyOptions = {
        clockTolerance: CLOCK_TOLERANCE_S,
        // A token that never expires could not be revoked.
        requiredClaims: ['exp'],
        ...(issuer === undefined ? {} : { issuer }),
        ...(audience === undefined ? {} : { audience }),
      }
      try {
        const { payload } =
          'secret' in key
            ? await jwtVerify(token, new TextEncoder().encode(key.secret), { ...options, algorithms: CODES })
            : await jwtVerify(token, await keysAt(key.jwksUrl), { ...options, algorithms: SIGNATURES })
        return payload as JsonObject
      } catch (thrown) {
        throw translateTokenError(thrown, key)
      }
    },
  }
}

async function fetchWith(http: HttpClient, url: string, headers: Headers): Promise<Response> {
  const { status, body } = await http.send({
    method: 'GET',
    url,
    headers: Object.fromEntries(headers),
    timeoutMs: FETCH_TIMEOUT_MS,
    retries: 0,
  })
  // The constructor throws for a status such as 304 with a body.
  return status === 200 ? new Response(Uint8Array.from(body), { status }) : Response.error()
}

/** By the code of jose's error, with the claim that it names or without (https://github.com/panva/jose, errors); its text may quote the token. */
const SENTENCES: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: 'The token has expired.',
  'ERR_JWT_CLAIM_VALIDATION_FAILED aud': 'The token is for another service: its audience (claim aud) is not accepted.',
  'ERR_JWT_CLAIM_VALIDATION_FAILED iss': 'The token is from another issuer (claim iss).',
  ERR_JWT_CLAIM_VALIDATION_FAILED: 'The issuer, audience, time or another claim of the token is not accepted.',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'The signature of the token is wrong.',
  ERR_JWKS_NO_MATCHING_KEY: 'The token is signed with a key that its issuer does not publish.',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'The token does not name the key of its issuer that signed it.',
  ERR_JOSE_ALG_NOT_ALLOWED: 'The algorithm that signed the token is not allowed.',
  ERR_JWT_INVALID: 'The token is not a JSON Web Token.',
  ERR_JWS_INVALID: 'The token is not a signed JSON Web Token.',
  ERR_JOSE_NOT_SUPPORTED: 'The token uses a feature that is not supported.',
}

function translateTokenError(thrown: unknown, key: TokenRules['key']): unknown {
  const { code, claim } = thrown as { code?: string; claim?: string }
  const sentence = code === undefined ? undefined : (SENTENCES[`${code} ${claim}`] ?? SENTENCES[code])
  if (sentence !== undefined) return new Failure('CREDENTIALS_REFUSED', sentence)
  // All other errors with a key set are those of its request or its content.
  if ('jwksUrl' in key && (thrown instanceof OutboundError || code?.startsWith('ERR_J') === true)) {
    return new Failure(
      'IDENTITY_UNAVAILABLE',
      'The keys of the issuer of the token cannot be fetched now; try again.',
      {
        cause: thrown,
      },
    )
  }
  return thrown
}
