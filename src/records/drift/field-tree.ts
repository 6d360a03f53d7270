/**
 * The fields of messages that nothing reads, as a tree of names with counts by hour. Names may be data, such as the ids of
 * patients in a map, so an object with many of them keeps one name for all.
 */

/** Counts are kept for so many hours, the current one included. */
export const HOURS = 24
/** The index of an hour in the counts. */
export const slotOf = (hour: number): number => hour % HOURS
/** Names of one object; with more they become one. */
const NAMES_MAX = 50
/** Paths of an endpoint; with more, the object with the most names becomes a map if it has so many. */
const FIELDS_MAX = 250
const NAMES_OF_A_MAP = 20

/** The key of every element of an array. */
export const EACH_KEY = '[]'
/** The key that stands for all names of a place with too many. */
export const ANY_KEY = '.*'

/** Steps of a path as a document writes them, such as `.requestBody`, `.items`, `[]` and `.nr`. */
export type FieldKeys = readonly string[]

export type UnreadField = {
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

export interface UnreadFields {
  /** The leaf at this place, a new one if need be; undefined if there is no room for it. */
  leafAt(keys: FieldKeys): (UnreadField & { counts: Uint32Array }) | undefined
  /** Clears the counts of these slots, and removes what has no counts. */
  clear(slots: readonly number[]): void
  leaves(): readonly Readonly<{ keys: FieldKeys; types: number; counts: Uint32Array }>[]
  /** Whether there was no room for a field. */
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
    const widest = widestOf(root)
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
    leaves: () => leavesOf(root, []),
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

function widestOf(field: UnreadField): UnreadField {
  let widest = field
  for (const inner of field.fields.values()) {
    const candidate = widestOf(inner)
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

function leavesOf({ counts, types, fields }: UnreadField, keys: FieldKeys): ReturnType<UnreadFields['leaves']> {
  const own = counts === undefined ? [] : [{ keys, types, counts }]
  return [...own, ...[...fields].flatMap(([key, inner]) => leavesOf(inner, [...keys, key]))]
}
