/** A document while it is converted. Every edit goes through it and is reported, so that nothing changes silently. */
import { isObject, type Json, type JsonObject } from '../../src/domain/json.ts'
import { documentPath } from '../../src/domain/lint.ts'

/**
 * carried: taken as it is, and worth knowing; changed: written otherwise, with the same effect; differs: works, with an effect
 * that differs from that of the peer; lost: has no counterpart.
 */
export type ChangeLevel = 'carried' | 'changed' | 'differs' | 'lost'

export type DocumentChange = Readonly<{
  level: ChangeLevel
  /** Place in the document of the peer; the empty string is the document. */
  path: string
  before?: Json
  after?: Json
  /** One sentence; never holds a credential, nor do `before` and `after`. */
  reason: string
}>

export type Note = Readonly<{ level: ChangeLevel; reason: string; before?: Json | undefined; after?: Json | undefined }>

type Segment = string | number

/** A place of the document. Segments are those of the document as found: removing an item moves no other one. */
export type DocumentPart = Readonly<{
  path: string
  value: Json | undefined
  at(...segments: readonly Segment[]): DocumentPart
  /** A copy of the value without removed items. */
  clean(): Json | undefined
  /** The members of an object or the items of an array that are still there. */
  parts(): readonly DocumentPart[]
  /** The last segment, as text. */
  name: string
  /** Sets the value, and reports it. */
  set(value: Json, note: Note): void
  /** Removes the member or item, and reports it. */
  remove(note: Note): void
  /** Reports only. */
  note(note: Note): void
  /** Reports only, for a path that is written out. */
  noteAt(path: string, note: Note): void
  /** Sets the value unreported: the caller reports each difference by `note`. */
  replace(value: Json): void
}>

type Holder = { tree: Json; readonly changes: DocumentChange[] }

/** In: a document, which stays as it is. `finish` gives the converted document and the reports, in their order. */
export function openDraft(document: JsonObject): {
  draft: DocumentPart
  snapshot(): JsonObject
  finish(): Readonly<{ document: JsonObject; changes: readonly DocumentChange[] }>
} {
  const holder: Holder = { tree: compact(document), changes: [] }
  const snapshot = () => compact(holder.tree) as JsonObject
  return {
    draft: draftAt(holder, []),
    snapshot,
    finish: () => ({ document: snapshot(), changes: holder.changes }),
  }
}

function draftAt(holder: Holder, segments: readonly Segment[]): DocumentPart {
  const path = documentPath('', ...segments)
  const reportAt = (at: string, { level, reason, before, after }: Note) =>
    void holder.changes.push({
      level,
      path: at,
      ...(before === undefined ? {} : { before: compact(before) }),
      ...(after === undefined ? {} : { after: compact(after) }),
      reason,
    })
  const report = (note: Note) => reportAt(path, note)
  const draft: DocumentPart = {
    path,
    name: String(segments.at(-1) ?? ''),
    get value() {
      return segments.reduce<Json | undefined>(memberOf, holder.tree)
    },
    clean() {
      const { value } = draft
      return value === undefined ? undefined : compact(value)
    },
    at: (...more) => draftAt(holder, [...segments, ...more]),
    parts() {
      const { value } = draft
      if (Array.isArray(value)) {
        return value.flatMap((item: Json | undefined, index) => (item === undefined ? [] : [draft.at(index)]))
      }
      return isObject(value) ? Object.keys(value).map((name) => draft.at(name)) : []
    },
    set(after, note) {
      const before = draft.value
      draft.replace(after)
      report({ ...(before === undefined ? {} : { before }), after, ...note })
    },
    remove(note) {
      const before = draft.value
      write(holder, segments, undefined)
      report({ ...(before === undefined ? {} : { before }), ...note })
    },
    note: report,
    noteAt: reportAt,
    replace: (after) => write(holder, segments, compact(after)),
  }
  return draft
}

function memberOf(value: Json | undefined, segment: Segment): Json | undefined {
  if (Array.isArray(value)) return typeof segment === 'number' ? value[segment] : undefined
  return isObject(value) && Object.hasOwn(value, segment) ? value[String(segment)] : undefined
}

/** `undefined` removes: a member at once, an item by leaving a hole, so that the items after it keep their index. */
function write(holder: Holder, segments: readonly Segment[], value: Json | undefined): void {
  const last = segments.at(-1)
  if (last === undefined) {
    holder.tree = value ?? {}
    return
  }
  const parent = segments.slice(0, -1).reduce<Json | undefined>(memberOf, holder.tree)
  if (value === undefined && !Array.isArray(parent)) Reflect.deleteProperty(parent as object, last)
  // A plain assignment would not write a member named __proto__.
  else Object.defineProperty(parent, last, { value, writable: true, enumerable: true, configurable: true })
}

/** A value as a text; objects have members named `toString` too. */
export const textOf = (value: Json | undefined): string => {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** A copy without holes, and without parts that stand in two places. */
function compact(value: Json): Json {
  if (Array.isArray(value)) return value.filter((item: Json | undefined) => item !== undefined).map(compact)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, compact(inner)]))
}
