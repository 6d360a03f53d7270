/** The part of /openapi.json on API keys, the audit log, and the credentials of calls. */
import { DEFAULT_LIMIT, LARGEST_LIMIT } from '../../../access/audit-search.ts'
import { ROLES } from '../../../domain/access.ts'
import { isObject, type JsonObject } from '../../../domain/json.ts'
import { answer, content, failure, inPath, list, object, ref, text, time, whole } from './openapi-parts.ts'

const FILTERS: Readonly<Record<string, Readonly<{ schema: JsonObject; description: string }>>> = {
  who: { schema: list(text), description: '`who` or `name` of an entry.' },
  what: { schema: list(text), description: '`what` or `target` of an entry.' },
  from: { schema: text, description: 'ISO 8601, or before now: `-1h`. Inclusive.' },
  to: { schema: text, description: 'ISO 8601, or before now: `-1h`. Exclusive.' },
  limit: {
    schema: { ...whole, minimum: 1, maximum: LARGEST_LIMIT, default: DEFAULT_LIMIT },
    description: 'Entries of a page.',
  },
  cursor: { schema: text, description: '`next` of the page before.' },
}

export const accessPaths: JsonObject = {
  '/keys': {
    get: {
      summary: 'All API keys, oldest first, revoked ones too; never the keys themselves. Role admin.',
      responses: { 200: answer('The keys.', object({ keys: list(ref('Key')) })) },
    },
    post: {
      summary: 'Makes an API key; the answer is the only place where it is shown. Role admin.',
      requestBody: {
        required: true,
        ...content(object({ name: text, roles: list(ref('Role')), expiresAt: time }, ['name', 'roles'])),
      },
      responses: {
        201: answer('The key.', { allOf: [ref('Key'), { required: ['key'], properties: { key: text } }] }),
        400: failure('The name, a role or the time is wrong.'),
        415: failure('The body is not declared as JSON.'),
      },
    },
  },
  '/keys/{id}': {
    parameters: [inPath('id', { ...text, pattern: '^[0-9a-f]{16}$' })],
    delete: {
      summary: 'Revokes an API key, at once. Role admin.',
      responses: {
        200: { description: 'It is revoked.' },
        404: failure('There is no such key, or it is revoked already.'),
      },
    },
  },
  '/audit': {
    get: {
      summary: 'Who managed what, newest first. Role admin.',
      parameters: Object.entries(FILTERS).map(([name, filter]) => ({ name, in: 'query', ...filter })),
      responses: {
        200: answer('A page.', object({ entries: list(ref('AuditEntry')), next: text }, ['entries'])),
        400: failure('A filter is not known, or cannot have this value.'),
      },
    },
  },
}

export const accessSchemas: JsonObject = {
  Role: { enum: [...ROLES] },
  Key: object({ id: text, name: text, roles: list(ref('Role')), createdAt: time, expiresAt: time, revokedAt: time }, [
    'id',
    'name',
    'roles',
    'createdAt',
  ]),
  AuditEntry: object(
    {
      id: text,
      at: time,
      who: { ...text, description: '`key:<id>`, `token:<subject>`, `command:<user>`, `local`, `anyone` or `unknown`.' },
      name: text,
      address: text,
      what: { ...text, description: 'Method and route, or the command.' },
      target: { ...text, description: 'Id of what was called on or made.' },
      before: whole,
      after: { ...whole, description: 'Version of the endpoint after the change.' },
      note: { ...text, description: 'What the caller said about its change.' },
      status: whole,
      code: text,
      omitted: { ...whole, description: 'Refused calls before this one of which nothing was kept.' },
    },
    ['id', 'at', 'who', 'what', 'status'],
  ),
}

export const securitySchemes: JsonObject = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key, or an access token where MANAGEMENT_AUTH is oidc.',
  },
}

const OPEN = /^\/(uptime|health\/.*)$/

/** Adds the refusals of the auth hook to each call, and to open calls that they need no credentials. */
export function withAccess(paths: JsonObject): JsonObject {
  const refusals = {
    401: failure('The credentials are missing, or not accepted.'),
    403: failure('The credentials do not allow this, or the call came from elsewhere while there are none.'),
  }
  const changed = (path: string, call: JsonObject): JsonObject =>
    OPEN.test(path)
      ? { ...call, security: [] }
      : { ...call, responses: { ...(call.responses as JsonObject), ...refusals } }
  return Object.fromEntries(
    Object.entries(paths).map(([path, calls]) => [
      path,
      Object.fromEntries(
        Object.entries(calls as JsonObject).map(([name, call]) => [name, isObject(call) ? changed(path, call) : call]),
      ),
    ]),
  )
}
