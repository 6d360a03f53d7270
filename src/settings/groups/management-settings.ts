/** The settings of who may manage the service, and of the audit log. */
import { choice, hostNames, httpUrl, matching, optional, type Setting, wholeNumber } from '../setting-kinds.ts'

const word = (accepts: string) => matching(accepts, /^[\w.:/@+~-]+$/)

export const management = {
  managementAuth: {
    name: 'MANAGEMENT_AUTH',
    kind: optional(choice('keys', 'oidc', 'off')),
    default: '',
    means:
      'Who may manage the service. Unset: callers on this machine only; once there is an API key, callers with a key. `keys`: callers with an API key. `oidc`: callers with an access token of `MANAGEMENT_OIDC_ISSUER`. `off`: every caller that reaches a port by an IP address, a name without dots, or a host of `PUBLIC_URL`, `HOST`, `ADMIN_HOST` or `MANAGEMENT_HOSTS`.',
  },
  managementHosts: {
    name: 'MANAGEMENT_HOSTS',
    kind: hostNames,
    default: '',
    means:
      'Host names, with commas, by which browsers and programs call the management API where `MANAGEMENT_AUTH` is `off`; `*.example.org` matches every name below it. Calls to other names that have a dot are refused, unless `PUBLIC_URL`, `HOST` or `ADMIN_HOST` has it: a web page could have made its name resolve to this address.',
  },
  managementOidcIssuer: {
    name: 'MANAGEMENT_OIDC_ISSUER',
    kind: optional(httpUrl),
    default: '',
    means: 'The OpenID Connect provider whose access tokens are accepted, as the tokens name it (`iss`).',
    secret: true,
  },
  managementOidcAudience: {
    name: 'MANAGEMENT_OIDC_AUDIENCE',
    kind: optional(word('a name or URL')),
    default: '',
    means: 'The name of this service at the provider; tokens for other services (`aud`) are refused.',
  },
  managementOidcJwksUrl: {
    name: 'MANAGEMENT_OIDC_JWKS_URL',
    kind: optional(httpUrl),
    default: '',
    means:
      'URL of the public keys of the provider. Unset: the URL that the provider publishes (`/.well-known/openid-configuration`).',
    secret: true,
  },
  managementOidcRolesClaim: {
    name: 'MANAGEMENT_OIDC_ROLES_CLAIM',
    kind: word('the name of a claim, or names joined by dots such as `realm_access.roles`'),
    default: 'roles',
    means:
      'The claim of a token that lists the roles of the caller: `crosswalk-viewer`, `crosswalk-operator`, `crosswalk-author`, `crosswalk-admin`; other roles have no effect.',
  },
  managementOidcClientId: {
    name: 'MANAGEMENT_OIDC_CLIENT_ID',
    kind: optional(word('the id of a client')),
    default: '',
    means:
      'The public client of the provider with which people sign in to the console (authorisation code with PKCE). Unset: they paste an access token.',
  },
  managementOidcScope: {
    name: 'MANAGEMENT_OIDC_SCOPE',
    kind: matching(
      'scopes with spaces, `openid` among them',
      /^(?=.*(?<!\S)openid(?!\S))[\x21-\x7e]+( [\x21-\x7e]+)*$/,
    ),
    default: 'openid',
    means:
      'The scopes that the console asks for, with `offline_access` if the provider gives refresh tokens for that only.',
  },
  auditDays: {
    name: 'AUDIT_DAYS',
    kind: wholeNumber(1, 36_500),
    default: '400',
    means: 'How many days the entries of the audit log are kept.',
  },
} as const satisfies Record<string, Setting<unknown>>
