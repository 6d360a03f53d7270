/**
 * Paths into the answers of lookups. Before version 3 the peer kept the data of a lookup directly under its id; since then,
 * and here, `data` and `headers` are under the id.
 */
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'
import type { PathStep } from '../../language/paths/path.ts'
import { isElementName, parseSteps, pathText } from '../../language/paths/path-steps.ts'

/** bare: the data is under the id; wrapped: `data` and `headers` are. */
export type LookupForm = 'bare' | 'wrapped'

export type Lookup = Readonly<{ id: string; isList: boolean }>

const PARTS: readonly string[] = ['data', 'headers']
const DATA: PathStep = { kind: 'name', name: 'data' }

/** The lookups of a document that have an id; a single one needs no array. */
export function lookupsOf(document: JsonObject): readonly Lookup[] {
  const lookups = isObject(document.requests) ? document.requests.lookup : undefined
  const list: readonly Json[] = Array.isArray(lookups) ? lookups : isObject(lookups) ? [lookups] : []
  return list.flatMap((request): Lookup[] => {
    if (!isObject(request) || typeof request.id !== 'string') return []
    const { forEach } = request
    return [{ id: request.id, isList: isObject(forEach) && typeof forEach.items === 'string' && forEach.items !== '' }]
  })
}

/**
 * What a path reads of a lookup: `whole` of it or its elements, one of its `parts` (data, headers), or what is `beyond` them.
 * Undefined for a path that reads no lookup of the document.
 */
export type LookupRead = 'whole' | 'parts' | 'beyond'

export function readOfPath(path: string, lookups: readonly Lookup[]): LookupRead | undefined {
  const parsed = parseSteps(path, 'path')
  if (!parsed.ok) return undefined
  const at = partIndex(parsed.value, lookups)
  if (at === undefined) return undefined
  const part = parsed.value[at]
  if (part === undefined || part.kind === 'any') return 'whole'
  return part.kind === 'name' && PARTS.includes(part.name) ? 'parts' : 'beyond'
}

/**
 * A path for answers of the bare form, as it reads the same of the wrapped form. Undefined if it stays as it is, or reads all
 * lookups together, which no path can read as before.
 */
export function withData(path: string, lookups: readonly Lookup[]): string | undefined {
  const parsed = parseSteps(path, 'path')
  const at = parsed.ok ? partIndex(parsed.value, lookups) : undefined
  return parsed.ok && at !== undefined ? pathText(parsed.value.toSpliced(at, 0, DATA)) : undefined
}

/** Whether a path reads the object of all lookups. */
export function readsAllLookups(path: string): boolean {
  const parsed = parseSteps(path, 'path')
  if (!parsed.ok) return false
  const [root, id] = parsed.value
  return root?.kind === 'name' && root.name === 'lookupRequests' && id?.kind !== 'name' && id?.kind !== 'any'
}

/** The index of the step after the lookup and its elements. */
function partIndex(steps: readonly PathStep[], lookups: readonly Lookup[]): number | undefined {
  const [root, id] = steps
  if (root?.kind !== 'name' || root.name !== 'lookupRequests') return undefined
  if (id?.kind === 'any') return lookups.length > 0 ? 2 : undefined
  const lookup = id?.kind === 'name' ? lookups.find((one) => one.id === id.name) : undefined
  if (lookup === undefined) return undefined
  if (!lookup.isList) return 2
  const part = steps.findIndex(
    (step, index) => index > 1 && (step.kind === 'any' || (step.kind === 'name' && !isElementName(step.name))),
  )
  return part === -1 ? steps.length : part
}
