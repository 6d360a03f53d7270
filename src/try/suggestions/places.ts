/** The places of a message or an output that an entry of `inputMapping` reads or writes, of a sample or of a JSON Schema. */
import { isObject, type Json, type JsonObject, REFUSED_NAMES } from '../../core/json.ts'
import { resolveLocal } from '../../language/json-schema/read-schema.ts'
import { type PathStep, pathText } from '../../language/paths/path-steps.ts'
import { childNode, createPathTree, type PathNode, stepsTo } from '../../language/paths/path-tree.ts'

/** `date` and `dateTime` are texts of that form; `digits` and `truth` are texts that read as a number or a boolean. */
export type LeafType = 'string' | 'number' | 'boolean' | 'date' | 'dateTime' | 'digits' | 'truth'

export type Leaf = Readonly<{
  /** Without the `[]` at the end of a list of scalars. */
  steps: readonly PathStep[]
  path: string
  /** The steps whose names say something: those of a message without its root. */
  names: readonly PathStep[]
  /** The place holds a list of scalars. */
  isList: boolean
  /** Empty if no type is known. */
  types: ReadonlySet<LeafType>
  /** What a sample has there: its value, or those of all elements of the lists around. */
  value?: Json | undefined
  /** The schema requires it, and every object that it is in. */
  isRequired?: boolean
}>

type Noted = { types: Set<LeafType>; values: Json[]; isRequired?: true }
type Node = PathNode<Noted>

const MAX_LEAVES = 3_000
/** Values and subschemas that are looked at: some hundredths of a second. */
const MAX_VISITED = 100_000
/** Elements of an array that are looked at: those of one array are alike. */
const ELEMENTS_SEEN = 50
/** Schemas of resources refer to each other in circles; deeper leaves are left out. */
const DEEPEST = 8
/** References from one to the next, for one leaf. */
const MAX_REFERENCES = 16

/** Schemas around a place whose lists of required names are known at its properties. */
const MAX_REQUIRING = 16

const EACH: PathStep = { kind: 'each' }

export class Places {
  readonly #root: Node = createPathTree()
  readonly #found: Node[] = []
  #looks = 0
  #isFull = false
  #cut = false

  /** There are more leaves than are listed, or some with longer paths. */
  get cut(): boolean {
    return this.#cut || this.#isFull
  }

  /** The nesting of the value is bounded, since a parser read it. */
  addSample(value: Json): void {
    this.#addValue(value, this.#root)
  }

  /**
   * Adds the leaves of `properties` and `items`, also within `allOf`, `anyOf`, `oneOf` and references to places in the same
   * schema. Anything else of a schema does not name a place.
   */
  addSchema(schema: JsonObject): void {
    this.#addSchema({ root: schema, known: new Map() }, schema, this.#root, 0, [], { isRequired: true, names: [] })
  }

