/**
 * Paths into the answers of lookups. Before version 3 the peer kept the data of a lookup directly under its id; since then,
 * and here, `data` and `headers` are under the id.
 */

import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { parseTree } from '../../src/language/jsonata/expression-engine.ts'
import { collectPaths, type Node } from '../../src/language/jsonata/expression-tree.ts'
import type { PathStep } from '../../src/language/paths/path.ts'
import { isElementName, parseSteps, pathText } from '../../src/language/paths/path-steps.ts'
import { attempt } from '../attempt.ts'
import type { FoundDocument } from './found-records.ts'

/** bare: the data is under the id; wrapped: `data` and `headers` are. */
export type LookupForm = 'bare' | 'wrapped'

export type Lookup = Readonly<{ id: string; isList: boolean }>

const DATA: PathStep = { kind: 'name', name: 'data' }

/** The lookups of a document that have an id; a single one needs no array. */
export const listLookups = ({ requests }: JsonObject): readonly Lookup[] =>
  asObjects(isObject(requests) ? requests.lookup : undefined).flatMap(({ id, forEach }): Lookup[] =>
    typeof id === 'string'
      ? [{ id, isList: isObject(forEach) && typeof forEach.items === 'string' && forEach.items !== '' }]
      : [],
  )

const asObjects = (value: Json | undefined): readonly JsonObject[] => [value].flat().filter(isObject)

/** What a path reads of a lookup: `whole` of it or its elements, one of its `parts` (data, headers), or what is `beyond` them. */
export type LookupRead = 'whole' | 'parts' | 'beyond'

function readFromPath(path: string, lookups: readonly Lookup[]): LookupRead | undefined {
  const parsed = parseSteps(path, 'path')
  if (!parsed.ok) return undefined
  const at = partIndex(parsed.value, lookups)
  if (at === undefined) return undefined
  const part = parsed.value[at]
  if (part === undefined || part.kind === 'any') return 'whole'
  return part.kind === 'name' ? readFromName(part.name) : 'beyond'
}

const readFromName = (name: string): LookupRead => (name === 'data' || name === 'headers' ? 'parts' : 'beyond')

/**
 * A path for answers of the bare form, as it reads the same of the wrapped form. Undefined if it stays unchanged, or reads all
 * lookups together, which no path can read as before.
 */
export function withData(path: string, lookups: readonly Lookup[]): string | undefined {
  const parsed = parseSteps(path, 'path')
  const at = parsed.ok ? partIndex(parsed.value, lookups) : undefined
  return parsed.ok && at !== undefined ? pathText(parsed.value.toSpliced(at, 0, DATA)) : undefined
}

/** True if a path reads the object of all lookups. */
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

type Edit = Readonly<{ from: number; to: number; text: string }>

/**
 * Rewrites an expression that reads answers of lookups in the bare form, so that it gives the same for the wrapped form:
 * `lookupRequests.a` becomes `lookupRequests.a.data` wherever it occurs, so variables that it is bound to need no change, and
 * `lookupRequests` as a whole becomes an object of the data.
 *
 * In: a text that parses. `isWhole`: the expression also reads the whole message, where this rewrites nothing.
 */
export function withDataInExpression(text: string, lookups: readonly Lookup[]): { text: string; isWhole: boolean } {
  const { paths, isWhole } = collectPaths(parseTree(text))
  const edits = paths.flatMap(([root, id]): readonly Edit[] => {
    if (root?.value !== 'lookupRequests') return []
    const lookup = isPlain(root) && id?.type === 'name' ? lookups.find((one) => one.id === id.value) : undefined
    if (lookup !== undefined && id !== undefined) return dataEdits(text, root, id, lookup)
    const isUnknown = isPlain(root) && id?.type === 'name'
    return isUnknown ? [] : [{ ...findRange(text, root), text: allData(lookups) }]
  })
  return { text: applied(text, edits), isWhole }
}

/** As readFromPath, for each path of an expression that reads a lookup. */
function listExpressionReads(text: string, lookups: readonly Lookup[]): readonly LookupRead[] {
  const { paths, isWhole } = collectPaths(parseTree(text))
  const reads = paths.flatMap(([root, id, ...rest]): LookupRead[] => {
    if (root?.value !== 'lookupRequests') return []
    if (id?.type !== 'name' || !isPlain(root)) return ['whole']
    if (!lookups.some((one) => one.id === id.value)) return []
    const [part] = rest
    if (part?.type !== 'name') return ['whole']
    return [readFromName(String(part.value))]
  })
  return isWhole ? [...reads, 'whole'] : reads
}

