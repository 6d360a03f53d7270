/** What a document reads of its messages: the one walk over its paths and expressions, which its schema marks. */

import type { JsonObject } from '../../core/json.ts'
import { documentPath } from '../../core/lint.ts'
import { collectTextReads } from '../../language/jsonata/expression-engine.ts'
import { listNestedEntries, messagePath } from '../../language/mapping/nested-entries.ts'
import { type PathStep, parsePath, type SourcePath } from '../../language/paths/path.ts'
import { pathText } from '../../language/paths/path-steps.ts'
import { type Endpoint, EndpointField } from '../schema/schema.ts'
import type { Field, ReferenceStage } from '../schema/schema-fields.ts'

/** A path or an expression. `extract`: a path of `state.extract`, from the root of the message. */
export type DocumentReference = Readonly<{
  kind: 'path' | 'expression'
  text: string
  /** The names and indexes that lead to it in the document. */
  at: readonly [string, ...(string | number)[]]
  stage: ReferenceStage | 'extract'
  /** In an `each`: the elements around, as paths of the message (`listNestedEntries`). The text of a path starts with one. */
  items?: readonly string[]
  /** The path in an `each` as the document has it. */
  written?: string
  /** A list that is read for its elements, by references of their own. */
  isLoop?: true
}>

/** `readBy`: places in the document, such as `inputMapping.requestBody\.nr`. */
export type DocumentRead = Readonly<{ path: SourcePath; readBy: readonly string[] }>

/** `isWhole`: an expression may read anything, so that nothing can be called unread. */
export type DocumentReads = Readonly<{ reads: readonly DocumentRead[]; isWhole: boolean }>

/** Every path and expression of a document with which it reads its messages, in the order of the schema. */
export function listReferences(endpoint: Endpoint): readonly DocumentReference[] {
  const found: DocumentReference[] = []
  addReferences(EndpointField, endpoint, [], found)
  return found
}

function addReferences(
  field: Field,
  value: unknown,
  at: readonly (string | number)[],
  found: DocumentReference[],
): void {
  const add = (text: string, stage: DocumentReference['stage'], ...inner: string[]) =>
    found.push({ kind: 'path', text, stage, at: [...at, ...inner] as unknown as DocumentReference['at'] })
  if (typeof value === 'string') {
    if (field.reads !== undefined) add(value, field.reads)
    if (field.evaluates !== undefined)
      found.push({
        kind: 'expression',
        text: value,
        stage: field.evaluates,
        at: at as unknown as DocumentReference['at'],
      })
    if (field.readsBelow !== undefined) {
      const base = field.readsBelow.replace('<name>', () => nameText(String(at.at(-2))))
      add(value.startsWith('[') ? `${base}${value}` : `${base}.${value}`, 'extract')
    }
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) addReferences(field.items ?? {}, item, [...at, index], found)
  } else if (field.anyOf !== undefined) {
    const ofObject = field.anyOf.find(({ type }) => type === 'object')
    if (ofObject !== undefined && typeof value === 'object') addReferences(ofObject, value, at, found)
  } else if (typeof value === 'object' && value !== null) {
    const { readsNames, properties, additionalProperties } = field
    if (readsNames !== undefined) addEntries(value as JsonObject, readsNames, at, found)
    for (const [name, inner] of Object.entries(value)) {
      const known = properties?.[name] ?? additionalProperties
      if (typeof known === 'object') addReferences(known, inner, [...at, name], found)
    }
  }
}

function addEntries(
  mapping: JsonObject,
  stage: ReferenceStage,
  base: readonly (string | number)[],
  found: DocumentReference[],
): void {
  for (const { at, source, path, items, loops, isLoop } of listNestedEntries(mapping)) {
    const place = (...inner: readonly (string | number)[]) => [...base, ...inner] as unknown as DocumentReference['at']
    const nested = items.length === 0 ? {} : { items, written: source }
    if (path !== undefined) {
      found.push({ kind: 'path', text: path, stage, at: place(...at), ...nested, ...(isLoop && { isLoop }) })
    }
    for (const { at: target, when, item } of loops) {
      if (when === undefined) continue
      found.push({ kind: 'expression', text: when, stage, at: place(...target, 'when'), items: [...items, item] })
    }
  }
}

const nameText = (name: string): string => pathText([{ kind: 'name', name }])

/** From the roots of the message on. `items`: of the reference. */
export const pathsInExpression = (text: string, items: readonly string[]): readonly string[] =>
  collectTextReads(text).references.flatMap(
    (names) => messagePath(pathText(names.map((name) => ({ kind: 'name', name }))), items) ?? [],
  )

/**
 * In: a document. Out: each path once, `payload` as `requestBody`. Paths within the items of a `forEach` are left out: the
 * items are read whole. A schema and the headers that authenticate a sender are not reads.
 */
export function collectDocumentReads(endpoint: Endpoint): DocumentReads {
  const places = new Map<string, { path: SourcePath; readBy: string[] }>()
  const add = (text: string, place: string): void => {
    const path = parsePath(/^payload(?=$|[.[])/.test(text) ? `requestBody${text.slice('payload'.length)}` : text)
    if (!path.ok) return
    const known = places.get(path.value.text)
    if (known === undefined) places.set(path.value.text, { path: path.value, readBy: [place] })
    else if (!known.readBy.includes(place)) known.readBy.push(place)
  }
  let isWhole = false
  for (const { kind, text, at, items = [], isLoop } of listReferences(endpoint)) {
    if (kind === 'path') {
      if (!isLoop) add(text, documentPath(...at))
      continue
    }
    isWhole ||= collectTextReads(text).roots === undefined
    for (const path of pathsInExpression(text, items)) add(path, documentPath(...at))
  }
  const { inputMapping, requests } = endpoint
  requests.lookup.forEach(({ forwardExistingRequestBody }, index) => {
    if (forwardExistingRequestBody === true)
      add('requestBody', documentPath('requests', 'lookup', index, 'forwardExistingRequestBody'))
  })
  if (Object.keys(inputMapping).length === 0) {
    // Without a mapping the output is the body unchanged, and the answers of lookups.
    add('requestBody', 'inputMapping')
    if (requests.lookup.length > 0) add('lookupRequests', 'inputMapping')
  }
  return { reads: [...places.values()], isWhole }
}

export const readsRoot = (endpoint: Endpoint, root: string): boolean =>
  listReferences(endpoint).some(({ kind, text }) => {
    if (kind === 'path') return text.startsWith(root) && /^(?:$|[.[])/.test(text.slice(root.length))
    const { roots } = collectTextReads(text)
    return roots === undefined || roots.has(root)
  })

/** Few documents read the headers of a lookup, and each answer has many; its status is there for those that read it. */
export function isBesideData(steps: readonly PathStep[]): boolean {
  const [root, , each] = steps
  const last = steps.at(-1)
  return (
    steps.length === (each?.kind === 'each' ? 4 : 3) &&
    root?.kind === 'name' &&
    root.name === 'lookupRequests' &&
    last?.kind === 'name' &&
    (last.name === 'headers' || last.name === 'status')
  )
}
