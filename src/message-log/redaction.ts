/** Takes values out of bodies before they are kept (`REDACT_PATHS`). */
import { isObject, type Json } from '../domain/json.ts'
import type { MessageRecord } from '../domain/message-record.ts'
import { type PathStep, parseSteps } from '../language/paths/path-steps.ts'

export const MASKED = '***'

type Path = readonly PathStep[]
/** A path that has been followed up to a step. */
type Following = Readonly<{ path: Path; at: number }>

export type Mask = Readonly<{
  /** The value with what the paths find in it masked; the same value where they find nothing. */
  apply(value: Json, found: Set<string>): Json
}>

/**
 * Compiles paths to a mask. A path holds wherever in a body its names follow each other, as one value turns up at many
 * places on its way through a message: `ssn` masks every field of that name, `patient.name` every name in a patient.
 * Names on arrays hold for every element, and a number (`list.0`) for that element.
 *
 * `apply` adds the texts and numbers that it masked to `found`. Paths that do not parse are left out.
 */
export function compileRedaction(paths: readonly string[]): Mask | undefined {
  const compiled = paths.flatMap((text) => {
    const parsed = parseSteps(text, 'path')
    return parsed.ok ? [parsed.value] : []
  })
  if (compiled.length === 0) return undefined
  const fresh = compiled.map((path) => ({ path, at: 0 }))
  return { apply: (value, found) => walk(value, [], fresh, found) }
}

function walk(value: Json, following: readonly Following[], fresh: readonly Following[], found: Set<string>): Json {
  const here = Array.isArray(value) ? following : following.map(pastBrackets)
  if (here.some(({ path, at }) => at === path.length)) return masked(value, found)
  if (Array.isArray(value)) {
    return changed(value, (item, index) =>
      walk(
        item,
        here.flatMap((one) => intoElement(one, index)),
        fresh,
        found,
      ),
    )
  }
  if (!isObject(value)) return value
  let copy: Record<string, Json> | undefined
  for (const [name, field] of Object.entries(value)) {
    const next = walk(
      field,
      [...here, ...fresh].flatMap((one) => intoField(one, name)),
      fresh,
      found,
    )
    if (next === field) continue
    copy ??= { ...value }
    copy[name] = next
  }
  return copy ?? value
}

function changed(items: readonly Json[], change: (item: Json, index: number) => Json): readonly Json[] {
  const copy = items.map(change)
  return copy.every((item, index) => item === items[index]) ? items : copy
}

/** For brackets, what is no array counts as an array of one. */
function pastBrackets({ path, at }: Following): Following {
  let next = at
  for (let step = path[next]; step?.kind === 'each' || (step?.kind === 'index' && step.index === 0); step = path[next])
    next += 1
  return { path, at: next }
}

function intoElement({ path, at }: Following, index: number): Following[] {
  const step = path[at]
  if (step?.kind === 'each' || (step?.kind === 'index' && step.index === index)) return [{ path, at: at + 1 }]
  if (step?.kind === 'index') return []
  // A number is that element. In other elements it stays a name: masking too much reveals nothing.
  const isElement = step?.kind === 'name' && step.name === String(index)
  return [{ path, at: isElement ? at + 1 : at }]
}

function intoField({ path, at }: Following, name: string): Following[] {
  const step = path[at]
  return step?.kind === 'any' || (step?.kind === 'name' && step.name === name) ? [{ path, at: at + 1 }] : []
}

/** Null and booleans say nothing, and would be found everywhere. */
function masked(value: Json, found: Set<string>): Json {
  if (value === null || value === MASKED) return value
  note(value, found)
  return MASKED
}

function note(value: Json, found: Set<string>): void {
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) note(inner, found)
  else if (typeof value === 'string' || typeof value === 'number') found.add(String(value))
}

/** Shorter ones stand in texts by chance. */
const SHORTEST = 3

/** What people read, without what was masked elsewhere in the message, and without what others sent to us. */
export function scrub(text: string, found: ReadonlySet<string>): string {
  let scrubbed = text.replace(/( answered with status \d+(?:\..*? It said)?): .*$/s, `$1: ${MASKED}`)
  for (const value of found) {
    if (value.length >= SHORTEST) scrubbed = scrubbed.replaceAll(value, MASKED)
  }
  return scrubbed
}

/** The record without what was masked in its bodies: where calls went, and its business keys. */
export function scrubRecord(record: MessageRecord, found: ReadonlySet<string>): MessageRecord {
  const inUrls = new Set([...found].flatMap((value) => [value, encodeURIComponent(value.toWellFormed())]))
  const maskedKey = (value: string): string => (found.has(value) ? MASKED : value)
  return {
    ...record,
    calls: record.calls.map((call) => ({ ...call, target: scrub(call.target, inUrls) })),
    keys: Object.fromEntries(
      Object.entries(record.keys).map(([name, value]) => [
        name,
        typeof value === 'string' ? maskedKey(value) : value.map(maskedKey),
      ]),
    ),
  }
}

/** The same for every text in a value. */
export function scrubTexts(value: Json, found: ReadonlySet<string>): Json {
  if (typeof value === 'string') return scrub(value, found)
  if (Array.isArray(value)) return value.map((item) => scrubTexts(item, found))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, scrubTexts(field, found)]))
}