/**
 * Replaces the prefixes of paths that can find nothing by `()`, the expression without a value.
 *
 * In: a text that parses; `isNothing` gets the plain names of a path. Out: the replaced prefixes, as written in the text.
 */
export function withoutPaths(
  text: string,
  isNothing: (names: readonly string[]) => boolean,
): { text: string; removed: readonly string[] } {
  const edits = collectPaths(parseTree(text)).paths.flatMap((steps): Edit[] => {
    for (let count = 1; count <= steps.length; count += 1) {
      const named = steps.slice(0, count)
      if (!named.slice(0, -1).every(isPlain) || named.some(({ type }) => type !== 'name')) return []
      const [first, last] = [named[0], named[count - 1]]
      if (first === undefined || last === undefined) return []
      if (isNothing(named.map(({ value }) => String(value)))) {
        return [{ from: findRange(text, first).from, to: findRange(text, last).to, text: '()' }]
      }
    }
    return []
  })
  return { text: applied(text, edits), removed: edits.map(({ from, to }) => text.slice(from, to)) }
}

const isPlain = (step: Node): boolean =>
  step.predicate === undefined && step.stages === undefined && step.focus === undefined && step.index === undefined

/** A list has its data in each element; what follows the name, such as `[0]`, selects elements, as it did. */
function dataEdits(text: string, root: Node, id: Node, { isList }: Lookup): readonly Edit[] {
  const { to } = findRange(text, id)
  if (!isList || isPlain(id)) return [{ from: to, to, text: '.data' }]
  const { from } = findRange(text, root)
  return [
    { from, to: from, text: '(' },
    { from: to, to, text: '.data)' },
  ]
}

const allData = (lookups: readonly Lookup[]): string =>
  `{${lookups.map(({ id }) => `${JSON.stringify(id)}: lookupRequests.${quoted(id)}.data`).join(', ')}}`

/** Names that the language reads as something else. */
const WORDS: ReadonlySet<string> = new Set(['and', 'or', 'in', 'true', 'false', 'null', 'function'])

/** A name as a step of a path: bare or in quotes. */
const quoted = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) && !WORDS.has(name) ? name : JSON.stringify(name))

/** The engine gives the end of a name only. A name is bare, in backquotes, or in quotes. */
function findRange(text: string, { value, position = 0 }: Node): Readonly<{ from: number; to: number }> {
  const quote = text[position - 1] ?? ''
  if (text.slice(0, position).endsWith(String(value)) && !'`"\''.includes(quote)) {
    return { from: position - String(value).length, to: position }
  }
  let from = text.lastIndexOf(quote, position - 2)
  while (quote !== '`' && isEscaped(text, from)) from = text.lastIndexOf(quote, from - 1)
  return { from, to: position }
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text[at - 1 - backslashes] === '\\') backslashes += 1
  return backslashes % 2 === 1
}

/** Two paths may share their prefix in the text. */
function applied(text: string, edits: readonly Edit[]): string {
  const distinct = new Map(edits.map((edit) => [`${edit.from} ${edit.to} ${edit.text}`, edit]))
  const ordered = [...distinct.values()].sort((one, other) => other.from - one.from || other.to - one.to)
  return ordered.reduce((left, { from, to, text: inserted }) => left.slice(0, from) + inserted + left.slice(to), text)
}

/** The first version whose lookups have `data` and `headers`. */
const WRAPPED_SINCE = 3

export type SetForm = Readonly<{ form: LookupForm; isContradictory: boolean }> | Readonly<{ undecided: string }>

/**
 * Out: the form of the set: by the version if it is given, else `bare` as soon as any document reads a field of a lookup that is
 * not `data` or `headers`, or has parameters in the form of version 1, else `wrapped` if any reads one of these.
 * `isContradictory`: some documents do the one and some the other. Undecided if the form makes a difference for a document
 * and none of this shows it.
 */
