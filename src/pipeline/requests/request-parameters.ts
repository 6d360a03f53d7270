import { Failure } from '../../core/failure.ts'
import { isObject, type Json, typeName } from '../../core/json.ts'
import { documentPath, type LintSink } from '../../core/lint.ts'
import type { Reference } from '../../core/secrets/secrets.ts'
import type { ParameterSpec } from '../../document/schema/schema.ts'
import { type PathSource, parsePath, type SourcePath } from '../../language/paths/path.ts'
import { appendQuery, type UrlTemplate } from '../../language/url-template.ts'
import type { PipelineSettings } from '../services.ts'

/** A message, with `item` inside a forEach. */
export type CallScope = PathSource

type Parameter = Readonly<{ name: string; path: string; source: SourcePath; prefix: string; postfix: string }>

/** Lints a path that its stage cannot read; `inside`: whether it is read for each item. */
export type Check = (path: SourcePath, inside: boolean, lint: LintSink) => void

/** `payload` is another name for `requestBody` in request parameters and forEach.items. */
function parseRequestPath(text: string, lint: LintSink): SourcePath | undefined {
  const parsed = parsePath(text)
  if (!parsed.ok) {
    lint.error(parsed.message)
    return undefined
  }
  const renamed = parsed.value.root === 'payload' ? parsePath(`requestBody${text.slice('payload'.length)}`) : parsed
  return renamed.ok ? { ...renamed.value, text } : undefined
}

/** Empty if the path is at fault, which goes to `lint`. */
export function compileParameter(name: string, spec: ParameterSpec, check: Check, lint: LintSink): Parameter[] {
  const source = parseRequestPath(spec.path, lint.at('path'))
  if (source === undefined) return []
  check(source, true, lint.at('path'))
  return [{ name, path: lint.path, source, prefix: spec.prefix ?? '', postfix: spec.postfix ?? '' }]
}

/** A single value is an array of one if the path has a `[]`: XML does not distinguish them. Fails with FOREACH_INVALID. */
export function compileItems(
  text: string,
  check: Check,
  settings: PipelineSettings,
  lint: LintSink,
): (message: CallScope) => readonly Json[] {
  const source = parseRequestPath(text, lint)
  if (source === undefined) return () => []
  check(source, false, lint)
  const limit = settings.forEachMaxItems
  const invalid = (sentence: string) => new Failure('FOREACH_INVALID', sentence, { path: lint.path })
  const takesOne = source.steps.some(({ kind }) => kind === 'each')
  return (message) => {
    const value = source.read(message)
    const isOne = takesOne && value !== undefined && value !== null && !Array.isArray(value)
    const items = isOne ? [value] : value
    if (!Array.isArray(items)) throw invalid(`"${text}" must give an array to go over, but gave ${typeName(items)}.`)
    if (items.length > limit) throw invalid(`"${text}" gave ${items.length} items; at most ${limit} are allowed.`)
    return items
  }
}

/** What the URL of a request is made of. `path`: of the request in the document. */
type UrlParts = Readonly<{
  template: UrlTemplate
  placeholders: readonly Parameter[]
  query: readonly Parameter[]
  path: string
  limitBytes: number
}>

/**
 * The URL for one message, with references in place of secrets if `resolveSecret` is undefined. Fails with PARAMETER_INVALID,
 * also for a URL of more than `limitBytes`.
 */
export function fillUrl(
  { template, placeholders, query, path, limitBytes }: UrlParts,
  scope: CallScope,
  resolveSecret?: (reference: Reference) => string,
): string {
  const values: Record<string, string> = {}
  let characters = 0
  const readText = (parameter: Parameter): string | undefined => {
    const text = parameterText(parameter, scope)
    characters += text?.length ?? 0
    // Before it is encoded, which takes the most time.
    if (characters > limitBytes) throw tooLong(`the value of "${parameter.source.text}" in it`, parameter.path)
    return text
  }
  const tooLong = (cause: string, at: string) =>
    new Failure(
      'PARAMETER_INVALID',
      `The URL of this request is longer than ${limitBytes} bytes (REQUEST_URL_LIMIT): ${cause} is too long. Send the value in a body, or shorten it.`,
      { path: at },
    )
  for (const parameter of placeholders) {
    const value = readText(parameter)
    if (value === undefined) {
      const { source, name, path: at } = parameter
      throw new Failure('PARAMETER_INVALID', `"${source.text}" found nothing for the URL's :${name}.`, { path: at })
    }
    values[parameter.name] = value
  }
  const filled = template.fill(values, resolveSecret)
  if (!filled.ok) throw new Failure('PARAMETER_INVALID', filled.message, { path: documentPath(path, 'config', 'url') })
  const pairs = query.flatMap((parameter) => {
    const value = readText(parameter)
    return value === undefined ? [] : [[parameter.name, value] as const]
  })
  const url = pairs.length === 0 ? filled.value : appendQuery(filled.value, pairs)
  if (url.length > limitBytes) throw tooLong('the whole of it, percent-encoded,', documentPath(path, 'config', 'url'))
  return url
}

/** The text of a parameter: arrays joined by commas; undefined if its path finds nothing. Fails with PARAMETER_INVALID. */
export function parameterText(
  { source, prefix, postfix, path }: Parameter,
  scope: CallScope,
  purpose = 'stand in a URL',
): string | undefined {
  const value = source.read(scope)
  const elements = (Array.isArray(value) ? value : [value]).filter(
    (element) => element !== undefined && element !== null,
  )
  if (elements.length === 0) return undefined
  const odd = elements.find((element) => typeof element === 'object')
  if (odd !== undefined) {
    throw new Failure(
      'PARAMETER_INVALID',
      `"${source.text}" gave ${isObject(odd) ? 'an object' : 'an array of arrays'}, which cannot ${purpose}.`,
      { path },
    )
  }
  const text = `${prefix}${elements.join(',')}${postfix}`
  if (text.isWellFormed()) return text
  throw new Failure('PARAMETER_INVALID', `"${source.text}" gave a text that is not valid Unicode.`, { path })
}
