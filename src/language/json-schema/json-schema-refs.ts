/** References within a schema: their targets, and loops that read no new data. */
import { isObject, type Json, type JsonObject } from '../../core/json.ts'

/** The documents outside of a schema that Ajv has; no others are fetched. */
const META_SCHEMAS = new Set(['http://json-schema.org/draft-07/schema', 'https://json-schema.org/draft/2020-12/schema'])

/** Names that references of a schema can use besides JSON Pointers. */
export type SchemaTargets = Readonly<{ ids: ReadonlySet<string>; anchors: ReadonlySet<string> }>

/** Every `$id`, `$anchor` and `$dynamicAnchor` in the document. */
export function targetsOf(root: JsonObject): SchemaTargets {
  const ids = new Set<string>()
  const anchors = new Set<string>()
  const pending: Json[] = [root]
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (!isObject(value) && !Array.isArray(value)) continue
    for (const inner of Object.values(value)) pending.push(inner)
    if (!isObject(value)) continue
    if (typeof value.$id === 'string') (value.$id.startsWith('#') ? anchors : ids).add(value.$id.replace(/^#/, ''))
    for (const name of [value.$anchor, value.$dynamicAnchor]) if (typeof name === 'string') anchors.add(name)
  }
  return { ids, anchors }
}

/** One sentence for a reference without a target or to another document; undefined for a sound one. */
export function wrongReference(reference: string, root: JsonObject, targets: SchemaTargets): string | undefined {
  const [base = '', fragment = ''] = reference.split('#', 2)
  if (base !== '') {
    if (META_SCHEMAS.has(base)) return undefined
    for (const id of targets.ids) if (id === base || id.endsWith(`/${base}`)) return undefined
    return `refers to another document, ${JSON.stringify(reference)}, which is never fetched; copy what it defines into "definitions" and refer to "#/definitions/<name>".`
  }
  if (fragment === '' || targets.anchors.has(fragment)) return undefined
  // A pointer starts at the nearest `$id` above it, which only Ajv knows.
  if (fragment.startsWith('/') && (targets.ids.size > 0 || resolveLocal(root, reference) !== undefined))
    return undefined
  return `refers to ${JSON.stringify(reference)}, which this schema does not have.`
}

/** The target of a reference such as `#`, `#/definitions/a%20b` or `#/$defs/a~1b` (RFC 6901 section 6). */
export function resolveLocal(root: JsonObject, reference: string): Json | undefined {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  let at: Json | undefined = root
  // A pointer may have as many names as a document has characters: none is read behind one that leads nowhere.
  let from = 2
  while (from <= reference.length && at !== undefined) {
    const slash = reference.indexOf('/', from)
    const end = slash === -1 ? reference.length : slash
    const name = pointerName(reference.slice(from, end))
    if (isObject(at)) at = Object.hasOwn(at, name) ? at[name] : undefined
    else at = Array.isArray(at) && /^\d+$/.test(name) ? at[Number(name)] : undefined
    from = end + 1
  }
  return at
}

/** The names in a JSON Pointer in the form of a URI fragment (RFC 6901 section 6). */
export const pointerNames = (fragment: string): string[] => fragment.split('/').slice(1).map(pointerName)

const pointerName = (segment: string): string => decoded(segment).replaceAll('~1', '/').replaceAll('~0', '~')

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The schemas that apply to the same data as this one. */
function inPlace(schema: JsonObject, root: JsonObject): JsonObject[] {
  const parts: (Json | undefined)[] = [schema.not, schema.if, schema.then, schema.else]
  for (const list of [schema.allOf, schema.anyOf, schema.oneOf]) if (Array.isArray(list)) parts.push(...list)
  for (const map of [schema.dependencies, schema.dependentSchemas]) if (isObject(map)) parts.push(...Object.values(map))
  if (typeof schema.$ref === 'string') parts.push(resolveLocal(root, schema.$ref))
  return parts.filter(isObject)
}

/** The references in loops that never end, one for each loop. */
export function endless<Reference extends Readonly<{ schema: JsonObject }>>(
  references: readonly Reference[],
  root: JsonObject,
): readonly Reference[] {
  const done = new Set<JsonObject>()
  return references.filter(({ schema: start }) => {
    const open = new Set<JsonObject>()
    const pending = [{ schema: start, leave: false }]
    let found = false
    for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
      if (step.leave) {
        open.delete(step.schema)
        done.add(step.schema)
      } else if (open.has(step.schema)) found = true
      else if (!done.has(step.schema)) {
        open.add(step.schema)
        pending.push({ schema: step.schema, leave: true })
        for (const part of inPlace(step.schema, root)) pending.push({ schema: part, leave: false })
      }
    }
    return found
  })
}
