/**
 * Derives how an output is made from a message: for each place of the output a rule, for each list the list of the message that
 * its elements belong to. Everything holds for all rows, or it is unknown.
 */
import { isObject, type Json, REFUSED_NAMES } from '../../../core/json.ts'
import type { PathStep } from '../../../core/path-step.ts'
import { MASK, REDACTED } from '../../../core/secrets/secrets.ts'
import { isTooLong } from '../../../language/paths/path-tree.ts'
import { findAppended } from './append-sources.ts'
import { type Choice, chooseRule, type Doubt, placeKey } from './choose-rule.ts'
import { construct, gateOf } from './construct.ts'
import { chooseForm, isBare } from './list-form.ts'
import { findSources, isScalar, type Lists, type Source } from './list-sources.ts'
import { type EntryNode, type Node, placesRead, type UnknownNode } from './nodes.ts'
import { type Candidate, expressionPath, isUnsayable, MIN_SHOWN, type Rule, rulePlaces } from './rules.ts'
import { Search, samePlace } from './search.ts'
import { findSlots } from './slots.ts'
import {
  addColumns,
  type Budget,
  type Column,
  idAt,
  type ListColumn,
  type Place,
  pairsOf,
  type Scope,
  spend,
  type Values,
} from './source-values.ts'
import { findConstants, findConversions, readSteps } from './value-rules.ts'

export type Derivation = Readonly<{
  values: Values
  budget: Budget
  pause: () => Promise<void> | undefined
  /** The format of the messages does not distinguish one element from a list of one. */
  unwrapsLists: boolean
}>

type Rows = readonly (Json | undefined)[]

const isAbsent = (value: Json | undefined): boolean => value === undefined

/** In: the value of a place of the output in each row of a scope. */
export async function derive(
  derivation: Derivation,
  scope: Scope,
  rows: Rows,
  steps: readonly PathStep[],
): Promise<readonly Node[]> {
  await derivation.pause()
  const there = rows.filter((value) => value !== undefined && value !== null)
  if (rows.every(isAbsent)) return []
  if (!spend(derivation.budget, 10 + rows.length)) return [unknown(scope, rows, steps)]
  if (there.some(isRedacted)) return [{ ...unknown(scope, rows, steps), doubt: 'redacted' }]
  if (there.every(isScalar)) return [deriveValue(derivation, scope, rows, steps)]
  const whole = copyWhole(derivation, scope, rows, steps)
  if (whole !== undefined) return [whole]
  if (there.every((value) => isObject(value))) return deriveObject(derivation, scope, rows, steps)
  if (there.every((value) => Array.isArray(value))) {
    return deriveList(derivation, scope, rows as readonly (readonly Json[] | undefined)[], steps)
  }
  if (there.every((value) => Array.isArray(value) || isObject(value))) {
    const lists = rows.map((value) => (value === undefined || Array.isArray(value) ? value : [value as Json]))
    return [await deriveSequence(derivation, scope, lists as Lists, steps)]
  }
  return [unknown(scope, rows, steps)]
}

/** A mark of records of messages, alone or as a part of a text, or a list with one. A value such as `***-**-1234` is none. */
export const isRedacted = (value: Json): boolean =>
  typeof value === 'string' ? MARK.test(value) : Array.isArray(value) && value.some((one) => isRedacted(one as Json))
const MARK = new RegExp(`(?:^|[\\s=:/"'?&])(?:${RegExp.escape(MASK)}|${RegExp.escape(REDACTED)})(?:$|[\\s"'&@/,;])`)

const unknown = (scope: Scope, rows: Rows, steps: readonly PathStep[]): UnknownNode => ({
  kind: 'unknown',
  steps,
  pairs: pairsOf(scope, rows),
  doubt: 'unexplained',
})

