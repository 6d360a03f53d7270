/**
 * Orchestrations of other mediators, rebuilt from the members that openhim-core stores: one with a wrong type would make
 * the core lose the whole transaction.
 */
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { headersOf } from '../../formats/openhim-wrapper.ts'
import type { Credentialed } from '../../records/message-log/redaction.ts'
import type { Privacy } from './orchestration-privacy.ts'

/** `at`: ISO 8601, the time of one that names none. Undefined if it has no name, which the core requires. */
export function foreignOrchestration(
  { name, group, request, response, error }: JsonObject,
  privacy: Privacy,
  at: string,
): JsonObject | undefined {
  if (typeof name !== 'string' || name === '') return undefined
  const exchange = (part: JsonObject): JsonObject => {
    const body = typeof part.body === 'string' ? part.body : ''
    const content = privacy.content(
      headersOf(isObject(part.headers) ? part.headers : {}),
      body,
      Buffer.byteLength(body),
    )
    return { ...content, timestamp: timeOf(part.timestamp) ?? at }
  }
  return {
    name: privacy.text(name),
    ...(typeof group === 'string' ? { group: privacy.text(group) } : {}),
    ...(isObject(request) ? { request: { ...placeOf(request, privacy), ...exchange(request) } } : {}),
    ...(isObject(response) ? { response: { ...statusOf(response.status), ...exchange(response) } } : {}),
    ...(isObject(error) ? { error: { message: privacy.text(textOf(error.message)) } } : {}),
  }
}

/** The request and the response of an orchestration, as far as they may hold credentials. */
export function exchangesOf({ request, response }: JsonObject): readonly Credentialed[] {
  return [request, response].filter(isObject).map((part) => ({
    headers: headersOf(isObject(part.headers) ? part.headers : {}),
    query: targetOf(part).query,
  }))
}

function placeOf(request: JsonObject, { text, query }: Privacy): JsonObject {
  const target = targetOf(request)
  return {
    host: text(textOf(request.host).replace(/^.*@/s, '')),
    port: textOf(request.port),
    path: text(target.path),
    querystring: query(target.query),
    method: textOf(request.method),
  }
}

/** Some mediators write the query into the path, and its name as `queryString`. */
function targetOf({ path, querystring, queryString }: JsonObject): Readonly<{ path: string; query: string }> {
  const [ownPath = '', inPath = ''] = textOf(path).split(/\?(.*)/s)
  return { path: ownPath, query: textOf(querystring) || textOf(queryString) || inPath }
}

const textOf = (value: Json | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

function statusOf(value: Json | undefined): JsonObject {
  const status = Number(textOf(value))
  return Number.isInteger(status) && status >= 100 && status <= 599 ? { status } : {}
}

/** Times are ISO 8601, or milliseconds since the epoch. */
function timeOf(value: Json | undefined): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const time = new Date(value)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}
