/** The settings of who may manage the service, and of the account that is kept of it. */
import { fault, found } from '../../domain/lint.ts'
import type { Setting } from '../setting-kinds.ts'
import { choice, type Kind, optional, wholeNumber } from '../setting-kinds.ts'

const httpUrl: Kind<string> = {
  accepts: 'an `https://` or `http://` URL without credentials, query or fragment',
  parse: (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined
    const isPlain =
      url !== undefined && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
    return isPlain && /^https?:$/.test(url.protocol) ? found(text) : fault(`Give ${httpUrl.accepts}.`)
  },
}

const word = (accepts: string): Kind<string> => ({
  accepts,
  parse: (text) => (/^[\w.:/@+~-]+$/.test(text) ? found(text) : fault(`Give ${accepts}.`)),
})

export const management = {
  managementAuth: {
    name: 'MANAGEMENT_AUTH',
    kind: optional(choice('keys', 'oidc', 'off')),
    default: '',
    means:
      'Who may manage the service. Unset: callers on this machine only, and as soon as there is an API key, those with one. `keys`: those with an API key. `oidc`: those with an access token of `MANAGEMENT_OIDC_ISSUER`. `off`: everyone who reaches a port.',
  },
  managementOidcIssuer: {
    name: 'MANAGEMENT_OIDC_ISSUER',
    kind: optional(httpUrl),
    default: '',
    means: 'The OpenID Connect provider whose access tokens are taken, as it names itself in them (`iss`).',
    secret: true,
  },
  managementOidcAudience: {
    name: 'MANAGEMENT_OIDC_AUDIENCE',
    kind: optional(word('a name or URL')),
    default: '',
    means: 'The name of this service at the provider: tokens for others (`aud`) are refused.',
  },
  managementOidcJwksUrl: {
    name: 'MANAGEMENT_OIDC_JWKS_URL',
    kind: optional(httpUrl),
    default: '',
    means:
      'Where the public keys of the provider are. Unset: where the provider says (`/.well-known/openid-configuration`).',
    secret: true,
  },
  managementOidcRolesClaim: {
    name: 'MANAGEMENT_OIDC_ROLES_CLAIM',
    kind: word('the name of a claim, or names joined by dots such as `realm_access.roles`'),
    default: 'roles',
    means:
      'The claim of a token that lists the roles of the caller: `crosswalk-viewer`, `crosswalk-operator`, `crosswalk-author`, `crosswalk-admin`; others in it mean nothing here.',
  },
  auditDays: {
    name: 'AUDIT_DAYS',
    kind: wholeNumber(1, 36_500),
    default: '400',
    means: 'How many days entries of the audit log are kept.',
  },
} as const satisfies Record<string, Setting<unknown>>