function toEntry(scope: Scope, rows: Rows, steps: readonly PathStep[], choice: Choice): EntryNode {
  const pairs = pairsOf(scope, rows)
  const { family, rule } = choice.candidate
  const isOnce = pairs.length === 1 && family === 'constant'
  const isAlways =
    rule.kind !== 'constant' && family !== 'default' && rows.length < MIN_SHOWN && !rows.includes(undefined)
  const isNumber = rule.kind === 'path' && rule.transform === 'numberify' && rows.length < MIN_SHOWN
  const doubt = choice.doubt ?? (isOnce ? 'once' : isNumber ? 'number' : isAlways ? 'always' : undefined)
  return {
    kind: 'entry',
    steps,
    pairs,
    choice,
    isNullable: rows.includes(null),
    isOfList: rows.some(Array.isArray),
    ...(doubt && { doubt }),
  }
}

function deriveValue({ values, budget }: Derivation, scope: Scope, rows: Rows, steps: readonly PathStep[]): Node {
  const ids = rows.map((value) => values.id(value))
  const choice = chooseRule({ steps, ids }, scope, values, budget)
  return choice === undefined ? unknown(scope, rows, steps) : toEntry(scope, rows, steps, choice)
}

/** An object or list that is a part of the message as it is, or one without anything in it. */
function copyWhole(
  { values, budget }: Derivation,
  scope: Scope,
  rows: Rows,
  steps: readonly PathStep[],
): EntryNode | undefined {
  const ids = rows.map((value) => values.id(value))
  const search = new Search({ steps, ids }, scope, values, budget)
  if (rows.every((value) => value === undefined || value === null || isBare(value))) {
    if (steps.length === 0) return undefined
    findConstants(search)
  } else {
    const sample = rows.findIndex((value) => value !== undefined && value !== null && !isBare(value))
    for (const column of search.columns()) {
      if (idAt(column, scope, sample) !== ids[sample]) continue
      if (steps.length === 0 && column.place.level === scope.level && column.place.steps.length === 0) continue
      const rule: Rule = { kind: 'path', place: column.place }
      search.try('path', [column.place], rule, (row) => search.at(column, row))
    }
    if (search.found.length === 0 && Array.isArray(rows[sample])) findConversions(search)
  }
  const [candidate, ...others] = search.found.toSorted((one, other) => other.score - one.score)
  if (candidate === undefined || (steps.length === 0 && scope.level > 0)) return undefined
  return toEntry(scope, rows, steps, { candidate, others })
}

async function deriveObject(
  derivation: Derivation,
  scope: Scope,
  rows: Rows,
  steps: readonly PathStep[],
): Promise<readonly Node[]> {
  const names = new Set<string>()
  for (const value of rows) if (isObject(value)) for (const name in value) names.add(name)
  const nodes: Node[] = []
  // An object that is there without anything in it is there before others write into it.
  if (rows.every((value) => isObject(value)) && rows.some((value) => value !== undefined && isBare(value as Json))) {
    if (steps.length > 0) nodes.push(toEntry(scope, rows, steps, { candidate: constantOf({}), others: [] }))
  }
  for (const name of names) {
    if (isTooLong(steps, name)) {
      derivation.budget.cut = true
      return [...nodes, unknown(scope, rows, steps)]
    }
    if (name === '' || REFUSED_NAMES.has(name)) {
      nodes.push(unknown(scope, rows, [...steps, { kind: 'name', name }]))
      continue
    }
    const members = rows.map((value) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined))
    nodes.push(...(await derive(derivation, scope, members, [...steps, { kind: 'name', name }])))
  }
  await derivation.pause()
  return joinConstants(scope, rows, steps, doubtConstants(rows, steps, preferSiblings(nodes)))
}

const isConstant = (node: Node): boolean => node.kind === 'entry' && node.choice.candidate.rule.kind === 'constant'

/** Constants beside one value: a code and its system. Without the value, they may be left out, or be others. */
function doubtConstants(rows: Rows, steps: readonly PathStep[], nodes: readonly Node[]): readonly Node[] {
  const [value, ...more] = nodes.filter((node) => !isConstant(node))
  const isShown = value?.doubt !== 'always' && !steps.some(({ kind }) => kind === 'index')
  if (isShown || more.length > 0 || value?.kind !== 'entry' || steps.length === 0 || rows.some(isAbsent)) return nodes
  const at = nodes.findIndex((node) => isConstant(node) && node.doubt === undefined)
  return nodes.map((node, index) => (index === at ? { ...node, doubt: 'missing' as const } : node))
}

