/** A document while it is converted. Every edit goes through it and is reported, so that nothing changes silently. */
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { collectInto, documentPath, isError, type Lint, type LintSink } from '../../src/core/lint.ts'

/**
 * carried: taken unchanged, and worth knowing; changed: written otherwise, with the same effect; differs: works, with an effect
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

/** The values that a report shows: those of an edit, unless others are given here. */
export type Shown = Readonly<{ before?: Json | undefined; after?: Json | undefined }>

type Segment = string | number
type Draft = { tree: Json; readonly changes: DocumentChange[] }

/** In: a document, which stays unchanged. Out: its root as a part, and the list that the reports go to, in their order. */
export function openDraft(document: JsonObject): { root: DocumentPart; changes: readonly DocumentChange[] } {
  const draft: Draft = { tree: compact(document), changes: [] }
  return { root: new DocumentPart(draft, []), changes: draft.changes }
}

/** A place of the document. Segments are those of the document as found: removing an item moves no other one. */
export class DocumentPart {
  readonly path: string
  /** The last segment, as text. */
  readonly name: string
  readonly #draft: Draft
  readonly #segments: readonly Segment[]

  constructor(draft: Draft, segments: readonly Segment[]) {
    this.path = documentPath('', ...segments)
    this.name = String(segments.at(-1) ?? '')
    this.#draft = draft
    this.#segments = segments
  }

  get value(): Json | undefined {
    return this.#segments.reduce<Json | undefined>(readMember, this.#draft.tree)
  }

  /** A copy of the value without removed items. */
  clean(): Json | undefined {
    const { value } = this
    return value === undefined ? undefined : compact(value)
  }

  at(...segments: readonly Segment[]): DocumentPart {
    return new DocumentPart(this.#draft, [...this.#segments, ...segments])
  }

  /** The members of an object or the items of an array that are still there. */
  parts(): readonly DocumentPart[] {
    const { value } = this
    if (Array.isArray(value)) {
      return value.flatMap((item: Json | undefined, index) => (item === undefined ? [] : [this.at(index)]))
    }
    return isObject(value) ? Object.keys(value).map((name) => this.at(name)) : []
  }

  set(after: Json, level: ChangeLevel, reason: string, shown: Shown = {}): void {
    const before = this.value
    this.replace(after)
    this.note(level, reason, { before, after, ...shown })
  }

  /** Removes the member or item. */
  remove(level: ChangeLevel, reason: string, shown: Shown = {}): void {
    const before = this.value
    this.#write(undefined)
    this.note(level, reason, { before, ...shown })
  }

  /** Reports only. */
  note(level: ChangeLevel, reason: string, shown: Shown = {}): void {
    this.noteAt(this.path, level, reason, shown)
  }

  /** Reports only, for a path that is written out. */
  noteAt(path: string, level: ChangeLevel, reason: string, { before, after }: Shown): void {
    this.#draft.changes.push({
      level,
      path,
      ...(before === undefined ? {} : { before: compact(before) }),
      ...(after === undefined ? {} : { after: compact(after) }),
      reason,
    })
  }

  /** Sets the value unreported: the caller reports each difference by `note`. */
  replace(after: Json): void {
    this.#write(compact(after))
  }

  /** `undefined` removes: a member at once, an item by leaving a hole, so that the items after it keep their index. */
  #write(value: Json | undefined): void {
    const last = this.#segments.at(-1)
    if (last === undefined) {
      this.#draft.tree = value ?? {}
      return
    }
    const parent = this.#segments.slice(0, -1).reduce<Json | undefined>(readMember, this.#draft.tree)
    if (value === undefined && !Array.isArray(parent)) Reflect.deleteProperty(parent as object, last)
    // A plain assignment would not write a member named __proto__.
    else Object.defineProperty(parent, last, { value, writable: true, enumerable: true, configurable: true })
  }
}

function readMember(value: Json | undefined, segment: Segment): Json | undefined {
  if (Array.isArray(value)) return typeof segment === 'number' ? value[segment] : undefined
  return isObject(value) && Object.hasOwn(value, segment) ? value[String(segment)] : undefined
}

/** A copy without holes, and without parts that are in two places. */
function compact(value: Json): Json {
  if (Array.isArray(value)) return value.filter((item: Json | undefined) => item !== undefined).map(compact)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, compact(inner)]))
}

/** What becomes of one field, and what the report says of it. */
export type Rule<Context = unknown> = Readonly<{
  level: ChangeLevel
  reason: string
  /** The path of the field below the part; `*` is every member or item, `[]` every item of an array. */
  at: string
  /** Asked of values that are there. */
  applies(value: Json, context: Context): boolean
  /** The value that replaces it; undefined if the field is left out. */
  to(value: Json): Json | undefined
}>

const always = () => true

/** A rule that writes another value; `to` may give the same one. */
export const rewrite = <Context = unknown>(
  level: ChangeLevel,
  reason: string,
  at: string,
  to: Rule['to'],
  applies: Rule<Context>['applies'] = always,
): Rule<Context> => ({ level, reason, at, to, applies })

/** A rule that leaves the field out. */
export const drop = <Context = unknown>(
  level: ChangeLevel,
  reason: string,
  at: string,
  applies: Rule<Context>['applies'] = always,
): Rule<Context> => ({ level, reason, at, applies, to: () => undefined })

/** One rule after the other, each on the fields as the rules before it left them. */
export function applyRules<Context>(part: DocumentPart, rules: readonly Rule<Context>[], context: Context): void {
  for (const { level, reason, at, applies, to } of rules) {
    for (const field of fieldsAt(part, at)) {
      const { value } = field
      if (value === undefined || !applies(value, context)) continue
      const after = to(value)
      if (after === undefined) field.remove(level, reason)
      else if (after !== value) field.set(after, level, reason)
    }
  }
}

const fieldsAt = (part: DocumentPart, at: string): readonly DocumentPart[] =>
  at.split('.').reduce<readonly DocumentPart[]>(
    (parts, name) =>
      parts.flatMap((one) => {
        if (name === '*') return one.parts()
        if (name === '[]') return Array.isArray(one.value) ? one.parts() : []
        return name === '' ? [one] : [one.at(name)]
      }),
    [part],
  )

/** A value as a text; objects have members named `toString` too. */
export const toText = (value: Json | undefined): string => {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The errors that a check of this service finds. */
export function faultsIn(check: (lint: LintSink) => void): readonly Lint[] {
  const lints: Lint[] = []
  check(collectInto(lints))
  return lints.filter(isError)
}
