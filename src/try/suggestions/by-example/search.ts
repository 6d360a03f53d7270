/** The search for the rules of one place of the output: what each family of rules tries its candidates against. */
import type { Json } from '../../../core/json.ts'
import type { PathStep } from '../../../core/path-step.ts'
import { Blanks, type Guard, isFull, isFullText, isNotNull, isNumber, isText } from './guards.ts'
import { nameScore } from './names.ts'
import { type Candidate, type Family, isUnsayable, type Rule } from './rules.ts'
import {
  ABSENT,
  type Budget,
  type Column,
  idAt,
  type ListColumn,
  NULL,
  type Place,
  readableScopes,
  type Scope,
  spend,
  type ValueId,
  type Values,
} from './source-values.ts'

/** A place of the output with its value in each row of a scope. */
export type Target = Readonly<{ steps: readonly PathStep[]; ids: readonly ValueId[] }>

type Sampled = Readonly<{
  byId: ReadonlyMap<ValueId, readonly Column[]>
  byText: ReadonlyMap<string, readonly Column[]>
}>

export const samePlace = (one: readonly PathStep[], other: readonly PathStep[]): boolean =>
  one.length === other.length && one.every((step, at) => JSON.stringify(step) === JSON.stringify(other[at]))

/** What searches in one scope share: its columns by their values in a row. */
const samples = new WeakMap<Scope, Map<number, Sampled>>()

/** Values of other types and in another form that are the same to people. */
export const looseText = (value: Json | undefined): string | undefined =>
  typeof value === 'object' || value === undefined ? undefined : String(value).trim().toLowerCase()

/** Parts of joined texts; a path alone holds for a text that is not empty. */
const FULL_PARTS = {
  text: (path: string) => path,
  number: isNumber,
  any: isFull,
  view: isFullText,
  list: (path: string) => `$exists(${path})`,
} satisfies Readonly<Record<string, Guard>>
const THERE_PARTS = { ...FULL_PARTS, text: isNotNull, any: isNotNull, view: isText }

export class Search {
  readonly found: Candidate[] = []
  /** The first rows that have the target, with different values if there are any; null and empty texts say least. */
  readonly sample: number
  readonly other: number
  readonly isNullable: boolean
  readonly empty: ValueId
  readonly target: Target
  readonly scope: Scope
  readonly values: Values
  readonly budget: Budget

  constructor(target: Target, scope: Scope, values: Values, budget: Budget) {
    this.target = target
    this.scope = scope
    this.values = values
    this.budget = budget
    this.empty = values.id('')
    const isFullId = (id: ValueId) => id !== ABSENT && id !== NULL && id !== this.empty
    const { ids } = target
    const first = ids.findIndex(isFullId)
    this.sample = first === -1 ? ids.findIndex((id) => id !== ABSENT) : first
    const other = ids.findIndex((id) => isFullId(id) && id !== ids[this.sample])
    this.other = other === -1 ? ids.findIndex((id) => id !== ABSENT && id !== ids[this.sample]) : other
    this.isNullable = target.ids.includes(NULL)
  }

  get value(): Json | undefined {
    return this.values.value(this.target.ids[this.sample] ?? ABSENT)
  }

  /** One value in all rows that have the target. */
  get isConstant(): boolean {
    return this.other === -1
  }

  readonly scoreOf = ({ steps }: Place): number => nameScore(steps, this.target.steps)

  at(column: Column, row: number): Json | undefined {
    return this.values.value(idAt(column, this.scope, row))
  }

  /** Adds the candidate if it gives what every row has, and nothing where a row has nothing. */
  try(
    family: Family,
    places: readonly Place[],
    rule: Rule,
    give: (row: number) => Json | undefined,
    reading?: string,
  ): boolean {
    const { ids } = this.target
    if (!spend(this.budget, 2)) return false
    for (let row = 0; row < ids.length; row++) {
      const given = give(row)
      const id = given === undefined || (given === null && !this.isNullable) ? ABSENT : this.values.id(given)
      if (id !== ids[row]) {
        this.budget.left -= row >> 3
        return false
      }
    }
    this.budget.left -= ids.length
    if (rule.kind === 'expression' && places.some(isUnsayable)) return false
    if (places.some((place) => this.isOwnElement(place))) return false
    const score = places.length === 0 ? 0 : Math.max(...places.map(this.scoreOf))
    this.found.push({ family, rule, score, ...(reading !== undefined && { reading }) })
    return true
  }