/** A constant that is there with a place of the message is there with the one that its neighbours are made of. */
function preferSiblings(nodes: readonly Node[]): readonly Node[] {
  const places = new Set(
    nodes.flatMap((node) =>
      node.kind === 'entry' && node.choice.candidate.family !== 'constant'
        ? [placeKey(node.choice.candidate.rule)]
        : [],
    ),
  )
  return nodes.map((node) => {
    if (node.kind !== 'entry') return node
    const { candidate, others } = node.choice
    if (candidate.family !== 'constant' || candidate.rule.kind === 'constant') return node
    const all = [candidate, ...others]
    const best = all.find((one) => one.family === 'constant' && places.has(placeKey(one.rule)))
    if (best === undefined || best === candidate) return node
    return { ...node, choice: { ...node.choice, candidate: best, others: all.filter((one) => one !== best) } }
  })
}

/** An object of constants alone is one constant. */
function joinConstants(scope: Scope, rows: Rows, steps: readonly PathStep[], nodes: readonly Node[]): readonly Node[] {
  const [first] = rows
  if (steps.length === 0 || first === undefined || nodes.length < 2) return nodes
  const isConstant = (node: Node): boolean =>
    node.kind === 'entry' &&
    node.choice.candidate.rule.kind === 'constant' &&
    node.doubt !== 'constant' &&
    node.choice.others.length === 0
  if (!nodes.every(isConstant)) return nodes
  const text = JSON.stringify(first)
  if (rows.some((value) => value === undefined || JSON.stringify(value) !== text)) return nodes
  return [toEntry(scope, rows, steps, { candidate: constantOf(first), others: [] })]
}

const constantOf = (value: Json): Candidate => ({
  family: 'constant',
  rule: { kind: 'constant', value },
  score: 0,
})

/** Elements of all rows that rules are derived from; what they give is checked with all. */
const MAX_ELEMENTS = 600
const MAX_FIXED = 24

async function deriveList(
  derivation: Derivation,
  scope: Scope,
  rows: Lists,
  steps: readonly PathStep[],
): Promise<readonly Node[]> {
  const tried: (readonly Node[])[] = []
  for (const source of findSources(derivation, scope, rows, steps)) {
    const node = await deriveElements(derivation, scope, rows, steps, source)
    if (node === undefined) continue
    tried.push([node])
    if (cost([node]) === 0) break
  }
  if (tried.some((nodes) => cost(nodes) === 0 || isMostly(nodes))) return best(tried)
  const appended = findAppended(derivation, scope, rows, steps)
  const length = Math.max(...rows.map((list) => list?.length ?? 0))
  const isOneElement = (nodes: readonly Node[]) => derivation.unwrapsLists && length === 1 && isOfOneElement(nodes)
  if (appended !== undefined) return isOneElement([appended]) ? [{ ...appended, doubt: 'single' }] : [appended]
  if (length <= MAX_FIXED) {
    const nodes: Node[] = []
    for (let index = 0; index < length; index++) {
      const at = rows.map((list) => list?.[index])
      nodes.push(...(await derive(derivation, scope, at, [...steps, { kind: 'index', index }])))
    }
    const isShorter = rows.some((list) => list !== undefined && list.length < length)
    const fixed = preferSiblings(nodes)
    // Where an earlier element is missing, the later ones may take its position.
    const isFew = rows.filter((list) => list !== undefined).length < MIN_SHOWN
    const at = isShorter
      ? fixed.findIndex((node) => node.kind === 'entry' && node.doubt === undefined)
      : isFew
        ? findHole(fixed, steps.length, length)
        : -1
    const doubted = fixed.map((node, index) => (index === at ? { ...node, doubt: 'missing' as const } : node))
    const asked = isOneElement(doubted) ? doubted.map(asSingle) : doubted
    tried.push(joinConstants(scope, rows, steps, asked))
  }
  if (!tried.some((nodes) => cost(nodes) === 0)) {
    const slots = await deriveSlots(derivation, scope, rows, steps)
    if (slots !== undefined) tried.push([slots])
  }
  return tried.length === 0 ? [unknown(scope, rows, steps)] : best(tried)
}

