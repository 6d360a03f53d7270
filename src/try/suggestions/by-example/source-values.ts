/**
 * What the examples have to offer: each place of their messages as a column, with its value in every example or, within a list,
 * in every element. Equal values have equal numbers, so that columns are compared without looking at their values again.
 */
import { isObject, type Json, type JsonObject, REFUSED_NAMES } from '../../../core/json.ts'
import type { PathStep } from '../../../core/path-step.ts'
import { isTooLong } from '../../../language/paths/path-tree.ts'

/** The number of a value; ABSENT of none. */
export type ValueId = number
export const ABSENT: ValueId = 0
export const NULL: ValueId = 1

/**
 * Units of work, each about a tenth of a microsecond to some microseconds. Counted instead of timed, so that the same examples
 * always give the same document. Spent, whatever is not derived yet becomes a question.
 */
export type Budget = { left: number; cut: boolean }

export function spend(budget: Budget, units: number): boolean {
  budget.left -= units
  if (budget.left < 0) budget.cut = true
  return budget.left >= 0
}

/** Numbers values, equal ones alike: scalars by type and value, others by what they hold. */
export class Values {
  readonly #scalars = new Map<Json, ValueId>([[null, NULL]])
  readonly #contents = new Map<string, ValueId>()
  readonly #objects = new Map<object, ValueId>()
  readonly #values: Json[] = [null, null]
  /** What was found out about texts, such as the forms of dates that they have. */
  readonly forms = new Map<string, readonly unknown[]>()

  id(value: Json | undefined): ValueId {
    if (value === undefined) return ABSENT
    if (typeof value !== 'object' || value === null) return this.#number(this.#scalars, value, value)
    const known = this.#objects.get(value)
    if (known !== undefined) return known
    const members = Array.isArray(value)
      ? `[${value.map((item: Json) => this.id(item)).join()}`
      : `{${Object.keys(value)
          .sort()
          .map((name) => `${JSON.stringify(name)}${this.id((value as JsonObject)[name])}`)
          .join()}`
    const id = this.#number(this.#contents, members, value)
    this.#objects.set(value, id)
    return id
  }

  get count(): number {
    return this.#values.length
  }

