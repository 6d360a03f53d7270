/** The parameters that an endpoint reads from its requests. */
import type { Endpoint } from '../config/schema/schema.ts'
import type { Json, JsonObject } from '../domain/json.ts'
import { documentPath } from '../domain/lint.ts'
import { parsePath } from '../language/paths/path.ts'
import { parseRoutePattern } from '../language/route-pattern.ts'
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

function readsOf({ inputMapping, requests, state, messageKeys }: Endpoint): readonly Read[] {
  const reads: Read[] = []
  const read = (path: string, source: string, isNeeded = false): void => {
    const parsed = parsePath(path)
    if (!parsed.ok) return
    const { root, steps } = parsed.value
    const [first] = steps
    if ((root !== 'query' && root !== 'requestHeaders') || first?.kind !== 'name') return
    const name = root === 'query' ? first.name : first.name.toLowerCase()
    reads.push({ root, name, source, isNeeded })
  }
  for (const path of Object.keys(inputMapping)) read(path, documentPath('inputMapping', path))
  for (const [list, calls] of Object.entries(requests)) {
    calls.forEach(({ config, forEach, ...request }, index) => {
      const at = documentPath('requests', list, index)
      for (const [name, { path }] of Object.entries(config?.params?.query ?? {})) {
        read(path, documentPath(at, 'config', 'params', 'query', name))
      }
      // Without a value for the URL, the message is refused before anything is sent.
      for (const [name, { path }] of Object.entries(config?.params?.url ?? {})) {
        read(path, documentPath(at, 'config', 'params', 'url', name), forEach === undefined)
      }
      if (forEach !== undefined) read(forEach.items, documentPath(at, 'forEach', 'items'))
      if ('key' in request && request.key !== undefined) read(request.key.path, documentPath(at, 'key'))
    })
  }
  for (const path of Object.values(state.extract?.query ?? {})) read(`query.${path}`, 'state.extract.query')
  for (const path of Object.values(messageKeys ?? {})) read(path, 'messageKeys')
  return reads
}