  /** `roots`: how many first steps say nothing of a leaf. */
  list(roots = 0): readonly Leaf[] {
    return this.#found.map((place): Leaf => {
      const all = stepsTo(place)
      const isList = all.at(-1)?.kind === 'each'
      const steps = isList ? all.slice(0, -1) : all
      const { types, values, isRequired = false } = place.noted as Noted
      const value = countLists(all) > 0 && values.length > 0 ? values : values[0]
      return { steps, path: pathText(steps), names: steps.slice(roots), isList, types, value, isRequired }
    })
  }

  /** True if one more value or subschema may be looked at. */
  #look(): boolean {
    this.#looks += 1
    this.#isFull ||= this.#looks > MAX_VISITED
    return !this.#isFull
  }

  /** The place one step below; undefined if its path is too long, or a mapping cannot name it. */
  #below(place: Node, step: PathStep): Node | undefined {
    if (step.kind === 'name' && (step.name === '' || REFUSED_NAMES.has(step.name))) return undefined
    const next = childNode(place, step)
    this.#cut ||= next === undefined
    return next
  }

  /** What is noted of a leaf. A list of lists has no path that a mapping could write element by element. */
  #note(place: Node): Noted | undefined {
    if (place.noted !== undefined) return place.noted
    if (place === this.#root || isListOfLists(place)) return undefined
    if (this.#found.length >= MAX_LEAVES) {
      this.#isFull = true
      return undefined
    }
    this.#found.push(place)
    place.noted = { types: new Set(), values: [] }
    return place.noted
  }

  #addValue(value: Json, place: Node | undefined): void {
    if (place === undefined || !this.#look()) return
    if (Array.isArray(value)) {
      const each = this.#below(place, EACH)
      for (const item of value.slice(0, ELEMENTS_SEEN)) this.#addValue(item, each)
    } else if (isObject(value)) {
      for (const name in value) {
        if (this.#isFull) return
        this.#addValue(value[name] ?? null, this.#below(place, { kind: 'name', name }))
      }
    } else {
      const noted = this.#note(place)
      noted?.values.push(value)
      if (value !== null) noted?.types.add(detectType(value as string | number | boolean))
    }
  }

  /** `seen`: the targets of the references that led from one to the next. */
  #addSchema(
    reading: SchemaReading,
    part: Json | undefined,
    place: Node | undefined,
    depth: number,
    seen: readonly JsonObject[],
    need: Need,
  ): void {
    if (!this.#look() || !isObject(part) || depth > DEEPEST || place === undefined) return
    const { target, types, required } = readFacts(reading, part)
    const isNamed = required.size > 0 && need.names.length < MAX_REQUIRING
    const own: Need = isNamed ? { ...need, names: [...need.names, required] } : need
    if (isObject(target) && !seen.includes(target)) {
      if (seen.length === MAX_REFERENCES) this.#cut = true
      else this.#addSchema(reading, target, place, depth, [...seen, target], own)
    }
    const { properties, items } = part
    for (const parts of [part.allOf, part.anyOf, part.oneOf]) {
      for (const one of Array.isArray(parts) ? (parts as readonly Json[]) : []) {
        if (this.#isFull) return
        this.#addSchema(reading, one, place, depth, seen, parts === part.allOf ? own : OPTIONAL)
      }
    }
    if (isObject(properties)) {
      for (const name in properties) {
        if (this.#isFull) return
        const isRequired = need.isRequired && own.names.some((names) => names.has(name))
        const below = this.#below(place, { kind: 'name', name })
        this.#addSchema(reading, properties[name], below, depth + 1, [], { isRequired, names: [] })
      }
    }
    if (isObject(items)) {
      this.#addSchema(reading, items, this.#below(place, EACH), depth + 1, seen, { ...need, names: [] })
    }
    const noted = types && this.#note(place)
    for (const type of types ?? []) noted?.types.add(type)
    if (noted !== undefined && need.isRequired) noted.isRequired = true
  }
}

export const countLists = (steps: readonly PathStep[]): number => steps.filter(({ kind }) => kind === 'each').length

function isListOfLists(place: Node): boolean {
  for (let at: Node | undefined = place; at !== undefined; at = at.parent) {
    if (at.step?.kind === 'each' && at.parent?.step?.kind === 'each') return true
  }
  return false
}

const DATE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/
const DATE_TIME = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt ]\d{2}:\d{2}/

function detectType(value: string | number | boolean): LeafType {
  if (typeof value !== 'string') return typeof value as 'number' | 'boolean'
  if (DATE.test(value)) return 'date'
  if (DATE_TIME.test(value)) return 'dateTime'
  if (/^-?\d{1,15}(?:\.\d{1,15})?$/.test(value)) return 'digits'
  return /^(?:true|false)$/i.test(value) ? 'truth' : 'string'
}

/** Of the place of a subschema. `names`: of the properties that it and those around it require. */
type Need = Readonly<{ isRequired: boolean; names: readonly ReadonlySet<Json>[] }>

/** Of a subschema that is one of several. */
const OPTIONAL: Need = { isRequired: false, names: [] }

/** What a subschema says by itself: a leaf may be reached in many ways. */
type Facts = Readonly<{
  target: Json | undefined
  types: readonly LeafType[] | undefined
  /** Names of properties, also of those in `allOf`. */
  required: ReadonlySet<Json>
}>
type SchemaReading = Readonly<{ root: JsonObject; known: Map<JsonObject, Facts> }>

function readFacts({ root, known }: SchemaReading, part: JsonObject): Facts {
  const found = known.get(part)
  if (found !== undefined) return found
  const { $ref: reference } = part
  const target = typeof reference === 'string' ? resolveLocal(root, reference) : undefined
  const all = [part, ...(Array.isArray(part.allOf) ? part.allOf : [])]
  const required = new Set(
    all.flatMap((one) => (isObject(one) && Array.isArray(one.required) ? (one.required as readonly Json[]) : [])),
  )
  const facts = { target, types: listTypes(part), required }
  known.set(part, facts)
  return facts
}

/** The types of a scalar; undefined if the schema says nothing of scalars. */
function listTypes({ type, format, enum: allowed = [], const: only }: JsonObject): readonly LeafType[] | undefined {
  const codes = only === undefined ? [allowed].flat() : [only]
  const types = (type === undefined ? codes.map((code) => typeof code) : [type].flat()).flatMap(
    (name): readonly LeafType[] => {
      if (name === 'integer' || name === 'number') return ['number']
      if (name === 'boolean') return ['boolean']
      if (name !== 'string') return []
      return [(type === undefined ? undefined : FORMS.get(format)) ?? 'string']
    },
  )
  return types.length > 0 ? types : undefined
}

const FORMS = new Map<Json | undefined, LeafType>([
  ['date', 'date'],
  ['date-time', 'dateTime'],
])

export const toJsonType = (type: LeafType): 'string' | 'number' | 'boolean' =>
  type === 'number' || type === 'boolean' ? type : 'string'
