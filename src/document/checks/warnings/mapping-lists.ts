/** Warns of mapping entries whose lists do not fit together: elements of one parent or list would land in another, or in all. */
import { isObject, type Json, type JsonObject } from '../../../core/json.ts'
import type { LintSink } from '../../../core/lint.ts'
import { listNestedEntries } from '../../../language/mapping/nested-entries.ts'
import { FIRST_ELEMENT, parseTarget, writeSteps } from '../../../language/mapping/target.ts'
import { type PathStep, parseSteps } from '../../../language/paths/path-steps.ts'
import type { Endpoint } from '../../schema/schema.ts'

/** `list`: what the path reads elements of. `isJoined`: elements of several parents come as one list. */
type ReadList = Readonly<{ list: readonly PathStep[]; isJoined: boolean }>

/** These place values in their own way. */
const UNSPREAD: ReadonlySet<string> = new Set(['appendArray', 'oneToAllElements', 'passThroughObject'])

/**
 * Lints, as warnings, at the mapping: entries that spread another list over a target's list than an entry before them, or
 * over one that an `each` adds elements to; entries that join a list of lists for a target with lists in a list; and entries of
 * an `each` that read all elements of its list. Only a `[]` shows a list; a name may read one or not.
 */
export function lintMappingLists(entries: JsonObject, { requests }: Pick<Endpoint, 'requests'>, lint: LintSink): void {
  lintLists(entries, requests.lookup, lint)
  lintReadAgain(entries, lint)
}

function lintReadAgain(mapping: JsonObject, lint: LintSink): void {
  for (const { at, source, path, items } of listNestedEntries(mapping)) {
    // A path that starts with an element is written otherwise than it is from the message on.
    if (path !== source) continue
    const around = items.findLastIndex((item) => path.startsWith(`${item}.`))
    const list = items[around]
    if (list === undefined) continue
    const root = ['item', 'outer'][items.length - 1 - around]
    const meant = root === undefined ? '.' : `; did you mean "${root}${path.slice(list.length)}"?`
    lint
      .at(...at)
      .warning(`This reads all elements of "${list}", over which the "each" goes, again for each of them${meant}`)
  }
}

function lintLists(mapping: JsonObject, lookups: Endpoint['requests']['lookup'], lint: LintSink): void {
  const first = new Map<string, Readonly<{ list: string; path: string }>>()
  const added = new Map<string, string>()
  for (const { source, declared, items, loops } of listNestedEntries(mapping)) {
    // Each `each` is a mapping of its own.
    if (items.length > 0) continue
    for (const { at, key, entries } of loops) {
      const sink = lint.at(source)
      const grown = addedList(key)
      if (grown !== undefined) lintAdded(source, grown, first.get(grown.place)?.path, sink)
      if (grown !== undefined && !added.has(grown.place)) added.set(grown.place, sink.path)
      lintLists(entries, lookups, lint.at(...at, 'each'))
    }
    if (!source.includes('[]')) continue
    const read = readList(source)
    if (read === undefined) continue
    const list = listName(read.list, lookups)
    for (const one of listEntryTargets(declared)) {
      if (one.isLoop) continue
      const spread = one.key.includes('[]') && !UNSPREAD.has(one.function ?? '') ? spreadList(one.key) : undefined
      if (spread === undefined) continue
      const sink = lint.at(source)
      const loop = added.get(spread.place)
      if (loop !== undefined) {
        sink.warning(
          `This spreads a list over that of "${one.key}", to whose end ${loop} adds elements with "each": both are merged by position. Write this entry in that "each", or give it an "each" of its own, which adds its elements too.`,
        )
      }
      if (read.isJoined && spread.levels > 1) {
        sink.warning(
          `"${one.key}" takes one list, and "${source}" reads lists in a list: the elements of all parents are joined to one list. ${instead(one)}`,
        )
      }
      // Nothing shows how many elements an expression gives, or that they belong to those of another list.
      if (list === undefined || loop !== undefined) continue
      const earlier = first.get(spread.place)
      if (earlier === undefined) first.set(spread.place, { list, path: sink.path })
      else if (earlier.list !== list) {
        sink.warning(
          `This spreads "${list}" over the list of "${one.key}", and ${earlier.path} spreads "${earlier.list}" over it: their elements are merged by position. Write an index in place of the "[]"; or map each list with "each", which adds its elements behind those of the other.`,
        )
      }
    }
  }
}

