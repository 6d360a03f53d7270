/** Takes values out of bodies and records before they are kept (`REDACT_PATHS`). */
import { isObject, type Json } from '../../core/json.ts'
import type { MessageRecord } from '../../core/records/message-record.ts'
import { formsOf } from '../../core/secrets/secrets.ts'
import { type PathStep, parseSteps } from '../../language/paths/path-steps.ts'
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

/** Gives a text without the values that it was created for. */
export type HideValues = (text: string) => string

/** A pattern of more forms takes long to compile. */
const FORMS_IN_A_PATTERN = 500

/** Finds the values in all their forms (`formsOf`); values that are too short for that occur in texts by chance. */
export function hideValues(values: ReadonlySet<string>): HideValues {
  // The longest first, since one form may contain another.
  const forms = [...new Set([...values].flatMap(formsOf))].sort((one, other) => other.length - one.length)
  const patterns: RegExp[] = []
  for (let from = 0; from < forms.length; from += FORMS_IN_A_PATTERN) {
    const some = forms.slice(from, from + FORMS_IN_A_PATTERN)
    patterns.push(new RegExp(some.map((form) => RegExp.escape(form)).join('|'), 'g'))
  }
  return (text) => patterns.reduce((left, pattern) => left.replace(pattern, REDACTED), text)
}

/** Gives a text without the redacted values, and without what another system said. */
export const redactText = (text: string, hide: HideValues): string =>
  hide(text.replace(/( answered with status \d+(?:\..*? It said)?): .*$/s, `$1: ${REDACTED}`))

/** Redacts the targets of calls and the business keys. */
export function redactRecord(record: MessageRecord, redacted: ReadonlySet<string>): MessageRecord {
  const hide = hideValues(redacted)
  return {
    ...record,
    calls: record.calls.map((call) => ({ ...call, target: hide(call.target) })),
    keys: changeKeys(record.keys, (value) => (redacted.has(value) ? REDACTED : value)),
  }
}

/** Applies `redactText` to every text in a value; a number that is a redacted value is redacted too. */
export function redactTexts(value: Json, hide: HideValues): Json {
  if (typeof value === 'string') return redactText(value, hide)
  if (typeof value === 'number') return hide(String(value)) === REDACTED ? REDACTED : value
  if (Array.isArray(value)) return value.map((item) => redactTexts(item, hide))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, redactTexts(field, hide)]))
}
