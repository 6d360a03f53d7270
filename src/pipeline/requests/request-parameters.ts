import { Failure } from '../../core/failure.ts'
import { type Awaitable, isObject, type Json, type JsonObject, typeName } from '../../core/json.ts'
import { documentPath, type LintSink } from '../../core/lint.ts'
import type { Run } from '../../core/run.ts'
import type { Reference } from '../../core/secrets/secrets.ts'
import { checkPath } from '../../document/checks/path-roots.ts'
import { namesRead } from '../../document/reads/lookup-order.ts'
import type { Endpoint, ParameterSpec } from '../../document/schema/schema.ts'
import type { ReferenceStage } from '../../document/schema/schema-fields.ts'
import { isHeaderValue, NO_HEADER_VALUE } from '../../language/headers.ts'
import { type PathSource, parsePath, type SourcePath } from '../../language/paths/path.ts'
import { appendQuery, type UrlTemplate } from '../../language/url-template.ts'
import { createExpressionCompiler, type Evaluate } from '../expressions.ts'
import type { PipelineSettings, Services } from '../services.ts'

/** A message, with `item` inside a forEach. */
export type CallScope = PathSource

export type Parameter = Readonly<{
  name: string
  /** Its place in the document. */
  path: string
  /** Its path or expression, as written. */
  text: string
  /** Of an expression, the value is in `evaluated`. */
  read(scope: CallScope, evaluated: Evaluated): Json | undefined
  evaluate: Evaluate | undefined
  prefix: string
  postfix: string
}>

/** What the expressions of a request gave for one message, by their places. */
export type Evaluated = ReadonlyMap<string, Json | undefined>

/** Compiles what a request reads of its message; `inside`: whether it is read for each item. */
export type Reader = Readonly<{
  /** Lints a path that its stage cannot read. */
  check(path: SourcePath, inside: boolean, lint: LintSink): void
  compile(expression: string, lint: LintSink): Evaluate
}>

/** Of a value that is read once: its path or expression sees what `stage` has. */
export function createReader(
  stage: ReferenceStage,
  endpoint: Endpoint,
  services: Services,
  settings: PipelineSettings,
): Reader {
  const compile = createExpressionCompiler(endpoint, settings, services)
  return {
    check: (path, _inside, lint) => checkPath(path, stage, endpoint, lint),
    compile: (text, lint) => compile(text, stage, lint),
  }
}

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

/** Empty if the parameter is at fault, which goes to `lint`. */
export function compileParameter(name: string, spec: ParameterSpec, reader: Reader, lint: LintSink): Parameter[] {
  const { path, expression, prefix = '', postfix = '' } = spec
  const parameter = { name, path: lint.path, prefix, postfix }
  if (expression !== undefined && path === undefined) {
    const evaluate = reader.compile(expression, lint.at('expression'))
    const read: Parameter['read'] = (_scope, evaluated) => evaluated.get(lint.path)
    return [{ ...parameter, text: expression, read, evaluate }]
  }
  if (path === undefined || expression !== undefined) {
    lint.error('A value of the message has either a "path" or an "expression"; give one of them.')
    return []
  }
  const source = parseRequestPath(path, lint.at('path'))
  if (source === undefined) return []
  reader.check(source, true, lint.at('path'))
  return [{ ...parameter, text: path, read: (scope) => source.read(scope), evaluate: undefined }]
}

const NOTHING_EVALUATED: Evaluated = new Map()

/** A value of a path or an expression; a text is a path. Undefined if it finds nothing. */
export function compileValue(
  spec: string | Pick<ParameterSpec, 'path' | 'expression'>,
  reader: Reader,
  lint: LintSink,
): (scope: CallScope, run: Run) => Awaitable<Json | undefined> {
  if (typeof spec === 'string') {
    const source = parseRequestPath(spec, lint)
    if (source === undefined) return () => undefined
    reader.check(source, true, lint)
    return (scope) => source.read(scope)
  }
  const [value] = compileParameter('', spec, reader, lint)
  if (value === undefined) return () => undefined
  const { evaluate, read } = value
  return (scope, run) => (evaluate === undefined ? read(scope, NOTHING_EVALUATED) : evaluate(scope as JsonObject, run))
}

/** Out: evaluates the expressions of `parameters` for a message, one after the other. Fails as they do. */
export function compileEvaluation(
  parameters: readonly Parameter[],
): (scope: CallScope, run: Run) => Awaitable<Evaluated> {
  const withExpression = parameters.filter(({ evaluate }) => evaluate !== undefined)
  if (withExpression.length === 0) return () => NOTHING_EVALUATED
  return (scope, run) => evaluateFrom(withExpression, 0, new Map(), scope, run)
}

function evaluateFrom(
  parameters: readonly Parameter[],
  first: number,
  evaluated: Map<string, Json | undefined>,
  scope: CallScope,
  run: Run,
): Awaitable<Evaluated> {
  for (let index = first; index < parameters.length; index += 1) {
    const { path, evaluate } = parameters[index] as Parameter
    const value = evaluate?.(scope as JsonObject, run)
    if (value instanceof Promise) {
      return value.then((later) => evaluateFrom(parameters, index + 1, evaluated.set(path, later), scope, run))
    }
    evaluated.set(path, value)
  }
  return evaluated
}

