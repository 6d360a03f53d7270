/** `/keys`, `/audit` and `/me`: API keys, who managed what, and who the caller is. */
import Type from 'typebox'
import { allows, type Caller, ROLES } from '../core/access.ts'
import type { JsonObject } from '../core/json.ts'
import { cursor, cutPage, readCursor } from '../core/records/cursor.ts'
import {
  both,
  component,
  described,
  enumSchema,
  extend,
  flag,
  list,
  moment,
  named,
  noted,
  object,
  pageLimit,
  Said,
  text,
  time,
  whole,
} from '../core/schema.ts'
import { timesIn } from '../records/message-log/message-filter.ts'
import type { StoredKey } from '../store/sql/key-store.ts'
import { withSentences } from './access/audit-sentence.ts'
import { answer, checkedBody, route } from './route.ts'

export const Role = component('Role', Type.Enum([...ROLES]))

export const Key = named(
  'Key',
  { id: text, name: text, roles: list(Role), createdAt: time },
  { expiresAt: time, revokedAt: time },
)

const ASKED_AS = {
  fault: 'A key is asked for as { "name": "deploy job", "roles": ["author"] }, and "expiresAt" if it expires.',
}

/** What a name, a role and a time may be, says the store of keys: for the command line too. */
const KeyRequest = noted(
  object(
    {
      name: noted(text, ASKED_AS),
      roles: noted(list(Role), {
        ...ASKED_AS,
        areItems: (roles) => roles.every((role) => typeof role === 'string'),
      }),
    },
    { expiresAt: noted(time, ASKED_AS) },
  ),
  ASKED_AS,
)

export const AuditEntry = named(
  'AuditEntry',
  {
    id: text,
    at: time,
    who: described(text, '`key:<id>`, `token:<subject>`, `command:<user>`, `local`, `anyone` or `unknown`.'),
    what: described(text, 'Method and route, or the command.'),
    status: whole,
  },
  {
    name: text,
    address: text,
    target: described(text, 'Id of what was called on or made.'),
    before: whole,
    after: described(whole, 'Version of the endpoint after the change.'),
    note: described(text, 'What the caller said about its change.'),
    sentence: described(text, 'Who did what, with the names that endpoints and keys have now.'),
    code: text,
    omitted: described(whole, 'Refused calls before this one of which nothing was kept.'),
  },
)

export const Me = named(
  'Me',
  {
    who: described(text, '`key:<id>`, `token:<subject>`, `local` or `anyone`.'),
    roles: list(Role),
    may: described(list(Role), 'The roles with those that they include.'),
    mode: described(enumSchema(['open', 'keys', 'oidc']), 'How the caller was identified.'),
    messageOrigin: described(
      text,
      'URL of the message port, such as `http://10.0.0.7:3003`: `PUBLIC_URL` if it is set, otherwise the address of the port itself, with the name of the admin port if `HOST` is every address.',
    ),
  },
  { name: text },
)

export const SignIn = named('SignIn', {
  clientId: text,
  scope: text,
  provider: described(
    object({
      issuer: text,
      authorization_endpoint: text,
      token_endpoint: text,
      authorization_response_iss_parameter_supported: flag,
    }),
    'What the OpenID Connect provider publishes of itself (RFC 8414).',
  ),
})

export const accessRoutes = [
  route({
    method: 'GET',
    path: '/keys',
    did: 'read the list of API keys',
    role: 'admin',
    summary: 'All API keys, oldest first, revoked ones too; never the keys themselves.',
    answers: { 200: answer('The keys.', object({ keys: list(Key) })) },
    sends: 'no-store',
    handle: async (_call, { keys }) => ({ keys: (await keys.list()).map(withoutHash) }),
  }),
  route({
    method: 'POST',
    path: '/keys',
    did: 'made the API key {target}',
    role: 'admin',
    summary: 'Makes an API key; the answer is the only place where it is shown.',
    body: checkedBody(KeyRequest, { code: 'KEY_INVALID' }),
    answers: { 201: answer('The key.', both([Key, object({ key: text })])) },
    sends: 'no-store',
    handle: async (call, { keys }) => {
      const { key, stored } = await keys.create(call.body, call.toChangeEntry)
      call.reply.header('location', `/keys/${stored.id}`)
      return { ...withoutHash(stored), key }
    },
  }),
  route({
    method: 'DELETE',
    path: '/keys/:id',
    did: 'revoked the API key {target}',
    role: 'admin',
    summary: 'Revokes an API key, at once.',
    params: { id: extend(text, { pattern: '^[0-9a-f]{16}$' }) },
    answers: { 200: answer('It is revoked.', Said) },
    fails: ['KEY_UNKNOWN'],
    handle: async (call, { keys }) => {
      await keys.revoke(call.params.id, call.toChangeEntry)
      return { message: `Key '${call.params.id}' revoked` }
    },
  }),
  route({
    method: 'GET',
    path: '/audit',
    did: 'read the audit log',
    role: 'admin',
    summary: 'Who managed what, newest first.',
    query: {
      who: described(list(text), '`who` or `name` of an entry.'),
      what: described(list(text), '`what` or `target` of an entry.'),
      from: moment('Inclusive'),
      to: moment('Exclusive'),
      limit: pageLimit(500, 50, 'Entries of a page.'),
      cursor,
    },
    answers: { 200: answer('A page.', object({ entries: list(AuditEntry) }, { next: text })) },
    sends: 'no-store',
    handle: async ({ query: { limit = 50, cursor, from, to, ...filter } }, api) => {
      const { audit, clock } = api
      const wanted = { ...filter, ...timesIn({ from, to }, clock()) }
      const { page: entries, ...next } = cutPage(await audit.find(wanted, limit + 1, readCursor(cursor)), limit)
      return { entries: await withSentences(entries, api), ...next }
    },
  }),
  route({
    method: 'GET',
    path: '/me',
    role: 'viewer',
    summary: 'Who the caller is, what it may do, and where messages are sent to.',
    answers: { 200: answer('The caller.', Me) },
    sends: 'no-store',
    handle: async ({ caller, request }, { messageOrigin }) => ({
      ...describe(caller),
      messageOrigin: messageOrigin(request.headers.host),
    }),
  }),
  route({
    method: 'GET',
    path: '/sign-in',
    role: 'open',
    summary: 'How people sign in to the console: empty, or the OpenID Connect provider of MANAGEMENT_OIDC_CLIENT_ID.',
    answers: { 200: answer('The provider, if there is one.', object({}, { oidc: SignIn })) },
    sends: 'no-store',
    fails: ['IDENTITY_UNAVAILABLE'],
    handle: async (_call, { signIn }) => {
      const oidc = await signIn()
      return oidc === undefined ? {} : { oidc }
    },
  }),
]

const withoutHash = ({ id, name, roles, createdAt, expiresAt, revokedAt }: StoredKey): JsonObject => ({
  id,
  name,
  roles,
  createdAt,
  ...(expiresAt === undefined ? {} : { expiresAt }),
  ...(revokedAt === undefined ? {} : { revokedAt }),
})

/** `open`: the service asks this caller for no credentials. */
const authModeFor = (who: string): 'keys' | 'oidc' | 'open' =>
  who.startsWith('key:') ? 'keys' : who.startsWith('token:') ? 'oidc' : 'open'

function describe({ who, name, roles }: Caller = { who: 'unknown', roles: [] }) {
  const may = ROLES.filter((role) => allows(roles, role))
  return { who, ...(name === undefined ? {} : { name }), roles, may, mode: authModeFor(who) }
}
