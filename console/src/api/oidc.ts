/**
 * Signing in at the OpenID Connect provider: authorisation code with PKCE, for a client without a secret. Loaded when somebody
 * signs in there or the token has to be renewed.
 */
import * as oauth from 'oauth4webapi'
import type { Schemas } from '../../../src/api/types.ts'
import { ApiFailure } from './api-failure.ts'

type SignIn = Schemas['SignIn']

/** What the tab remembers while the user is at the provider. */
export type PendingSignIn = SignIn &
  Readonly<{ state: string; nonce: string; verifier: string; keep: boolean; returnTo: string }>

/** What renews a token. `expiresAt`: of the token, in ms since the epoch. */
export type Renewal = SignIn & Readonly<{ refreshToken: string; expiresAt: number }>

export type Tokens = Readonly<{ key: string; renewal?: Renewal }>

const redirectUri = (): string => `${location.origin}/console/`

/** Where the provider asks the user, and what to remember until the answer. Fails with an ApiFailure. */
export async function beginSignIn(
  signIn: SignIn,
  keep: boolean,
): Promise<Readonly<{ url: URL; pending: PendingSignIn }>> {
  if (!isSecureContext) throw new ApiFailure(NOT_SECURE, { status: -1 })
  const state = oauth.generateRandomState()
  const nonce = oauth.generateRandomNonce()
  const verifier = oauth.generateRandomCodeVerifier()
  const url = new URL(signIn.provider.authorization_endpoint)
  const parameters = {
    response_type: 'code',
    client_id: signIn.clientId,
    redirect_uri: redirectUri(),
    scope: signIn.scope,
    state,
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  const returnTo = location.pathname + location.search + location.hash
  return { url, pending: { ...signIn, state, nonce, verifier, keep, returnTo } }
}

/** In: what the provider sent the user back with. Fails with an ApiFailure. */
export function finishSignIn(pending: PendingSignIn, answer: URLSearchParams): Promise<Tokens> {
  const { provider, state, nonce, verifier } = pending
  return explained(pending, async (client) => {
    const checked = oauth.validateAuthResponse(provider, client, answer, state)
    const options = optionsFor(pending)
    const response = await oauth.authorizationCodeGrantRequest(
      provider,
      client,
      oauth.None(),
      checked,
      redirectUri(),
      verifier,
      options,
    )
    const expected = { expectedNonce: nonce, requireIdToken: true }
    return toTokens(pending, await oauth.processAuthorizationCodeResponse(provider, client, response, expected))
  })
}

/** Fails with an ApiFailure, with status 401 if the provider does not renew the token any more. */
export function renewTokens(renewal: Renewal): Promise<Tokens> {
  const { provider, refreshToken } = renewal
  return explained(renewal, async (client) => {
    const options = optionsFor(renewal)
    const response = await oauth.refreshTokenGrantRequest(provider, client, oauth.None(), refreshToken, options)
    const renewed = await oauth.processRefreshTokenResponse(provider, client, response)
    return toTokens(renewal, { refresh_token: refreshToken, ...renewed })
  })
}

type TokenAnswer = Pick<oauth.TokenEndpointResponse, 'access_token' | 'refresh_token' | 'expires_in'>

function toTokens(
  { clientId, scope, provider }: SignIn,
  { access_token, refresh_token, expires_in }: TokenAnswer,
): Tokens {
  if (refresh_token === undefined || expires_in === undefined) return { key: access_token }
  const expiresAt = Date.now() + expires_in * 1_000
  return { key: access_token, renewal: { clientId, scope, provider, refreshToken: refresh_token, expiresAt } }
}

const TIMEOUT_MS = 10_000

/** The operator may name a provider without TLS, such as one on the same machine. */
const optionsFor = ({ provider }: SignIn) => ({
  [oauth.allowInsecureRequests]: provider.token_endpoint.startsWith('http:'),
  signal: () => AbortSignal.timeout(TIMEOUT_MS),
})

async function explained<Out>(signIn: SignIn, work: (client: oauth.Client) => Promise<Out>): Promise<Out> {
  try {
    return await work({ client_id: signIn.clientId })
  } catch (thrown) {
    const status = thrown instanceof oauth.ResponseBodyError && thrown.status < 500 ? 401 : -1
    throw new ApiFailure(`${describe(thrown, signIn.provider.issuer)} Sign in again.`, { status })
  }
}

function describe(thrown: unknown, issuer: string): string {
  if (thrown instanceof oauth.AuthorizationResponseError || thrown instanceof oauth.ResponseBodyError) {
    const { error, error_description: detail } = thrown
    const said = detail === undefined || detail === error ? error : `${error}, ${detail}`
    return `${issuer} refused the sign-in: ${said.replace(/\.$/, '')}.`
  }
  if (!(thrown instanceof oauth.OperationProcessingError)) return `${issuer} does not answer.`
  if (thrown.message.includes('"state"')) return 'The answer belongs to another sign-in than the one of this tab.'
  if (thrown.message.includes('"iss"')) return `The answer is not from ${issuer}.`
  return `The answer of ${issuer} cannot be used: ${thrown.message}.`
}

const NOT_SECURE =
  'Browsers let a page sign in only over https:// or at http://localhost: open the console at such an address.'
