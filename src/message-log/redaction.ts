/** Takes values out of bodies and records before they are kept (`REDACT_PATHS`). */
import { isObject, type Json } from '../domain/json.ts'
import type { MessageRecord } from '../domain/records/message-record.ts'
import { type PathStep, parseSteps } from '../language/paths/path-steps.ts'
import { changeKeys } from './business-keys.ts'

export const REDACTED = '***'

/** A path of which the steps before `at` have matched. */
type Following = Readonly<{ path: readonly PathStep[]; at: number }>

export type Redaction = Readonly<{
  /**
   * Gives the value without what the paths find in it; the same value if they find nothing. Adds the texts and numbers
   * that it took out to `redacted`.
   */
  apply(value: Json, redacted: Set<string>): Json
}>

/**
 * Compiles paths to a redaction. A path holds at any depth of a body, as one value occurs at many paths on its way through a
 * message: `ssn` redacts every field of that name, `patient.name` every name in a patient. Names on arrays hold for every
 * element, and a number (`list.0`) for that element. Paths that do not parse are left out; undefined if none is left.
 */
export function compileRedaction(paths: readonly string[]): Redaction | undefined {
  const compiled = paths.flatMap((text) => {
    const parsed = parseSteps(text, 'path')
    return parsed.ok ? [parsed.value] : []
  })
  if (compiled.length === 0) return undefined
  const starts = compiled.map((path) => ({ path, at: 0 }))
  return { apply: (value, redacted) => walk(value, [], starts, redacted) }
}

function walk(value: Json, following: readonly Following[], starts: readonly Following[], redacted: Set<string>): Json {
  const here = Array.isArray(value) ? following : following.map(pastBrackets)
  if (here.some(({ path, at }) => at === path.length)) return redact(value, redacted)
  const walkInto = (inner: Json, next: readonly Following[]) => walk(inner, next, starts, redacted)
  if (Array.isArray(value)) {
    const items: readonly Json[] = value
    const copy = items.map((item, index) =>
      walkInto(
        item,
        here.flatMap((one) => intoElement(one, index)),
      ),
    )
    return copy.every((item, index) => item === items[index]) ? items : copy
  }
  if (!isObject(value)) return value
  let copy: Record<string, Json> | undefined
  for (const [name, field] of Object.entries(value)) {
    const next = walkInto(
      field,
      [...here, ...starts].flatMap((one) => intoField(one, name)),
    )
    if (next === field) continue
    copy ??= { ...value }
    copy[name] = next
  }
  return copy ?? value
}

/** Brackets treat a value that is not an array as an array of one element. */
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
  // `0` selects the element 0. In other elements it is taken as a field's name; that may redact too much, which is safe.
  const isElement = step?.kind === 'name' && step.name === String(index)
  return [{ path, at: isElement ? at + 1 : at }]
}

function intoField({ path, at }: Following, name: string): Following[] {
  const step = path[at]
  return step?.kind === 'any' || (step?.kind === 'name' && step.name === name) ? [{ path, at: at + 1 }] : []
}

function redact(value: Json, redacted: Set<string>): Json {
  if (value === null || value === REDACTED) return value
  addTexts(value, redacted)
  return REDACTED
}

/** Not null and booleans: they reveal nothing, and occur everywhere. */
function addTexts(value: Json, redacted: Set<string>): void {
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) addTexts(inner, redacted)
  else if (typeof value === 'string' || typeof value === 'number') redacted.add(String(value))
}

/** Shorter values are not searched for in texts: they occur there by chance. */
const SHORTEST_VALUE = 3

/** Gives a text without the redacted values, and without what another system said. */
export function redactText(text: string, redacted: ReadonlySet<string>): string {
  let result = text.replace(/( answered with status \d+(?:\..*? It said)?): .*$/s, `$1: ${REDACTED}`)
  for (const value of redacted) {
    if (value.length >= SHORTEST_VALUE) result = result.replaceAll(value, REDACTED)
  }
  return result
}

/** Redacts the targets of calls and the business keys. */
export function redactRecord(record: MessageRecord, redacted: ReadonlySet<string>): MessageRecord {
  const inUrls = new Set([...redacted].flatMap((value) => [value, encodeURIComponent(value.toWellFormed())]))
  return {
    ...record,
    calls: record.calls.map((call) => ({ ...call, target: redactText(call.target, inUrls) })),
    keys: changeKeys(record.keys, (value) => (redacted.has(value) ? REDACTED : value)),
  }
}

/** Applies `redactText` to every text in a value. */
export function redactTexts(value: Json, redacted: ReadonlySet<string>): Json {
  if (typeof value === 'string') return redactText(value, redacted)
  if (Array.isArray(value)) return value.map((item) => redactTexts(item, redacted))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, redactTexts(field, redacted)]))
}
