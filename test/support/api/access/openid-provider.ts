/** A real OpenID Connect provider on this machine: people sign in with any password, and their name is the role that they have. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type Configuration } from 'oidc-provider'

export const AUDIENCE = 'crosswalk'
export const CLIENT_ID = 'crosswalk-console'

export type OpenIdProvider = Readonly<{
  url: string
  /** Settings of a service that people sign in to at this provider. */
  env: Readonly<Record<string, string>>
  /** Starts to answer: to the console at `origin` alone, whose address is known only after its service has started. */
  serve(origin: string): void
  /** Uses of refresh tokens so far. */
  readonly renewals: number
  stop(): Promise<void>
}>

export type OpenIdProviderOptions = Readonly<{
  /** How long access tokens are valid. */
  tokenSeconds?: number
  audience?: string
}>

/** The people who sign in: `viewer` to `admin` with the role of that name, others with none. */
export async function startOpenIdProvider(options: OpenIdProviderOptions = {}): Promise<OpenIdProvider> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let renewals = 0
  return {
    url,
    env: {
      MANAGEMENT_AUTH: 'oidc',
      MANAGEMENT_OIDC_ISSUER: url,
      MANAGEMENT_OIDC_AUDIENCE: AUDIENCE,
      MANAGEMENT_OIDC_CLIENT_ID: CLIENT_ID,
      MANAGEMENT_OIDC_SCOPE: 'openid offline_access',
    },
    serve: (origin) => {
      const provider = quietly(() => new Provider(url, configure(origin, options)))
      // Its pages for tests take a font from another host.
      provider.use(async (context, next) => {
        await next()
        if (typeof context.body === 'string') context.body = context.body.replace(/@import url\([^)]*\);/, '')
      })
      provider.on('grant.success', (context) => {
        if (context.oidc.params?.grant_type === 'refresh_token') renewals += 1
      })
      server.on('request', provider.callback())
    },
    get renewals() {
      return renewals
    },
    stop: () => closeServer(server),
  }
}

const configure = (
  origin: string,
  { tokenSeconds = 600, audience = AUDIENCE }: OpenIdProviderOptions,
): Configuration => ({
  clients: [
    {
      client_id: CLIENT_ID,
      token_endpoint_auth_method: 'none',
      redirect_uris: [`${origin}/console/`],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
  ],
  cookies: { keys: ['of this test'] },
  clientBasedCORS: (_context, from) => from === origin,
  findAccount: (_context, sub) => ({ accountId: sub, claims: async () => ({ sub }) }),
  issueRefreshToken: async () => true,
  extraTokenClaims: (_context, token) => {
    const name = 'accountId' in token ? token.accountId : ''
    return { preferred_username: name, roles: [`crosswalk-${name}`] }
  },
  ttl: { Grant: 600, IdToken: 600, Interaction: 600, RefreshToken: 600, Session: 600 },
  features: {
    devInteractions: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: async () => 'urn:crosswalk',
      useGrantedResource: async () => true,
      getResourceServerInfo: async () => ({
        scope: '',
        audience,
        accessTokenFormat: 'jwt',
        accessTokenTTL: tokenSeconds,
        jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
})

/** Its warnings are of its keys and pages, which are for tests. */
function quietly<Out>(work: () => Out): Out {
  const { info, warn } = console
  Object.assign(console, { info: () => {}, warn: () => {} })
  try {
    return work()
  } finally {
    Object.assign(console, { info, warn })
  }
}

const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.closeAllConnections()
    server.close(() => resolve())
  })