function lintAdded(source: string, { key, levels }: AddedList, spreadAt: string | undefined, lint: LintSink): void {
  if (spreadAt !== undefined) {
    lint.warning(
      `"each" adds elements behind those that ${spreadAt} writes to the list of "${key}". If they belong to the same elements, write that entry in the "each".`,
    )
  }
  if (levels > 1 && readList(source.replace(/\[\]$/, '')) !== undefined) {
    lint.warning(
      `"${key}" takes one list, and "${source}" reads lists in a list: the elements of all parents are added to one list. ${instead({ key })}`,
    )
  }
}

type AddedList = Readonly<{ key: string; place: string; levels: number }>

/** The list that an `each` adds elements to. */
function addedList(key: string): AddedList | undefined {
  const parsed = parseTarget(key)
  if (!parsed.ok) return undefined
  const { steps } = parsed.value
  const levels = steps.filter(({ kind }) => kind === 'each').length
  const before = steps.slice(
    0,
    steps.findLastIndex(({ kind }) => kind === 'each'),
  )
  return levels === 0
    ? undefined
    : { key, place: JSON.stringify(before.map((step) => (step.kind === 'each' ? FIRST_ELEMENT : step))), levels }
}

const instead = ({ key }: Pick<EntryTarget, 'key'>): string =>
  `For one parent, write indexes, such as "${key.replace('[]', '[0]')}"; for several, map the parents with "each", and their lists with an "each" in it.`

/** Undefined for a path without a list, or a faulty one. A `[]` at the end keeps the lists before it apart. */
function readList(source: string): ReadList | undefined {
  const parsed = parseSteps(source, 'path')
  if (!parsed.ok) return undefined
  const steps = parsed.value
  const lists = steps.flatMap(({ kind }, at) => (kind === 'each' ? [at] : []))
  if (lists.length > 1 && lists.at(-1) === steps.length - 1) lists.pop()
  const last = lists.at(-1)
  return last === undefined ? undefined : { list: steps.slice(0, last), isJoined: lists.length > 1 }
}

/**
 * The list in words that two paths to it share. The answers of a request with `forEach` are as many as its items. Undefined for the
 * result of an expression.
 */
function listName(steps: readonly PathStep[], lookups: Endpoint['requests']['lookup']): string | undefined {
  const [root, id, ...below] = steps
  if (root?.kind !== 'name' || root.name === 'transforms') return undefined
  if (root.name === 'lookupRequests' && id?.kind === 'name' && below.length === 0) {
    const items = lookups.find((lookup) => lookup.id === id.name)?.forEach?.items
    if (items !== undefined) return withoutLast(items.replace(/^payload(?=[.[]|$)/, 'requestBody'))
  }
  return steps.map(writeStep).join('').slice(1)
}

const withoutLast = (path: string): string => path.replace(/\[\]$/, '')

const writeStep = (step: PathStep): string => {
  if (step.kind === 'name') return `.${step.name.replaceAll('.', '\\.')}`
  if (step.kind === 'index') return `[${step.index}]`
  return step.kind === 'each' ? '[]' : '.*'
}

/** The list of a target that an array is spread over, and how many lists the target has; undefined for none. */
function spreadList(key: string): Readonly<{ place: string; levels: number }> | undefined {
  const parsed = parseTarget(key)
  if (!parsed.ok) return undefined
  const steps = writeSteps(parsed.value, 'spread')
  const at = steps.slice(0, -1).findIndex(({ kind }) => kind === 'each')
  if (at === -1) return undefined
  const levels = parsed.value.steps.filter(({ kind }) => kind === 'each').length
  return { place: JSON.stringify(steps.slice(0, at)), levels }
}

type EntryTarget = Readonly<{ key: string; function: string | undefined; isLoop: boolean }>

/** The targets of an entry, in each form of a target; compiling the mapping checks whether they parse. */
export function listEntryTargets(declared: Json): readonly EntryTarget[] {
  const all: readonly Json[] = Array.isArray(declared) ? declared : [declared]
  return all.flatMap((one) => {
    const [key, transform] = Array.isArray(one) ? one : isObject(one) ? [one.key, one.transform] : [one]
    const name = isObject(transform) ? transform.function : transform
    const isLoop = isObject(one) && one.each !== undefined
    return typeof key === 'string' ? [{ key, function: typeof name === 'string' ? name : undefined, isLoop }] : []
  })
}