/** A single value is an array of one if the path has a `[]`: XML does not distinguish them. Fails with FOREACH_INVALID. */
export function compileItems(
  text: string,
  kind: 'LOOKUP' | 'RESPONSE',
  { check }: Reader,
  settings: PipelineSettings,
  lint: LintSink,
): (message: CallScope) => readonly Json[] {
  const source = parseRequestPath(text, lint)
  if (source === undefined) return () => []
  check(source, false, lint)
  // The sender cannot fix the answer of another system.
  const blame = kind === 'LOOKUP' && source.root === 'lookupRequests' ? { status: 502 } : {}
  const limit = settings.forEachMaxItems
  const invalid = (sentence: string) => new Failure('FOREACH_INVALID', sentence, { path: lint.path, ...blame })
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

/** What the URL of a request is made of. `path`: of the request in the document. `isLookup`: it may read other lookups. */
type UrlParts = Readonly<{
  template: UrlTemplate
  placeholders: readonly Parameter[]
  query: readonly Parameter[]
  path: string
  limitBytes: number
  isLookup: boolean
}>

/**
 * The URL for one message, with references in place of secrets if `resolveSecret` is undefined. Fails with PARAMETER_INVALID,
 * also for a URL of more than `limitBytes`.
 */
export function fillUrl(
  { template, placeholders, query, path, limitBytes, isLookup }: UrlParts,
  scope: CallScope,
  evaluated: Evaluated,
  resolveSecret?: (reference: Reference) => string,
): string {
  const values: Record<string, string> = {}
  let characters = 0
  const readText = (parameter: Parameter): string | undefined => {
    const text = parameterText(parameter, scope, evaluated)
    characters += text?.length ?? 0
    // Before it is encoded, which takes the most time.
    if (characters > limitBytes) throw tooLong(`the value of "${parameter.text}" in it`, parameter.path)
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
    if (value === undefined) throw nothingFound(parameter, isLookup)
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

/** The sender is not to blame for what the answer of another lookup lacks. */
function nothingFound({ text, name, path, evaluate }: Parameter, isLookup: boolean): Failure {
  const sentence = `"${text}" found nothing for the URL's :${name}`
  const read = isLookup ? namesRead(evaluate === undefined ? 'path' : 'expression', text) : []
  const isOfLookups = read.length > 0 && read.every(([root]) => root === 'lookupRequests')
  if (!isOfLookups) return new Failure('PARAMETER_INVALID', `${sentence}.`, { path })
  const lookups = [...new Set(read.map(([, id]) => (id === undefined ? 'other lookups' : `the lookup "${id}"`)))]
  return new Failure('PARAMETER_INVALID', `${sentence}: ${lookups.join(' and ')} did not give it.`, {
    path,
    status: 502,
  })
}

/** The text of a parameter: arrays joined by commas; undefined if it finds nothing. Fails with PARAMETER_INVALID. */
export function parameterText(
  { text: written, read, prefix, postfix, path }: Parameter,
  scope: CallScope,
  evaluated: Evaluated,
  purpose = 'stand in a URL',
): string | undefined {
  const value = read(scope, evaluated)
  const elements = (Array.isArray(value) ? value : [value]).filter(
    (element) => element !== undefined && element !== null,
  )
  if (elements.length === 0) return undefined
  const odd = elements.find((element) => typeof element === 'object')
  if (odd !== undefined) {
    throw new Failure(
      'PARAMETER_INVALID',
      `"${written}" gave ${isObject(odd) ? 'an object' : 'an array of arrays'}, which cannot ${purpose}.`,
      { path },
    )
  }
  const text = `${prefix}${elements.join(',')}${postfix}`
  if (text.isWellFormed()) return text
  throw new Failure('PARAMETER_INVALID', `"${written}" gave a text that is not valid Unicode.`, { path })
}

/**
 * The headers whose values are of the message; names in lower case, those that find nothing left out.
 * Fails with PARAMETER_INVALID for a value that no header can hold, or that is longer than `limitBytes`.
 */
export function fillHeaders(
  headers: readonly Parameter[],
  scope: CallScope,
  evaluated: Evaluated,
  limitBytes: number,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    headers.flatMap((header) => {
      const text = parameterText(header, scope, evaluated, 'be the value of a header')
      if (text === undefined) return []
      const invalid = (why: string) =>
        new Failure('PARAMETER_INVALID', `The value of the header "${header.name}" ${why}.`, { path: header.path })
      if (text.length > limitBytes) throw invalid(`is longer than ${limitBytes} bytes (REQUEST_URL_LIMIT)`)
      if (!isHeaderValue(text)) throw invalid(NO_HEADER_VALUE)
      return [[header.name.toLowerCase(), text] as const]
    }),
  )
}