/** The first value of an element, not the last one, that each of the lists has. */
const findHole = (nodes: readonly Node[], depth: number, length: number): number =>
  nodes.findIndex(({ steps }) => {
    const step = steps[depth]
    const element = nodes.filter((node) => JSON.stringify(node.steps[depth]) === JSON.stringify(step))
    const mayLack = ({ doubt }: Node) => doubt === undefined || doubt === 'always'
    return (
      step?.kind === 'index' &&
      step.index < length - 1 &&
      element.every((node) => node.kind === 'entry' && !isConstant(node) && mayLack(node))
    )
  })

const asSingle = (node: Node): Node => {
  const isAsked = node.kind !== 'entry' || (node.doubt !== undefined && node.doubt !== 'always')
  return isAsked || node.choice.candidate.rule.kind === 'constant' ? node : { ...node, doubt: 'single' }
}

/** All that is read is in one element of the message, of which there may be more. */
function isOfOneElement(nodes: readonly Node[]): boolean {
  const [first, ...others] = nodes.flatMap(placesRead).map(({ level, steps }) => {
    const end = steps.findIndex((step) => step.kind === 'name' && (step.name === '$' || step.name === '_'))
    return { level, steps: end === -1 ? steps : steps.slice(0, end) }
  })
  if (first === undefined) return false
  const isShared = (at: number) =>
    others.every(({ level, steps }) => level === first.level && samePlace(steps.slice(0, at), first.steps.slice(0, at)))
  return first.steps.length > (first.level === 0 ? 1 : 0) && isShared(first.level === 0 ? 2 : 1)
}

/** The first of those with the fewest unknown places. */
const best = (tried: readonly (readonly Node[])[]): readonly Node[] =>
  tried.reduce((one, other) => (cost(other) < cost(one) ? other : one))

/** More of what the elements have comes from those of the source than is unknown. */
const isMostly = ([node]: readonly Node[]): boolean => {
  if (node?.kind !== 'list') return false
  const found = node.inner.filter(
    (one) => usesElement(one, node.level) && !(one.kind === 'entry' && one.choice.candidate.family === 'constant'),
  )
  return found.length > cost(node.inner)
}

const cost = (nodes: readonly Node[]): number =>
  nodes.reduce((sum, node) => {
    if (node.kind === 'unknown') return sum + 1
    return sum + (node.kind === 'list' ? cost(node.inner) : 0)
  }, 0)

const expressionEntry = (
  scope: Scope,
  rows: Rows,
  steps: readonly PathStep[],
  inner: readonly Node[],
  places: readonly Place[],
  write: Extract<Rule, { kind: 'expression' }>['write'],
): EntryNode => {
  const rule: Rule = { kind: 'expression', places, write }
  const candidate: Candidate = { family: 'list', rule, score: 0 }
  const doubts = inner.flatMap(({ doubt }) => (doubt === undefined || WEAK.has(doubt) ? [] : [doubt]))
  const [doubt] = doubts
  return { ...toEntry(scope, rows, steps, { candidate, others: [], ...(doubt && { doubt }) }), isOfList: true }
}

/** They say nothing about what is made of a list as a whole. */
const WEAK: ReadonlySet<Doubt> = new Set(['always', 'all', 'empty', 'single'])

/** A list of one is its element, as JSONata has it. */
async function deriveSequence(
  derivation: Derivation,
  scope: Scope,
  rows: Lists,
  steps: readonly PathStep[],
): Promise<Node> {
  for (const source of findSources(derivation, scope, rows, steps)) {
    const node = await deriveElements(derivation, scope, rows, steps, source)
    if (node?.kind !== 'list' || cost([node]) > 0 || node.when !== undefined) continue
    const variable = `$item${node.level}`
    const write = (read: (place: Place) => string): string | undefined => {
      const own = (place: Place) =>
        place.level === node.level
          ? expressionPath(variable, place.steps)
          : place.level === 0
            ? expressionPath('$$', place.steps)
            : read(place)
      const inner = construct(node.inner, own)
      return inner && `${read(node.list)}.(${variable} := $; ${inner})`
    }
    if (write(() => '') === undefined) continue
    return expressionEntry(scope, rows, steps, node.inner, [node.list], (read) => write(read) ?? '')
  }
  return unknown(scope, rows, steps)
}

