/** An issuer of tokens: a real server with real keys, which can be taken away. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

export type TokenChanges = Readonly<{
  claims?: JWTPayload
  /** Another key than the one that is published under `kid`. */
  forged?: boolean
  kid?: string
  alg?: string
}>

export type Issuer = Readonly<{
  url: string
  jwksUrl: string
  /** A good token of this issuer for `crosswalk`, unless changed. A claim that is undefined is left out. */
  token(changes?: TokenChanges): Promise<string>
  /** What it answers with from now on instead of its keys; undefined: its keys. */
  break(status: number | 'hang' | 'nonsense' | undefined): void
  /** Calls for its keys. */
  readonly fetched: number
  /** The header `Via` of the last of them. */
  readonly via: string | undefined
  stop(): Promise<void>
}>

export const AUDIENCE = 'crosswalk'

export const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1_000) + seconds

export async function startIssuer(): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const other = await generateKeyPair('RS256')
  const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }] }
  let broken: number | 'hang' | 'nonsense' | undefined
  let fetched = 0
  let via: string | undefined
  const server = createServer((request, response) => {
    if (request.url === '/keys') {
      fetched += 1
      via = request.headers.via
    }
    if (broken === 'hang') return
    const { port } = server.address() as AddressInfo
    const issuer = `http://127.0.0.1:${port}`
    response.setHeader('content-type', 'application/json')
    response.statusCode = typeof broken === 'number' ? broken : 200
    if (broken === 'nonsense') response.end('{"keys": 7')
    else if (request.url === '/.well-known/openid-configuration') {
      response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }))
    } else response.end(JSON.stringify(keys))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    jwksUrl: `${url}/keys`,
    token: ({ claims = {}, forged = false, kid = 'one', alg = 'RS256' } = {}) => {
      const all = { iss: url, aud: AUDIENCE, sub: 'ann', iat: inSeconds(0), exp: inSeconds(600), ...claims }
      const payload = JSON.parse(JSON.stringify(all)) as JWTPayload
      return new SignJWT(payload).setProtectedHeader({ alg, kid }).sign(forged ? other.privateKey : privateKey)
    },
    break: (status) => {
      broken = status
    },
    get fetched() {
      return fetched
    },
    get via() {
      return via
    },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token that claims to need no signature. */
export const unsigned = (claims: object): string => `${base64({ alg: 'none', typ: 'JWT' })}.${base64(claims)}.`
