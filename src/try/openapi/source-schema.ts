/** The schemas of the values that a mapping reads, as far as something says what they are. */

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { referencesIn } from '../../core/secrets/references.ts'
import { isSecretName } from '../../core/secrets/secrets.ts'
import { looksLikeCredential } from '../../document/checks/plain-credentials.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import { pointer } from '../../language/json-schema/publish-schema.ts'
import type { PathStep, SourcePath } from '../../language/paths/path.ts'
import { isElementName } from '../../language/paths/path-steps.ts'
import { joined, type PlacedSchema, type RequestSchemas } from './request-schema.ts'

/**
 * `constant`: the value is known. `scalar`: it is surely no array, and `array`: it is one, so that it is known how a target
 * takes it. Null counts as missing, as mappings treat it.
 */
export type SourceSchema =
  | Readonly<{ kind: 'constant'; value: Json | undefined }>
  | Readonly<{ kind: 'scalar' | 'object' | 'array' | 'any'; schema: JsonObject }>

export const ANY: SourceSchema = { kind: 'any', schema: {} }
const ARRAY: SourceSchema = { kind: 'array', schema: { type: 'array' } }
const TEXT: SourceSchema = { kind: 'scalar', schema: { type: 'string' } }

/** Longer constants would be repeated for each of their readers. */
const LONGEST_CONSTANT = 2_000

/** Coercion may change a value again after a schema has accepted it: only what does not depend on it is known then. */
export function createSourceSchemas(
  endpoint: Endpoint,
  request: RequestSchemas,
  isCoerced: boolean,
): (path: SourcePath) => SourceSchema {
  const { method } = endpoint.endpoint
  const isBodiless = method === 'GET' || method === 'DELETE'
  const roots: Readonly<Record<string, (path: SourcePath) => SourceSchema>> = {
    constants: (path) => constantAt(path, endpoint.constants),
    urlParams: ({ steps }) => (steps.length === 1 && steps[0]?.kind === 'name' ? TEXT : ANY),
    requestHeaders: ({ steps: [first, ...others] }) =>
      others.length === 0 && first?.kind === 'name' && first.name !== 'set-cookie' ? TEXT : ANY,
    requestBody: ({ steps }) => {
      if (isBodiless || request.body === undefined || isCoerced) return ANY
      return along(steps, [request.body], request.follow)
    },
    query: ({ steps }) => atMember(steps, request.query.members, request.follow),
    lookupRequests: ({ steps }) => atMember(steps, request.lookupRequests.members, request.follow),
  }
  return (path) => {
    if (isCoerced && path.root !== 'constants' && path.root !== 'urlParams' && path.root !== 'requestHeaders')
      return ANY
    return roots[path.root]?.(path) ?? ANY
  }
}

function constantAt(path: SourcePath, constants: JsonObject): SourceSchema {
  const value = path.read({ constants })
  const text = JSON.stringify(value ?? null)
  // The reference would name where the secret is.
  const isSecret = path.steps.some((step) => step.kind === 'name' && isSecretName(step.name)) || holdsCredential(value)
  if (isSecret || referencesIn(text).length > 0) return typeof value === 'string' ? TEXT : ANY
  if (text.length > LONGEST_CONSTANT) return Array.isArray(value) ? ARRAY : ANY
  return { kind: 'constant', value }
}

function holdsCredential(value: Json | undefined): boolean {
  if (typeof value === 'string') return looksLikeCredential(value)
  if (Array.isArray(value)) return value.some(holdsCredential)
  return isObject(value) && Object.entries(value).some(([name, inner]) => isSecretName(name) || holdsCredential(inner))
}

function atMember(
  [first, ...others]: readonly PathStep[],
  members: RequestSchemas['query']['members'],
  follow: RequestSchemas['follow'],
): SourceSchema {
  const placed = first?.kind === 'name' ? members.get(first.name) : undefined
  return placed === undefined ? ANY : along(others, placed, follow)
}

/** In: schemas that all apply to one value. Follows the steps from it. */
function along(
  steps: readonly PathStep[],
  start: readonly PlacedSchema[],
  follow: RequestSchemas['follow'],
): SourceSchema {
  let placed = start
  for (const step of steps) {
    const next = placed.map((one) => stepInto(follow(one), step))
    const array = next.find((one) => one === 'array')
    if (array !== undefined) return ARRAY
    placed = next.filter((one) => one !== undefined) as readonly PlacedSchema[]
    if (placed.length === 0) return ANY
  }
  return { kind: kindOf(placed, follow), schema: joined(placed) }
}

/** The schema of what the step reads; undefined if it is unknown; `array` for a list of what several steps read. */
function stepInto({ schema, place }: PlacedSchema, step: PathStep): PlacedSchema | 'array' | undefined {
  if (!isObject(schema)) return undefined
  const types = typesOf(schema)
  const isList = types?.length === 1 && types[0] === 'array'
  if (step.kind === 'name') {
    if (isList) return isElementName(step.name) ? undefined : 'array'
    // An array has no fields, but its elements may have.
    if (types === undefined || types.includes('array')) return undefined
    const { properties } = schema
    if (!isObject(properties) || !Object.hasOwn(properties, step.name)) return undefined
    return { schema: properties[step.name] as Json, place: pointer(place, 'properties', step.name) }
  }
  if (!isList || step.kind === 'any') return undefined
  if (step.kind === 'each') return 'array'
  const { prefixItems, items } = schema
  const first = Array.isArray(prefixItems) ? prefixItems : []
  if (step.index < first.length) return { schema: first[step.index], place: pointer(place, 'prefixItems', step.index) }
  return items === undefined ? undefined : { schema: items, place: pointer(place, 'items') }
}

function typesOf({ type }: JsonObject): readonly Json[] | undefined {
  return type === undefined ? undefined : [type].flat()
}

function kindOf(
  placed: readonly PlacedSchema[],
  follow: RequestSchemas['follow'],
): 'scalar' | 'object' | 'array' | 'any' {
  for (const one of placed) {
    const { schema } = follow(one)
    const types = isObject(schema) ? typesOf(schema)?.filter((type) => type !== 'null') : undefined
    if (types === undefined || types.length === 0) continue
    if (types.every((type) => type === 'array')) return 'array'
    if (types.every((type) => type === 'object')) return 'object'
    if (!types.includes('array')) return types.includes('object') ? 'object' : 'scalar'
  }
  return 'any'
}