/** Objects of which each may be missing, and which differ by the value of one field. */
async function deriveSlots(
  derivation: Derivation,
  scope: Scope,
  rows: Lists,
  steps: readonly PathStep[],
): Promise<Node | undefined> {
  const order = findSlots(rows)
  if (order === undefined) return undefined
  const { keyOf, names } = order
  const slots: (readonly Node[])[] = []
  for (const name of names) {
    const elements = rows.map((list, row) => list?.find((element) => keyOf(element, row) === name))
    const nodes = asConstants(scope, elements, await derive(derivation, scope, elements, []))
    if (nodes.length === 0 || cost(nodes) > 0) return undefined
    const isAlways = elements.every((element) => element !== undefined)
    if (!isAlways && gateOf(nodes, () => '') === undefined) return undefined
    slots.push(nodes)
  }
  const isEverAbsent = rows.some((list) => list === undefined)
  const write = (read: (place: Place) => string): string | undefined => {
    const texts = slots.map((nodes) => {
      const gate = gateOf(nodes, read)
      const text = construct(nodes, read, gate !== undefined)
      return text === undefined || gate === undefined ? text : `$exists(${gate}) ? ${text}`
    })
    if (texts.includes(undefined)) return undefined
    const list = `[${texts.join(', ')}]`
    return isEverAbsent ? `($list := ${list}; $count($list) > 0 ? $list)` : list
  }
  if (write(() => '') === undefined) return undefined
  const places = slots.flat().flatMap((node) => (node.kind === 'entry' ? rulePlaces(node.choice.candidate.rule) : []))
  return expressionEntry(scope, rows, steps, slots.flat(), places, (read) => write(read) ?? '')
}

/** A value that is the same wherever the element is, which the values beside it decide. */
const asConstants = (scope: Scope, elements: Rows, nodes: readonly Node[]): readonly Node[] =>
  nodes.map((node) => {
    if (node.kind !== 'unknown') return node
    const there = elements.filter((element) => element !== undefined).map((element) => readSteps(element, node.steps))
    const [first] = there
    if (first === undefined || !isScalar(first) || there.some((value) => value !== first)) return node
    return toEntry(scope, elements, node.steps, { candidate: constantOf(first), others: [] })
  })

async function deriveElements(
  derivation: Derivation,
  scope: Scope,
  rows: Lists,
  steps: readonly PathStep[],
  { list, elements, when, rivals }: Source,
): Promise<Node | undefined> {
  const { values, budget } = derivation
  const perRow = Math.max(3, Math.floor(MAX_ELEMENTS / rows.length))
  const given: (Json | undefined)[] = []
  const wanted: (Json | undefined)[] = []
  const around: number[] = []
  for (const [row, targets] of rows.entries()) {
    for (const [at, target] of (targets ?? []).slice(0, perRow).entries()) {
      given.push(elements[row]?.[at] ?? undefined)
      wanted.push(target ?? undefined)
      around.push(row)
    }
  }
  const level = scope.level + 1
  const columns: Column[] = []
  const lists: ListColumn[] = []
  await addColumns({ columns, lists, pause: derivation.pause }, values, budget, { level, steps: [] }, given)
  const inside: Scope = { level, size: given.length, columns, lists, around: { scope, rows: around, list: list.place } }
  const inner = await derive(derivation, inside, wanted, [])
  if (!spend(budget, 1)) return undefined
  if (!inner.some((node) => usesElement(node, level))) return undefined
  if (wanted.every(isScalar) || (inner.length === 1 && inner[0]?.steps.length === 0)) {
    return toListEntry(scope, rows, steps, list.place, when, inner, level)
  }
  const { parents } = list
  const isOfParents = parents !== undefined && inner.some((node) => readsField(node, level, parents.field))
  const form = isOfParents
    ? { form: 'each' as const, isAlways: rows.some((one) => one?.length === 0) }
    : chooseForm(rows, elements, inner, level, when)
  const lengths = elements.flatMap((one) => one?.length ?? [])
  const isOneUnshown = lengths.every((length) => length < 2) || (rows.length < MIN_SHOWN && !lengths.includes(1))
  const conditions = when === undefined && given.length < MIN_SHOWN ? alwaysThere(inner, level) : []
  const doubt =
    rivals.length > 0
      ? 'ambiguous'
      : !lengths.includes(0)
        ? 'empty'
        : isOneUnshown
          ? 'single'
          : conditions.length > 0
            ? 'all'
            : undefined
  return {
    kind: 'list',
    steps,
    pairs: pairsOf(scope, rows),
    list: list.place,
    ...(when && { when }),
    ...(isOfParents && { parents }),
    rivals: doubt === 'all' ? conditions : rivals,
    ...form,
    level,
    scope: inside,
    inner,
    ...(doubt && { doubt }),
  }
}