  value = (id: ValueId): Json | undefined => (id === ABSENT ? undefined : this.#values[id])

  #number<Key>(numbers: Map<Key, ValueId>, key: Key, value: Json): ValueId {
    const known = numbers.get(key)
    if (known !== undefined) return known
    numbers.set(key, this.#values.length)
    return this.#values.push(value) - 1
  }
}

/** `level`: 0 is the message, others the elements of the lists around, from the outside. */
export type Place = Readonly<{ level: number; steps: readonly PathStep[] }>

/** A place with its value in each row. `view`: what is read of it instead, in texts joined from several places. */
export type Column = Readonly<{ place: Place; ids: readonly ValueId[]; view?: View }>

export type View = Readonly<{ give: (value: Json) => string | undefined; write: (path: string) => string }>

/** A place that holds a list, with its elements in each row; undefined where the list is absent. */
export type ListColumn = Readonly<{
  place: Place
  rows: readonly (readonly Json[] | undefined)[]
  /** Of the lists of several parents read as one. */
  parents?: Parents
}>

/** `rows`: the elements with their parent as a field of each, for fields of both in one place. */
export type Parents = Readonly<{
  place: Place
  /** From a parent to its elements. */
  steps: readonly PathStep[]
  field: string
  rows: readonly (readonly Json[] | undefined)[]
}>

/** What can be read at one level: the message, or an element of a list, once for each row. */
export type Scope = Readonly<{
  level: number
  size: number
  columns: readonly Column[]
  lists: readonly ListColumn[]
  /** The scope around, and the row in it of each row here. */
  around?: Readonly<{ scope: Scope; rows: readonly number[]; list: Place }>
}>

/** Elements of a list that have columns of their own. */
const POSITIONS = 3
/** Lists in lists that are read as one. */
const DEEPEST_JOIN = 2
export const MAX_COLUMNS = 4_000

const EACH: PathStep = { kind: 'each' }

/** `pause`: lets others run after some milliseconds. */
type Found = Readonly<{ columns: Column[]; lists: ListColumn[]; pause: () => Promise<void> | undefined }>

/**
 * In: the values of one root in each row. Out: its columns and lists, added to what is there.
 * A single value counts as a list of one where another row has a list, since XML does not distinguish the two.
 */
export async function addColumns(
  into: Found,
  values: Values,
  budget: Budget,
  place: Place,
  rows: readonly (Json | undefined)[],
): Promise<void> {
  await into.pause()
  if (!hasRoom(into.columns, budget) || !spend(budget, rows.length)) return
  const below = (step: PathStep): Place => ({ level: place.level, steps: [...place.steps, step] })
  into.columns.push({ place, ids: rows.map((value) => values.id(value)) })
  const names = new Set<string>()
  let isList = false
  for (const value of rows) {
    if (Array.isArray(value)) isList = true
    else if (isObject(value)) for (const name in value) names.add(name)
  }
  if (isList) {
    const lists = rows.map(asList)
    await addList(into, values, budget, place, lists, 1)
    for (let index = 0; index < POSITIONS; index++) {
      const at = lists.map((list) => list?.[index])
      if (at.some((value) => value !== undefined))
        await addColumns(into, values, budget, below({ kind: 'index', index }), at)
    }
    return
  }
  for (const name of names) {
    if (!isNameable(budget, place, name)) continue
    await addColumns(
      into,
      values,
      budget,
      below({ kind: 'name', name }),
      rows.map((value) => memberOf(value, name)),
    )
  }
}

function hasRoom(columns: readonly Column[], budget: Budget): boolean {
  if (columns.length >= MAX_COLUMNS) budget.cut = true
  return columns.length < MAX_COLUMNS
}

/** A place whose path is too long to be listed is left out. */
function isNameable(budget: Budget, { steps }: Place, name: string): boolean {
  if (isTooLong(steps, name)) budget.cut = true
  else return name !== '' && !REFUSED_NAMES.has(name)
  return false
}

const memberOf = (value: Json | undefined, name: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

const asList = (value: Json | undefined): readonly Json[] | undefined =>
  value === undefined || value === null ? undefined : Array.isArray(value) ? value : [value]

/** Adds a list, the lists of what its elements have at a place each, and lists within it read as one. */
async function addList(
  into: Found,
  values: Values,
  budget: Budget,
  place: Place,
  rows: readonly (readonly Json[] | undefined)[],
  depth: number,
  parents?: Parents,
): Promise<void> {
  const each: Place = { level: place.level, steps: [...place.steps, EACH] }
  into.lists.push({ place: each, rows, ...(parents && { parents }) })
  const addMembers = async (
    at: Place,
    members: readonly (readonly (Json | undefined)[] | undefined)[],
    nesting: number,
  ) => {
    await into.pause()
    const names = new Set<string>()
    let isList = false
    let isScalar = false
    for (const row of members) {
      for (const value of row ?? []) {
        if (Array.isArray(value)) isList = true
        else if (isObject(value)) for (const name in value) names.add(name)
        else isScalar ||= value !== undefined && value !== null
      }
    }
    if (!hasRoom(into.columns, budget) || !spend(budget, members.length)) return
    if (isScalar && !isList && nesting > 0) {
      const lists = members.map((row) => row?.map((value) => value ?? null))
      into.columns.push({ place: at, ids: lists.map((row) => values.id(row)) })
    }
    if (isList && depth < DEEPEST_JOIN) {
      const joined = members.map((row) => row?.flatMap((value) => asList(value) ?? []))
      await addList(into, values, budget, at, joined, depth + 1, withParents(each, at, rows, members))
    }
    for (const name of isList ? [] : names) {
      if (!isNameable(budget, at, name)) continue
      const inner = members.map((row) => row?.map((value) => memberOf(value, name)))
      await addMembers({ level: at.level, steps: [...at.steps, { kind: 'name', name }] }, inner, nesting + 1)
    }
  }
  await addMembers(each, rows, 0)
}

function withParents(
  place: Place,
  { steps }: Place,
  parents: readonly (readonly Json[] | undefined)[],
  members: readonly (readonly (Json | undefined)[] | undefined)[],
): Parents | undefined {
  let field = 'parent'
  for (const value of members.flat().flatMap((list) => asList(list) ?? [])) {
    if (!isObject(value)) return undefined
    while (Object.hasOwn(value, field)) field += '_'
  }
  const rows = members.map((row, at) =>
    row?.flatMap((value, index) =>
      (asList(value) ?? []).map((item) => ({ ...(item as JsonObject), [field]: parents[at]?.[index] ?? null })),
    ),
  )
  return { place, steps: steps.slice(place.steps.length), field, rows }
}

/** The values of a column in the rows of a scope in or below the one that has it. */
export const idAt = (column: Column, scope: Scope, row: number): ValueId => {
  let at = row
  for (let here = scope; here.level > column.place.level && here.around !== undefined; here = here.around.scope) {
    at = here.around.rows[at] ?? -1
  }
  return column.ids[at] ?? ABSENT
}

/** The scopes whose places a mapping can name here: the elements, those of the list around, and the message. */
export function* readableScopes(scope: Scope): Iterable<Scope> {
  yield scope
  const outer = scope.around?.scope
  if (outer === undefined) return
  yield outer
  let root = outer
  while (root.around !== undefined) root = root.around.scope
  if (root !== outer) yield root
}

/** The pairs that have a value in one of their rows. */
export function pairsOf(scope: Scope, rows: readonly (Json | undefined)[]): readonly number[] {
  const pairs = new Set<number>()
  for (const [row, value] of rows.entries()) {
    if (value === undefined) continue
    let at = row
    for (let here = scope; here.around !== undefined; here = here.around.scope) at = here.around.rows[at] ?? -1
    pairs.add(at)
  }
  return [...pairs]
}

/** Bits that say how unlikely it is that a value is the same by accident. */
export function weigh(value: Json | undefined): number {
  if (typeof value === 'boolean') return 1
  if (typeof value === 'number') {
    const digits = String(Math.abs(value)).replace('.', '').length
    return Math.min(3 * digits, 24)
  }
  if (typeof value === 'string') return Math.min(4 * value.trim().length, 32)
  if (Array.isArray(value)) return value.slice(0, 8).reduce((sum: number, item: Json) => sum + weigh(item), 0)
  if (isObject(value)) return Object.values(value).reduce<number>((sum, item) => sum + weigh(item), 0)
  return 0
}
