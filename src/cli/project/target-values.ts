/**
 * `${value:NAME}` in the texts of a document stands for a value that differs from target to target. It is filled in before the
 * document is sent, so that no service ever sees it; references to secrets stay as they are.
 */
import { isObject, type Json } from '../../domain/json.ts'
import type { LintSink } from '../../domain/lint.ts'

export const VALUE_NAME = '[A-Za-z_][A-Za-z0-9_]*'

/** `$${value:NAME}` escapes a reference: it is the text `${value:NAME}`. */
const REFERENCE = new RegExp(`(\\$?)\\$\\{value:(${VALUE_NAME})\\}`, 'g')
const ALMOST = /\$\{\s*value\s*:/i

/** `missing`: the sentence for a value that there is none for. */
export type TargetValues = Readonly<{ values: Readonly<Record<string, string>>; missing(name: string): string }>
/**
 * Fills in the values. Out: the document without references; one without a value stays as it is.
 * Lints: each reference without a value, each that is misspelt, each in a name of a member.
 */
export function fillValues(document: Json, target: TargetValues, lint: LintSink): Json {
  if (typeof document === 'string') return fillText(document, target, lint)
  if (Array.isArray(document)) return document.map((item: Json, index) => fillValues(item, target, lint.at(index)))
  if (!isObject(document)) return document
  return Object.fromEntries(
    Object.entries(document).map(([name, value]) => {
      if (ALMOST.test(name)) lint.at(name).warning('Values are not filled into names; this one is sent as it is.')
      return [name, fillValues(value, target, lint.at(name))]
    }),
  )
}

function fillText(text: string, { values, missing }: TargetValues, lint: LintSink): string {
  if (!ALMOST.test(text)) return text
  if (ALMOST.test(text.replace(REFERENCE, ''))) {
    lint.warning('This looks like a value of the target and is sent as it is; write "${value:NAME}".')
  }
  return text.replace(REFERENCE, (reference, dollar: string, name: string) => {
    if (dollar === '$') return reference.slice(1)
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined) lint.error(missing(name))
    return value ?? reference
  })
}

/** In: a text of a document of a service, which has no references. Out: the text that is filled in to be that one. */
export const escapeValues = (text: string): string => text.replace(REFERENCE, '$$$&')