/** What may be asked of the elements, since all of them have it. */
const alwaysThere = (inner: readonly Node[], level: number): readonly string[] => [
  ...new Set(
    inner
      .flatMap((node) => (node.doubt === 'always' ? placesRead(node) : []))
      .flatMap((place) => {
        const isOwn = place.level === level && place.steps.length > 0 && !isUnsayable(place)
        return isOwn && place.steps.every(({ kind }) => kind === 'name')
          ? [`$exists(${expressionPath('item', place.steps)})`]
          : []
      }),
  ),
]

const readsField = (node: Node, level: number, field: string): boolean =>
  placesRead(node).some(
    ({ level: at, steps: [first] }) => at === level && first?.kind === 'name' && first.name === field,
  ) ||
  (node.kind === 'list' && node.inner.some((one) => readsField(one, level, field)))

const usesElement = (node: Node, level: number): boolean =>
  placesRead(node).some((place) => place.level === level) ||
  (node.kind === 'list' && node.inner.some((one) => usesElement(one, level)))

/** Each element of the list is one value: the whole list is the value of one entry. */
function toListEntry(
  scope: Scope,
  rows: Lists,
  steps: readonly PathStep[],
  list: Place,
  when: string | undefined,
  inner: readonly Node[],
  level: number,
): Node | undefined {
  const [node] = inner
  if (node?.kind !== 'entry') return undefined
  const condition = when?.replaceAll('item.', '') ?? ''
  const variable = `$item${level}`
  const toListRule = (rule: Rule): Rule | undefined => {
    if (rule.kind === 'path' && rule.place.level === level && when === undefined && rule.default !== null) {
      return { ...rule, place: { level: list.level, steps: [...list.steps, ...rule.place.steps] } }
    }
    if (rule.kind === 'path' && rule.transform !== undefined) return undefined
    return {
      kind: 'expression',
      places: [list],
      write: (read) => {
        const own = (place: Place) => (place.level === level ? expressionPath(variable, place.steps) : read(place))
        const value =
          rule.kind === 'constant'
            ? JSON.stringify(rule.value)
            : rule.kind === 'path'
              ? own(rule.place)
              : rule.write(own)
        const filtered = `${read(list)}${condition === '' ? '' : `[${condition}]`}`
        return `$exists(${read(list)}) ? [${filtered}.(${variable} := $; ${value})]`
      },
    }
  }
  const toCandidate = (one: Candidate): readonly Candidate[] => {
    const rule = toListRule(one.rule)
    return rule === undefined ? [] : [{ ...one, rule }]
  }
  const [candidate] = toCandidate(node.choice.candidate)
  if (candidate === undefined) return undefined
  const doubt = node.doubt === undefined ? {} : { doubt: node.doubt }
  return {
    kind: 'entry',
    steps,
    pairs: pairsOf(scope, rows),
    isNullable: false,
    isOfList: true,
    choice: { candidate, others: node.choice.others.flatMap(toCandidate), ...doubt },
    ...doubt,
  }
}
