/** Fills the store of a running service over HTTP, and observes what the service finds in it. */

type Ports = Readonly<{ url: string; adminUrl: string }>

/** `key`: an API key that may read everything. `paths`: the views of the admin port to compare. */
export type Filled = Readonly<{ key: string; paths: readonly string[] }>

type Message = Readonly<{ path: string; body: unknown; idempotencyKey?: string }>

const STATEFUL = {
  name: 'Größe "1" \u0000 \ud83d\ude00',
  endpoint: { pattern: '/stateful' },
  transformation: { input: 'JSON', output: 'JSON' },
  messageKeys: { order: 'requestBody.order' },
  inputMapping: { 'requestBody.order': 'order', 'state.requestBody.last': 'previous' },
  state: { extract: { requestBody: { last: 'order' } } },
}

const KEYED = {
  name: 'Keyed',
  endpoint: { pattern: '/keyed' },
  transformation: { input: 'JSON', output: 'XML' },
  inputMapping: { requestBody: 'message' },
  idempotency: { hours: 720 },
  messageLog: 'all',
}

const CHANGED = {
  name: 'Changed',
  endpoint: { pattern: '/changed/:id' },
  transformation: { input: 'JSON', output: 'JSON' },
}
const DELETED = { ...CHANGED, name: 'Deleted', endpoint: { pattern: '/deleted' } }

const ONCE: Message = { path: '/keyed', body: { n: 1, text: 'ü < 2' }, idempotencyKey: 'one' }

/** Two endpoints with messages, one with versions, one deleted; state, a cached response, records, bodies, keys, audit log. */
export async function fill({ url, adminUrl }: Ports): Promise<Filled> {
  const stateful = await manage(adminUrl, 'POST', '/endpoints', STATEFUL)
  await manage(adminUrl, 'POST', '/endpoints', KEYED)
  const changed = await manage(adminUrl, 'POST', '/endpoints', CHANGED)
  await manage(adminUrl, 'PUT', `/endpoints/${changed._id}`, { ...CHANGED, constants: { a: 1 } })
  await manage(adminUrl, 'PUT', `/endpoints/${changed._id}`, { ...CHANGED, constants: { a: [2, 'ü'] } })
  const deleted = await manage(adminUrl, 'POST', '/endpoints', DELETED)
  await manage(adminUrl, 'DELETE', `/endpoints/${deleted._id}`)

  const failed = await send(url, { path: '/stateful', body: '{"order": ' })
  for (const order of ['first', 'second', 'third']) await send(url, { path: '/stateful', body: { order } })
  await send(url, ONCE)
  await send(url, { path: '/changed/1', body: {} })

  const { key } = await manage(adminUrl, 'POST', '/keys', { name: 'manager', roles: ['admin'] })
  const revoked = await manage(adminUrl, 'POST', '/keys', { name: 'revoked', roles: ['viewer'] }, key)
  await manage(adminUrl, 'DELETE', `/keys/${revoked.id}`, undefined, key)

  const { messageId } = JSON.parse(failed.body) as { messageId: string }
  return {
    key: key as string,
    // The audit log first, as the others add to it.
    paths: [
      '/audit',
      '/endpoints',
      `/endpoints/${stateful._id}`,
      `/endpoints/${changed._id}/versions`,
      `/endpoints/${changed._id}/versions/1`,
      `/endpoints/${changed._id}/versions/3`,
      `/endpoints/${deleted._id}/versions`,
      '/messages?limit=100',
      '/messages?key=order:second',
      '/messages/groups',
      `/messages/${messageId}`,
      `/messages/${messageId}/body/incoming`,
      '/keys',
    ],
  }
}

/** What the service shows of the store, and how it answers messages for which the store matters. Once for each store. */
export async function observe({ url, adminUrl }: Ports, { key, paths }: Filled) {
  const views: Record<string, unknown> = {}
  for (const path of paths) views[path] = await manage(adminUrl, 'GET', path, undefined, key)
  return {
    views,
    replayed: await send(url, ONCE),
    reused: await send(url, { ...ONCE, body: { n: 2 } }),
    state: await send(url, { path: '/stateful', body: { order: 'fourth' } }),
  }
}

export type Observed = Awaited<ReturnType<typeof observe>>

async function manage(adminUrl: string, method: string, path: string, body?: unknown, key?: string) {
  const response = await fetch(`${adminUrl}${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

async function send(url: string, { path, body, idempotencyKey }: Message) {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': JSON.stringify(idempotencyKey) }),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const replayed = response.headers.get('idempotency-replayed')
  return { status: response.status, replayed, body: await response.text() }
}
