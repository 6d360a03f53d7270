/** The calls of the public management API that the console makes; it uses nothing else of the service. */

const TIMEOUT_MS = 30_000

/**
 * What a call gave. `status` is 0 where the service did not answer; `error` is undefined where it did as asked.
 *
 * @typedef {{ path: string, message: string }} Finding
 * @typedef {{ status: number, body: any, etag: string | undefined, warnings: Finding[],
 *   error: string | undefined, details: Finding[] }} Answer
 */

/**
 * @param {string | URL} baseUrl the admin port, as the page was loaded from it
 * @param {import('./key.js').Keyring} [keyring] asked for a key where the service wants one
 */
export function createApi(baseUrl, keyring) {
  const ask = async (method, path, init) => {
    const key = keyring?.get()
    const answer = await call(method, new URL(path, baseUrl), { ...init, key })
    if (answer.status !== 401) return answer
    const other = await keyring?.ask(key, answer.error)
    return other === undefined ? answer : ask(method, path, init)
  }
  const pathOf = (id) => `endpoints/${encodeURIComponent(id)}`
  return {
    list: () => ask('GET', 'endpoints'),
    read: (id) => ask('GET', pathOf(id)),
    create: (text) => ask('POST', 'endpoints', { text }),
    /** Fails with status 412 where the stored document is not the one that `etag` was read with. */
    replace: (id, text, etag) => ask('PUT', pathOf(id), { text, etag }),
    remove: (id, etag) => ask('DELETE', pathOf(id), { etag }),
    health: () => ask('GET', 'health/ready'),
    uptime: () => ask('GET', 'uptime'),
  }
}

/** @returns {Promise<Answer>} */
async function call(method, url, { text, etag, key }) {
  const headers = { accept: 'application/json' }
  if (text !== undefined) headers['content-type'] = 'application/json'
  if (etag !== undefined) headers['if-match'] = etag
  if (key !== undefined) headers.authorization = `Bearer ${key}`
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(url, { method, headers, body: text, cache: 'no-store', signal })
    return readAnswer(response, parse(await response.text()))
  } catch {
    return {
      status: 0,
      body: undefined,
      etag: undefined,
      warnings: [],
      error: 'The service does not answer.',
      details: [],
    }
  }
}

function readAnswer({ ok, status, headers }, body) {
  const refused = ok ? undefined : (body?.error ?? `The service answered with status ${status}.`)
  return {
    status,
    body,
    etag: headers.get('etag') ?? undefined,
    warnings: parse(headers.get('x-crosswalk-warnings') ?? '[]') ?? [],
    error: ok && body === undefined ? 'The answer is not JSON; does something stand between?' : refused,
    details: body?.details ?? [],
  }
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
