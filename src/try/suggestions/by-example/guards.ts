/**
 * Rules are made for values of one kind. Without such a value they give nothing: no failure, and no text with a gap in it.
 * Of null and of an empty text they give what the examples have there.
 */
import type { Json } from '../../../core/json.ts'
import { ABSENT, NULL, type ValueId } from './source-values.ts'

/** What is asked of a path before its value is read. */
export type Guard = (path: string) => string

export const isText: Guard = (path) => `$type(${path}) = "string"`
export const isFullText: Guard = (path) => `${isText(path)} and ${path} != ""`
export const isNumber: Guard = (path) => `$type(${path}) = "number"`
export const isNotNull: Guard = (path) => `${path} != null`
export const isFull: Guard = (path) => `${path} != null and ${path} != ""`
export const hasForm =
  (pattern: RegExp): Guard =>
  (path) =>
    `${isText(path)} and $contains(${path}, /${pattern.source}/)`

type Blank = 'null' | 'empty'

/** What the examples have where a rule reads null or an empty text. */
export class Blanks {
  readonly #shown = new Map<Blank, '' | null | undefined>()

  /** Undefined if every value is there. `given`: nothing, null or an empty text, the same as in the first such example. */
  of(values: readonly (Json | undefined)[], id: ValueId, empty: ValueId): { given: Json | undefined } | undefined {
    if (values.includes(undefined)) return { given: undefined }
    const blank = values.includes(null) ? 'null' : values.includes('') ? 'empty' : undefined
    if (blank === undefined) return undefined
    if (!this.#shown.has(blank))
      this.#shown.set(blank, id === NULL ? null : id !== ABSENT && id === empty ? '' : undefined)
    return { given: this.#shown.get(blank) }
  }

  /** `keepsEmpty`: the rule itself gives an empty text of one, so that it takes no condition. */
  write(paths: readonly string[], guards: readonly Guard[], keepsEmpty: boolean, body: string): string {
    const all = [...new Set(paths)]
    const empty = this.#shown.get('empty')
    const isKept = keepsEmpty && (empty === '' || !this.#shown.has('empty'))
    const cases = [
      [this.#shown.get('null'), 'null'],
      [isKept ? undefined : empty, '""'],
    ].flatMap(([given, blank]) =>
      given === undefined
        ? []
        : [`${all.map((path) => `${path} = ${blank}`).join(' or ')} ? ${JSON.stringify(given)} : `],
    )
    const conditions = [...new Set(paths.map((path, at) => (guards[at] ?? isFull)(path)))]
    if (keepsEmpty && !isKept) conditions.push(`${all[0]} != ""`)
    return `${cases.join('')}${conditions.join(' and ')} ? ${body}`
  }
}
