/**
 * The fields of messages that nothing reads, as a tree of names with counts by hour. Names may be data, such as the ids of
 * patients in a map, so an object with many of them keeps one name for all.
 */
import type { Json } from '../../core/json.ts'
import type { UnreadStep } from '../../document/reads/read-recorder.ts'
import { pathText } from '../../language/paths/path-steps.ts'

/** Counts are kept for so many hours, the current one included. */
export const HOURS = 24
/** The index of an hour in the counts. */
export const toSlot = (hour: number): number => hour % HOURS
/** Names of one object; with more they become one. */
const NAMES_MAX = 50
/** Paths of an endpoint; with more, the object with the most names becomes a map if it has so many. */
const FIELDS_MAX = 250
const NAMES_OF_A_MAP = 20

/** The key of every element of an array. */
const EACH_KEY = '[]'
/** The key for all names of a place with too many. */
const ANY_KEY = '.*'

/** Steps of a path as a document writes them, such as `.requestBody`, `.items`, `[]` and `.nr`. */
export type FieldKeys = readonly string[]

type UnreadField = {
  readonly fields: Map<string, UnreadField>
  /** All names have one key. */
  isMap: boolean
  /** Messages by the slot of their hour; undefined unless the field is a leaf of some message. */
  counts: Uint32Array | undefined
  /** Bits by the index of TYPES. */
  types: number
  /** The last message that had it, so that it counts once. */
  message: number
}

interface UnreadFields {
  /** The leaf at this place, a new one if need be; undefined if there is no room for it. */
  leafAt(keys: FieldKeys): (UnreadField & { counts: Uint32Array }) | undefined
  /** Clears the counts of these slots, and removes what has no counts. */
  clear(slots: readonly number[]): void
  leaves(): readonly Readonly<{ keys: FieldKeys; types: number; counts: Uint32Array }>[]
  /** There was no room for a field. */
  readonly isFull: boolean
}

export function createUnreadFields(): UnreadFields {
  const root = newField()
  let leaves = 0
  let isFull = false

  const collapse = (field: UnreadField): UnreadField => {
    makeMap(field)
    leaves = countLeaves(root)
    return field.fields.get(ANY_KEY) ?? field
  }
  const hasRoom = (): boolean => {
    if (leaves < FIELDS_MAX) return true
    const widest = findWidest(root)
    if (widest.fields.size >= NAMES_OF_A_MAP) collapse(widest)
    isFull ||= leaves >= FIELDS_MAX
    return leaves < FIELDS_MAX
  }
  const fieldAt = (keys: FieldKeys): UnreadField =>
    keys.reduce((field, key) => {
      const known = field.fields.get(key) ?? (field.isMap && key !== EACH_KEY ? field.fields.get(ANY_KEY) : undefined)
      if (known !== undefined) return known
      if (key !== EACH_KEY && field.fields.size >= NAMES_MAX) return collapse(field)
      const added = newField()
      field.fields.set(key, added)
      return added
    }, root)

  return {
    leafAt: (keys) => {
      const isNew = findField(root, keys)?.counts === undefined
      // A collapse changes where the keys lead.
      if (isNew && !hasRoom() && findField(root, keys)?.counts === undefined) return undefined
      const field = fieldAt(keys)
      if (field.counts === undefined) {
        field.counts = new Uint32Array(HOURS)
        leaves += 1
      }
      return field as UnreadField & { counts: Uint32Array }
    },
    clear: (slots) => {
      clearFields(root, slots)
      leaves = countLeaves(root)
      isFull &&= leaves >= FIELDS_MAX
    },
    leaves: () => collectLeaves(root, []),
    get isFull() {
      return isFull
    },
  }
}

const newField = (): UnreadField => ({ fields: new Map(), isMap: false, counts: undefined, types: 0, message: 0 })

