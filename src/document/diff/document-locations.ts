/**
 * What a place of an endpoint document holds, by the schema of documents: fields, whose order says nothing, names that the
 * author gave in an order of their own, or requests, which are known by their id.
 */

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { documentPath } from '../../core/lint.ts'
import type { Field } from '../schema/schema-fields.ts'

/** A member of an object, an element of an array, or the request with an id. */
export type LocationSegment = string | number | Readonly<{ id: string }>
export type DocumentLocation = readonly LocationSegment[]

/** As lints write it, for example `inputMapping.requestBody\.nr`; a request by its id: `requests.lookup[patient].config.url`. */
export function formatLocation(location: DocumentLocation): string {
  return location.reduce<string>(
    (text, segment) => (typeof segment === 'object' ? `${text}[${segment.id}]` : documentPath(text, segment)),
    '',
  )
}

/** The parts of a value that are compared with those of another by name or id. */
export type NamedParts = Readonly<{
  parts: ReadonlyMap<string, Json>
  /** Another order would be another document. */
  isOrdered: boolean
  toSegment(name: string): LocationSegment
  findField(name: string): Field | undefined
}>

/** In: both values of a place. Out: their parts; undefined unless both have parts of one kind that are known by name or id. */
export function pairNamedParts(
  before: Json,
  after: Json,
  field: Field | undefined,
): readonly [NamedParts, NamedParts] | undefined {
  if (isObject(before) && isObject(after)) return [namedMembers(before, field), namedMembers(after, field)]
  if (!Array.isArray(before) || !Array.isArray(after) || !isKnownById(field)) return undefined
  const [former, latter] = [requestsById(before, field), requestsById(after, field)]
  return former === undefined || latter === undefined ? undefined : [former, latter]
}

function namedMembers(value: JsonObject, field: Field | undefined): NamedParts {
  const { properties, additionalProperties, namesInAnyOrder } = field ?? {}
  const named = typeof additionalProperties === 'object' ? additionalProperties : undefined
  return {
    parts: new Map(Object.entries(value)),
    isOrdered: properties === undefined && namesInAnyOrder === undefined,
    toSegment: (name) => name,
    findField: (name) => (properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : named),
  }
}

const isKnownById = (field: Field | undefined): boolean => field?.items?.required?.includes('id') === true

/** Every element needs an id of its own. */
function requestsById(elements: readonly Json[], field: Field | undefined): NamedParts | undefined {
  const parts = new Map(
    elements.flatMap((element): [string, Json][] =>
      isObject(element) && typeof element.id === 'string' ? [[element.id, element]] : [],
    ),
  )
  if (parts.size < elements.length) return undefined
  return { parts, isOrdered: true, toSegment: (id) => ({ id }), findField: () => field?.items }
}
