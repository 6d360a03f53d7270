/** The parameters that an endpoint reads from its requests. */

import type { Json, JsonObject } from '../../core/json.ts'
import { documentPath } from '../../core/lint.ts'
import { type DocumentReference, referencesOf } from '../../document/reads/document-reads.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import { parsePath } from '../../language/paths/path.ts'
import { parseRoutePattern } from '../../language/route-pattern.ts'
import { joined, type RequestSchemas } from './request-schema.ts'

type Read = Readonly<{ root: string; name: string; source: string; isNeeded: boolean }>

/** A query may repeat a name, which then has the list of its values. */
const QUERY_VALUE = { type: ['string', 'array'], items: { type: 'string' } }

/** OpenAPI describes these in places of their own (section 4.8.12.1). */
const NO_PARAMETERS = new Set(['accept', 'content-type', 'authorization'])

/** The segments of a pattern that are parameters; they stand beside the methods of a path. */
export function pathParameters(pattern: string): readonly JsonObject[] {
  const parsed = parseRoutePattern(pattern)
  const names = parsed.ok ? parsed.value.parameters : []
  return names.map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', minLength: 1, 'x-crosswalk-source': 'endpoint.pattern' },
  }))
}

/**
 * Query parameters and headers that the mapping, the requests, the state or `inputValidation` name. Expressions may read
 * more: what they read depends on the message. `credentials`: headers that `auth` describes, in lower case.
 */
export function readParameters(
  endpoint: Endpoint,
  request: RequestSchemas,
  credentials: ReadonlySet<string>,
): readonly JsonObject[] {
  const reads = readsOf(endpoint)
  const query = new Map<string, JsonObject>()
  for (const [name, places] of request.query.members) {
    const schema = { ...joined(places), 'x-crosswalk-source': 'inputValidation' }
    const isRequired = request.needsQuery && request.query.required.has(name)
    query.set(name, parameter('query', name, schema, isRequired))
  }
  const headers = new Map<string, JsonObject>()
  for (const { root, name, source, isNeeded } of reads) {
    const known = root === 'query' ? query : headers
    const before = known.get(name)
    if (root === 'requestHeaders' && (NO_PARAMETERS.has(name) || credentials.has(name))) continue
    if (before !== undefined) {
      if (isNeeded) known.set(name, { ...before, required: true })
      continue
    }
    const schema = { ...(root === 'query' ? QUERY_VALUE : { type: 'string' }), 'x-crosswalk-source': source }
    known.set(name, parameter(root === 'query' ? 'query' : 'header', name, schema, isNeeded))
  }
  if (endpoint.idempotency !== undefined) {
    const schema = { type: 'string', 'x-crosswalk-source': 'idempotency' }
    const description =
      'A message with this key is processed once; its response is replayed to later ones with the same key.'
    headers.set('idempotency-key', {
      ...parameter('header', 'Idempotency-Key', schema, endpoint.idempotency.required === true),
      description,
    })
  }
  return [...query.values(), ...headers.values()]
}

const parameter = (place: string, name: string, schema: Json, isRequired: boolean): JsonObject => ({
  name,
  in: place,
  ...(isRequired ? { required: true } : {}),
  schema,
})

function readsOf(endpoint: Endpoint): readonly Read[] {
  return referencesOf(endpoint).flatMap(({ text, at, stage }) => {
    const parsed = stage === 'transform' ? undefined : parsePath(text)
    if (parsed?.ok !== true) return []
    const { root, steps } = parsed.value
    const [first] = steps
    if ((root !== 'query' && root !== 'requestHeaders') || first?.kind !== 'name') return []
    const name = root === 'query' ? first.name : first.name.toLowerCase()
    return [{ root, name, source: documentPath(...at), isNeeded: isNeeded(at, endpoint) }]
  })
}

/** Without a value for the URL, the message is refused before anything is sent. */
function isNeeded([section, list, index, ...within]: DocumentReference['at'], { requests }: Endpoint): boolean {
  if (section !== 'requests' || within[2] !== 'url') return false
  return requests[list as 'lookup' | 'response'][Number(index)]?.forEach === undefined
}