function findField(root: UnreadField, keys: FieldKeys): UnreadField | undefined {
  let field: UnreadField | undefined = root
  for (const key of keys) {
    if (field === undefined) return undefined
    const { fields, isMap }: UnreadField = field
    field = fields.get(key) ?? (isMap && key !== EACH_KEY ? fields.get(ANY_KEY) : undefined)
  }
  return field
}

/** Moves what is below all names of the field to one. */
function makeMap(field: UnreadField): void {
  const joined = field.fields.get(ANY_KEY) ?? newField()
  for (const [key, inner] of field.fields) {
    if (key === EACH_KEY || inner === joined) continue
    field.fields.delete(key)
    merge(joined, inner)
  }
  if (joined.counts !== undefined || joined.fields.size > 0) field.fields.set(ANY_KEY, joined)
  field.isMap = true
}

function merge(into: UnreadField, { counts, types, message, fields, isMap }: UnreadField): void {
  into.types |= types
  into.message = Math.max(into.message, message)
  if (counts !== undefined) {
    into.counts ??= new Uint32Array(HOURS)
    for (const [slot, count] of counts.entries()) (into.counts[slot] as number) += count
  }
  for (const [key, inner] of fields) {
    const known = into.fields.get(key)
    if (known === undefined) into.fields.set(key, inner)
    else merge(known, inner)
  }
  if (into.isMap || isMap || into.fields.size > NAMES_MAX) makeMap(into)
}

function findWidest(field: UnreadField): UnreadField {
  let widest = field
  for (const inner of field.fields.values()) {
    const candidate = findWidest(inner)
    if (candidate.fields.size > widest.fields.size) widest = candidate
  }
  return widest
}

function countLeaves({ counts, fields }: UnreadField): number {
  let sum = counts === undefined ? 0 : 1
  for (const inner of fields.values()) sum += countLeaves(inner)
  return sum
}

function clearFields(field: UnreadField, slots: readonly number[]): void {
  for (const slot of slots) if (field.counts !== undefined) field.counts[slot] = 0
  if (field.counts?.every((count) => count === 0)) {
    field.counts = undefined
    field.types = 0
  }
  for (const [key, inner] of field.fields) {
    clearFields(inner, slots)
    if (inner.counts === undefined && inner.fields.size === 0) field.fields.delete(key)
  }
}

function collectLeaves({ counts, types, fields }: UnreadField, keys: FieldKeys): ReturnType<UnreadFields['leaves']> {
  const own = counts === undefined ? [] : [{ keys, types, counts }]
  return [...own, ...[...fields].flatMap(([key, inner]) => collectLeaves(inner, [...keys, key]))]
}

// The names of unread fields as answers show them: not the ones that look like data, and not in full length.

const NAME_LENGTH_MAX = 64
/** Names with so many digits are ids, dates or numbers of something rather than fields. */
const DIGITS_OF_DATA = 5

/**
 * Gives the keys of the steps of one message, whose names may be as long as itself and be above many leaves. `hideSecrets`:
 * puts references in the place of the secrets in a text.
 */
export function createKeys(hideSecrets: (text: string) => string): (steps: readonly UnreadStep[]) => FieldKeys {
  const known = new Map<string, string>()
  const toFieldKey = (name: string): string => {
    const found = known.get(name)
    if (found !== undefined) return found
    const key = looksLikeData(name) ? ANY_KEY : `.${pathText([{ kind: 'name', name: shortened(hideSecrets(name)) }])}`
    known.set(name, key)
    return key
  }
  return (steps) =>
    steps.map((step) => {
      if (step.kind === 'each') return EACH_KEY
      return step.kind !== 'name' || step.isKey ? ANY_KEY : toFieldKey(step.name)
    })
}

/** In: keys from the root on. Out: the path as a document writes it. */
export const keysToPath = (keys: FieldKeys): string => keys.join('').slice(1)

