/** Calls the management API of a running service, for commands. */
import { kindForCode } from '../../core/failure-table.ts'
import { missingScheme } from '../../core/http.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'

export type ManagementClientOptions = Readonly<{
  /** The origin of the service, with a path if it has one. */
  url: string
  /** API key or access token. */
  key: string | undefined
  /** Of each call. */
  timeoutMs: number
  /** The role that the calls need, for the hint that a refused key gets. */
  role: 'viewer' | 'operator' | 'author'
  /** The sentence to add if a change was not answered, since it may have been made. */
  unanswered: string
}>

export interface ManagementClient {
  readonly url: string
  /**
   * In: a path with its query; a body is sent as JSON; `accept`: another media type of JSON. Out: the answer as JSON. Throws
   * ServiceFault, which never has the key.
   */
  call(method: string, path: string, body?: Json, accept?: string): Promise<Json>
}

/** A sentence for people; `details`: the faults of the documents or operations that were sent. */
export class ServiceFault extends Error {
  /** Of the answer that is a failure. */
  readonly status: number | undefined
  readonly details: readonly JsonObject[]
  constructor(message: string, status?: number, details: readonly JsonObject[] = []) {
    super(message)
    this.status = status
    this.details = details
  }
}

/** A list of 10,000 large documents has less. */
const ANSWER_LIMIT_BYTES = 256 * 1024 * 1024

export function createManagementClient(options: ManagementClientOptions): ManagementClient {
  const url = normalizeUrl(options.url)
  return {
    url,
    call: async (method, path, body, accept) => {
      const { status, text } = await exchange({ ...options, url }, method, path, body, accept)
      const what = `${url} answered ${method} ${path}`
      const answer = parseJson(text)
      const isSuccess = status >= 200 && status < 300
      if (isSuccess && answer !== undefined) return answer
      if (isSuccess) {
        throw new ServiceFault(`${what} with no JSON; is the URL that of Crosswalk, or of a proxy?`)
      }
      const { error, details, code } = isObject(answer) ? answer : {}
      const sentence = typeof error === 'string' ? `: ${error}` : '.'
      const faults = Array.isArray(details) ? details.filter(isObject) : []
      const message = `${what} with status ${status}${sentence}${hintFor(status, code, options)}`
      throw new ServiceFault(message, status, faults)
    },
  }
}

/** The stored documents of the service, oldest first. Throws ServiceFault. */
export async function fetchDocuments(client: ManagementClient): Promise<readonly JsonObject[]> {
  const answer = await client.call('GET', '/endpoints')
  if (Array.isArray(answer)) return answer.filter(isObject)
  throw new ServiceFault(`${client.url} answered GET /endpoints with no list; is the URL right?`)
}

/** Without credentials, which no sentence may repeat, and without a slash at the end. */
function normalizeUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ServiceFault(
      missingScheme(text) ?? `"${text}" is not the URL of a service; write it as http://host:3004.`,
    )
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

async function exchange(
  { url, key, timeoutMs, unanswered }: ManagementClientOptions,
  method: string,
  path: string,
  body: Json | undefined,
  accept = 'application/json',
): Promise<Readonly<{ status: number; text: string }>> {
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      // A redirect would take the key elsewhere.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        accept,
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        // The service refuses a call without it that could come from a web page, with a body or without.
        ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, text: await readText(response) }
  } catch (thrown) {
    const code = describeCause(thrown)
    const advice = method === 'GET' ? 'Check the address, and that Crosswalk runs.' : unanswered
    throw new ServiceFault(
      `${url} did not answer ${method} ${path}${code === undefined ? '' : ` (${code})`}. ${advice}`,
    )
  }
}

async function readText(response: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.length
    if (bytes > ANSWER_LIMIT_BYTES)
      throw new Error('The answer is too large.', { cause: { code: 'its answer is too large' } })
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

function describeCause(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined
  if (thrown.name === 'TimeoutError') return 'timeout'
  const { cause } = thrown
  if (!isObject(cause)) return undefined
  return [cause.code, cause.message].find((text) => typeof text === 'string' && text !== '') as string | undefined
}

function hintFor(status: number, code: Json | undefined, { role }: ManagementClientOptions): string {
  if (status === 401 || status === 403) return ` Give a key of the role ${role} in CROSSWALK_KEY or --key-file.`
  // The port for messages has only the most common routes of the management API.
  if (kindForCode(String(code)).noRoute) return ' Give the URL of the admin port (ADMIN_PORT of the service).'
  return status >= 300 && status < 400 ? ' Give the URL to which it redirects.' : ''
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