  /**
   * A rule of values that are there, each as its guard wants it. `write`: of the paths, without guards. `keepsEmpty`: it gives an
   * empty text of one.
   */
  tryGuarded(
    family: Family,
    columns: readonly Column[],
    guards: readonly Guard[],
    give: (row: number, values: readonly Json[]) => Json | undefined,
    write: (paths: readonly string[]) => string,
    {
      keepsEmpty = false,
      describe = write,
      reading,
    }: Readonly<{ keepsEmpty?: boolean; describe?: typeof write; reading?: string | undefined }> = {},
  ): boolean {
    const blanks = new Blanks()
    const places = columns.map(({ place }) => place)
    const rule: Rule = {
      kind: 'expression',
      places,
      write: (read) => {
        const paths = places.map(read)
        return blanks.write(paths, guards, keepsEmpty, write(paths))
      },
      describe: (read) => describe(places.map(read)),
    }
    const giveAt = (row: number) => {
      const values = columns.map((column) => this.at(column, row))
      const blank = blanks.of(values, this.target.ids[row] ?? ABSENT, this.empty)
      return blank === undefined ? give(row, values as readonly Json[]) : blank.given
    }
    return this.try(family, places, rule, giveAt, reading)
  }

  /** `guard`: what the text must be like, besides not empty. */
  tryText(
    column: Column,
    family: Family,
    apply: (text: string) => Json | undefined,
    write: (path: string) => string,
    guard?: Guard,
    reading?: string,
  ): boolean {
    const keepsEmpty = guard === undefined && apply('') === ''
    return this.tryGuarded(
      family,
      [column],
      [guard ?? (keepsEmpty ? isText : isFullText)],
      (_row, [value]) => (typeof value === 'string' ? apply(value) : undefined),
      ([path = '']) => write(path),
      { keepsEmpty, reading },
    )
  }

  /** With nothing where a part is missing or empty, or is missing, else with an empty text in its place. */
  tryJoin(
    columns: readonly Column[],
    join: (texts: readonly string[]) => string,
    write: (read: (at: number) => string) => string,
  ): boolean {
    const places = columns.map(({ place }) => place)
    const readText = (path: string, at: number): string => (columns[at] as Column).view?.write(path) ?? path
    const writeText = (paths: readonly string[]) => write((at) => readText(paths[at] ?? '', at))
    const textsAt = (row: number) => columns.map((column) => this.textAt(column, row))
    const giveWhole = (row: number) => {
      const texts = textsAt(row)
      return texts.includes(undefined) ? undefined : join(texts as string[])
    }
    const kinds = columns.map((column) => this.#partKind(column))
    const full = kinds.map((kind) => FULL_PARTS[kind])
    if (this.tryGuarded('join', columns, full, giveWhole, writeText)) return true
    const there = kinds.map((kind) => THERE_PARTS[kind])
    const whole: Rule = {
      kind: 'expression',
      places,
      write: (read) => {
        const tests = new Set(places.map((place, at) => (there[at] ?? isNotNull)(read(place))))
        return `${[...tests].join(' and ')} ? ${writeText(places.map(read))}`
      },
      describe: (read) => writeText(places.map(read)),
    }
    if (this.try('join', places, whole, giveWhole)) return true
    // Of one part alone, there is nothing to join an empty text with.
    if (columns.length === 1 && join(['']) === '') return false
    const partly: Rule = {
      kind: 'expression',
      places,
      write: (read) =>
        write((at) => {
          const path = read(places[at] as Place)
          return `(${(there[at] ?? isNotNull)(path)} ? ${readText(path, at)})`
        }),
      describe: (read) => writeText(places.map(read)),
    }
    return this.try('join', places, partly, (row) => join(textsAt(row).map((text) => text ?? '')))
  }

  #partKind(column: Column): keyof typeof FULL_PARTS {
    const value = this.at(column, this.sample)
    if (Array.isArray(value)) return 'list'
    if (column.view !== undefined) return 'view'
    const kinds = new Set(
      this.target.ids.flatMap((_id, row) => {
        const one = this.at(column, row)
        return one === undefined || one === null ? [] : [typeof one]
      }),
    )
    if (kinds.size > 1) return 'any'
    return typeof value === 'number' ? 'number' : 'text'
  }