function looksLikeData(name: string): boolean {
  // Addresses have it within; names of JSON-LD and of XML attributes at the start.
  if (name.indexOf('@') > 0) return true
  let digits = 0
  for (let at = 0; at < name.length && digits < DIGITS_OF_DATA; at += 1) {
    const unit = name.charCodeAt(at)
    if (unit >= 0x30 && unit <= 0x39) digits += 1
  }
  return digits === DIGITS_OF_DATA
}

const shortened = (name: string): string =>
  name.length <= NAME_LENGTH_MAX ? name : `${name.slice(0, NAME_LENGTH_MAX - 1).toWellFormed()}…`

// The shape of a message: its names, with the JSON type in the place of each value. Everything that drift keeps comes from
// shapes, so that no value can get into it.

/** Values of a message that are looked at: some milliseconds. */
const VALUES_MAX = 5_000
/** No message of JSON or XML is nested so deep; the value of an expression may be. */
const LEVELS_MAX = 128

export const TYPES = ['string', 'number', 'boolean', 'null', 'array', 'object'] as const

type MessageShape = Readonly<{
  /** A text names the type of a value. */
  shape: Readonly<Record<string, Json>>
  /** A part of the message was left out. */
  isCut: boolean
  /** False if there were too many values: a field that is not in the shape may be in the message. */
  hasAllValues: boolean
  /** Containers whose content was left out. */
  unfilled: ReadonlySet<unknown>
}>

type Container = Json[] | Record<string, Json>

/**
 * The shape of these roots of a message, level by level, so that a large part does not hide the others. Of each array it has
 * the first `elementsMax` elements.
 */
export function readShape(message: object, roots: readonly string[], elementsMax: number): MessageShape {
  const queue: Readonly<{ from: object; to: Container; level: number }>[] = []
  const unfilled = new Set<unknown>()
  let left = VALUES_MAX
  let isCut = false

  const shapeFromValue = (value: unknown, level: number): Json | undefined => {
    if (value === null || value === undefined) return value
    if (typeof value !== 'object') return typeof value === 'bigint' ? 'number' : typeof value
    const to: Container = Array.isArray(value) ? [] : newObject()
    queue.push({ from: value, to, level })
    return to
  }
  const fillArray = (from: readonly unknown[], to: Json[], level: number): void => {
    if (from.length > elementsMax) isCut = true
    const end = Math.min(from.length, elementsMax, left)
    for (let at = 0; at < end; at += 1) to.push(shapeFromValue(from[at], level) ?? null)
    left -= end
    if (end < Math.min(from.length, elementsMax)) left = -1
  }
  const fillObject = (from: Readonly<Record<string, unknown>>, to: Record<string, Json>, level: number): void => {
    for (const name in from) {
      left -= 1
      if (left < 0) return
      const value = shapeFromValue(from[name], level)
      if (value !== undefined) to[name] = value
    }
  }

  const shape = newObject()
  for (const root of roots) {
    const value = shapeFromValue((message as Readonly<Record<string, unknown>>)[root], 1)
    if (value !== undefined) shape[root] = value
  }
  for (const { from, to, level } of queue) {
    if (left < 0 || level > LEVELS_MAX) {
      isCut = true
      unfilled.add(to)
    } else if (Array.isArray(to)) fillArray(from as readonly unknown[], to, level + 1)
    else fillObject(from as Readonly<Record<string, unknown>>, to, level + 1)
    if (left < 0) unfilled.add(to)
  }
  return { shape, isCut: isCut || left < 0, hasAllValues: left >= 0, unfilled }
}

/** Without a prototype, so that `__proto__` is a name as any other. */
const newObject = (): Record<string, Json> => Object.create(null)

/** The type of a leaf of a shape, as an index of TYPES. */
export function detectLeafType(leaf: unknown): number {
  const names: readonly unknown[] = TYPES
  if (typeof leaf !== 'object') return names.indexOf(leaf)
  return names.indexOf(leaf === null ? 'null' : Array.isArray(leaf) ? 'array' : 'object')
}
