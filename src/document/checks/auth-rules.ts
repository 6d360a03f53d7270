/** The rules between the fields of `auth`. */
import { FRAMING_HEADERS } from '../../core/http.ts'
import type { LintSink } from '../../core/lint.ts'
import { EXAMPLE_REFERENCES, referencesIn } from '../../core/secrets/secrets.ts'
import { isHeaderName } from '../../language/headers.ts'
import type { Endpoint } from '../schema/schema.ts'
import { UNKNOWN } from '../schema/schema-fields.ts'

type Auth = NonNullable<Endpoint['auth']>

/** `lint` is at `auth`. An incomplete entry would let all callers in, or none. */
export function lintAuth({ auth }: Endpoint, lint: LintSink): void {
  if (auth === undefined) return
  const { apiKey, basic, jwt } = auth
  if (apiKey === undefined && basic === undefined && jwt === undefined) {
    lint.error('"auth" needs "apiKey", "basic" or "jwt"; without it, leave "auth" out.')
  }
  lintApiKey(auth, lint.at('apiKey'))
  if (basic !== undefined) lintBasic(basic, lint.at('basic', 'users'))
  if (jwt !== undefined) lintJwt(jwt, lint.at('jwt'))
}

function lintSecret(text: string, lint: LintSink): void {
  if (text === UNKNOWN || referencesIn(text).length > 0) return
  // The message does not quote the text: it is the secret.
  lint.error(`A document must not contain a secret; write a reference to it, such as ${EXAMPLE_REFERENCES}.`)
}

function lintApiKey({ apiKey, basic, jwt }: Auth, lint: LintSink): void {
  if (apiKey === undefined) return
  const { header = 'x-api-key', keys } = apiKey
  const isAuthorization = header.toLowerCase() === 'authorization'
  if (!isHeaderName(header) || FRAMING_HEADERS.has(header.toLowerCase())) {
    lint.at('header').error(`"${header}" cannot be the header of a key; choose another one, such as "X-API-Key".`)
  } else if (isAuthorization && (basic !== undefined || jwt !== undefined)) {
    lint.at('header').error('The header "Authorization" is what "basic" and "jwt" use; choose another one.')
  }
  keys.forEach((key, index) => {
    lintSecret(key, lint.at('keys', index))
  })
}

function lintBasic({ users }: NonNullable<Auth['basic']>, lint: LintSink): void {
  if (Object.keys(users).length === 0) lint.error('There is no user; name at least one.')
  for (const [user, password] of Object.entries(users)) {
    if (user.includes(':')) lint.at(user).error('The name of a user cannot hold a colon.')
    lintSecret(password, lint.at(user))
  }
}

function lintJwt({ jwksUrl, secret, issuer, audience }: NonNullable<Auth['jwt']>, lint: LintSink): void {
  if ((jwksUrl === undefined) === (secret === undefined)) {
    lint.error('A token is verified by the keys at "jwksUrl" or by a "secret": give one of the two.')
  }
  if (secret !== undefined) lintSecret(secret, lint.at('secret'))
  if (jwksUrl === undefined) return
  const url = URL.canParse(jwksUrl) ? new URL(jwksUrl) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    lint.at('jwksUrl').error('"jwksUrl" must be an absolute http or https URL without credentials.')
  }
  // An issuer issues tokens to many callers, for many services.
  for (const [name, value] of Object.entries({ issuer, audience })) {
    if (value === undefined) lint.at(name).error(`"${name}" is required beside "jwksUrl": whose tokens, and for what?`)
  }
}