  /** Its values differ in the rows that have the target. */
  isVarying(column: Column): boolean {
    const first = idAt(column, this.scope, this.sample)
    return this.target.ids.some((id, row) => id !== ABSENT && idAt(column, this.scope, row) !== first)
  }

  textAt(column: Column, row: number): string | undefined {
    const value = this.at(column, row)
    if (column.view !== undefined) return value === undefined || value === null ? undefined : column.view.give(value)
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
  }

  /** The target in a row, if it is a text. */
  targetText(row: number): string | undefined {
    const value = this.values.value(this.target.ids[row] ?? ABSENT)
    return typeof value === 'string' ? value : undefined
  }

  *columns(): Iterable<Column> {
    for (const scope of readableScopes(this.scope)) {
      this.budget.left -= scope.columns.length >> 1
      yield* scope.columns
    }
  }

  /** An element by its position, in a list whose elements this is in: true of a list of one alone. */
  isOwnElement({ level, steps }: Place): boolean {
    for (let { around } = this.scope; around !== undefined; around = around.scope.around) {
      const { list } = around
      const own = list.steps.slice(0, -1)
      const isWithin = list.level === level && samePlace(own, steps.slice(0, own.length))
      if (isWithin && (steps[own.length]?.kind ?? 'name') !== 'name') return true
    }
    return false
  }

  *lists(withParents = false): Iterable<readonly [list: ListColumn, at: (row: number) => readonly Json[] | undefined]> {
    for (const scope of readableScopes(this.scope)) {
      for (const list of scope.lists) {
        const column = { place: { ...list.place, level: scope.level }, ids: list.rows.map((_list, row) => row + 1) }
        const rows = withParents ? (list.parents?.rows ?? list.rows) : list.rows
        yield [list, (row) => rows[idAt(column, this.scope, row) - 1]]
      }
    }
  }

  /** The columns with a text in the sample, and the text. */
  texts(withNumbers = false): readonly (readonly [Column, string])[] {
    const texts: (readonly [Column, string])[] = []
    for (const column of this.columns()) {
      const value = this.at(column, this.sample)
      if (typeof value === 'string' || (withNumbers && typeof value === 'number')) texts.push([column, String(value)])
    }
    this.budget.left -= texts.length
    return texts
  }

  /** The columns whose value in the sample is the target's. */
  *equal(): Iterable<Column> {
    const id = this.target.ids[this.sample] ?? ABSENT
    for (const [scope, row] of this.#rows()) yield* this.#sampled(scope, row).byId.get(id) ?? []
  }

  /** The columns whose value in the sample is the target's but for spaces around it, case and type. */
  *likeTexts(): Iterable<Column> {
    const text = looseText(this.value)
    if (text === undefined) return
    for (const [scope, row] of this.#rows()) yield* this.#sampled(scope, row).byText.get(text) ?? []
  }

  /** The sample's row in each scope that can be read. */
  *#rows(): Iterable<readonly [Scope, number]> {
    for (const scope of readableScopes(this.scope)) {
      let row = this.sample
      let here = this.scope
      while (here !== scope && here.around !== undefined) {
        row = here.around.rows[row] ?? -1
        here = here.around.scope
      }
      yield [scope, row]
    }
  }

  #sampled(scope: Scope, row: number): Sampled {
    const rows = samples.get(scope) ?? new Map<number, Sampled>()
    samples.set(scope, rows)
    const known = rows.get(row)
    if (known !== undefined) return known
    const byId = new Map<ValueId, Column[]>()
    const byText = new Map<string, Column[]>()
    const add = <Key>(map: Map<Key, Column[]>, key: Key, column: Column) => {
      const columns = map.get(key)
      if (columns === undefined) map.set(key, [column])
      else columns.push(column)
    }
    for (const column of scope.columns) {
      const id = column.ids[row] ?? ABSENT
      if (id === ABSENT) continue
      add(byId, id, column)
      const text = looseText(this.values.value(id))
      if (text !== undefined) add(byText, text, column)
    }
    this.budget.left -= scope.columns.length
    const sampled = { byId, byText }
    rows.set(row, sampled)
    return sampled
  }
}