export function decideForm(documents: readonly FoundDocument[], peerVersion: string | undefined): SetForm {
  if (peerVersion !== undefined) return { form: versionForm(peerVersion), isContradictory: false }
  const open = documents.filter(({ isCanonical, peerVersion: own }) => !isCanonical && own === undefined)
  const found = open.map(({ source, document }) => ({ source, reads: listDocumentReads(document) }))
  const shows = (read: LookupRead) => found.some(({ reads }) => reads.includes(read))
  if (shows('beyond') || open.some(({ document }) => hasOldParameters(document)))
    return { form: 'bare', isContradictory: shows('parts') }
  const affected = found.filter(({ reads }) => reads.length > 0).map(({ source }) => source)
  if (shows('parts') || affected.length === 0) return { form: 'wrapped', isContradictory: false }
  return {
    undecided: `These documents read lookups as a whole, which is not the same in every version of the service they were written for: ${affected.join(', ')}. Say which version that is, for example --peer-version 2.4 or --peer-version 3.3.`,
  }
}

export const versionForm = (version: string): LookupForm =>
  Number.parseInt(version.replace(/^v/i, ''), 10) < WRAPPED_SINCE ? 'bare' : 'wrapped'

/** What the document reads of its lookups, as far as the form makes a difference. */
export function listDocumentReads(document: JsonObject): readonly LookupRead[] {
  const lookups = listLookups(document)
  if (lookups.length === 0) return []
  const { inputMapping, inputTransforms, requests, inputValidation, state } = document
  const sources = isObject(inputMapping) ? Object.keys(inputMapping) : []
  const paths = [...sources, ...listRequestPaths(isObject(requests) ? requests.response : undefined)]
  const texts = isObject(inputTransforms) ? Object.values(inputTransforms).filter((one) => typeof one === 'string') : []
  return [
    ...paths.flatMap((path) => readFromPath(path, lookups) ?? (readsAllLookups(path) ? 'whole' : [])),
    ...texts.flatMap((text) => attempt(() => listExpressionReads(text, lookups)) ?? []),
    ...listSchemaReads(inputValidation, lookups),
    ...(sources.length === 0 ? (['whole'] as const) : []),
    ...extractedParts(state),
  ]
}

/** The texts of the members "path" and "items", at any depth. */
export function listRequestPaths(value: Json | undefined): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(listRequestPaths)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    (name === 'path' || name === 'items') && typeof inner === 'string' ? [inner] : listRequestPaths(inner),
  )
}

/** What a schema says of lookups, in the places where authors write it. */
function listSchemaReads(schema: Json | undefined, lookups: readonly Lookup[]): readonly LookupRead[] {
  const all = readProperties(readProperties(schema).lookupRequests)
  return lookups.flatMap(({ id, isList }): readonly LookupRead[] => {
    const own = Object.hasOwn(all, id) ? all[id] : undefined
    const lookup = isList && isObject(own) ? own.items : own
    if (lookup === undefined) return []
    const names = Object.keys(readProperties(lookup))
    return names.length === 0 ? ['whole'] : names.map(readFromName)
  })
}

function readProperties(schema: Json | undefined): JsonObject {
  const properties = isObject(schema) ? schema.properties : undefined
  return isObject(properties) ? properties : {}
}

/** Other paths than `data…` and `headers…` show nothing: an import leaves them so. */
function extractedParts(state: Json | undefined): readonly LookupRead[] {
  const extract = isObject(state) && isObject(state.extract) ? state.extract.lookupRequests : undefined
  const paths = Object.values(isObject(extract) ? extract : {}).flatMap((part) =>
    isObject(part) ? Object.values(part) : [],
  )
  return paths.some((path) => typeof path === 'string' && /^(?:data|headers)(?:$|[.[])/.test(path)) ? ['parts'] : []
}

/** True if a request of the document has parameters in the form of version 1. */
function hasOldParameters({ requests }: JsonObject): boolean {
  const { lookup, response } = isObject(requests) ? requests : {}
  return [lookup, response].flatMap(asObjects).some(({ config }) => {
    const params = isObject(config) && isObject(config.params) ? config.params : {}
    return Object.values(params).some(isOldParameter)
  })
}

/** Under `query` and `url` are parameters by name; a parameter itself has the text `path`. */
export const isOldParameter = (value: Json): boolean => isObject(value) && typeof value.path === 'string'
