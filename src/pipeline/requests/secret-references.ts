/**
 * References to secrets in a document, resolved at each use. The values are noted in the trace, so that records and logs of
 * the message have references in their place.
 */
import { Failure } from '../../core/failure.ts'
import { changeTexts, isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import type { Run } from '../../core/run.ts'
import {
  almostReference,
  compileReferences,
  parseReferences,
  type Reference,
  referencesIn,
  type SecretSource,
  type SecretValues,
} from '../../core/secrets/secrets.ts'
import { noteSecrets } from '../../core/tracing/trace.ts'
import { isHeaderValue, NO_HEADER_VALUE } from '../../language/headers.ts'
import type { UrlTemplate } from '../../language/url-template.ts'

/** Gives the value of a reference and notes it. Fails with SECRET_UNAVAILABLE at `path` of the document. */
type ResolveSecret = (reference: Reference, path: string) => string

export type SecretCollector = Readonly<{
  resolve: ResolveSecret
  /** Notes a further value, such as a part of that of a reference, and the text that is shown in its place. */
  note(shown: string, value: string): void
  values: SecretValues
}>

/** Collects the secrets of one request or message. */
export function createSecretCollector(source: SecretSource): SecretCollector {
  const values = new Map<string, string>()
  return {
    values,
    note: (shown, value) => void values.set(value, shown),
    resolve: ({ text }, path) => {
      const value = at(path, () => source.resolve(text))
      values.set(value, text)
      return value
    },
  }
}

function at<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    throw new Failure(thrown.code, thrown.message, { ...thrown.options, path })
  }
}

/** Lints, as warnings: secrets that are unavailable now, and text that looks like a reference but is none. */
export function lintReferences(text: string, source: SecretSource, lint: LintSink): void {
  const almost = almostReference(text)
  if (almost !== undefined) lint.warning(almost)
  for (const reference of referencesIn(text)) {
    try {
      source.resolve(reference.text)
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      lint.warning(thrown.message)
    }
  }
}

/** Undefined if the text has no references. */
export function compileText(text: string, path: string): ((resolve: ResolveSecret) => string) | undefined {
  const parts = parseReferences(text)
  return parts && ((resolve) => parts.map((part) => (typeof part === 'string' ? part : resolve(part, path))).join(''))
}

type SecretHeaders = (resolve: ResolveSecret) => Readonly<Record<string, string>>

/** In: headers as written, with `lint` at them. Out: lower-case names; undefined if no header has references. */
export function compileHeaders(
  headers: Readonly<Record<string, string>>,
  source: SecretSource,
  lint: LintSink,
): SecretHeaders | undefined {
  const texts = Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text] as const)
  const compiled = Object.entries(headers).flatMap(([name, text]) => {
    const { path } = lint.at(name)
    lintReferences(text, source, lint.at(name))
    const read = compileText(text, path)
    return read === undefined ? [] : [{ name: name.toLowerCase(), path, read }]
  })
  if (compiled.length === 0) return undefined
  return (resolve) => {
    const resolved = Object.fromEntries(texts)
    for (const { name, path, read } of compiled) {
      const value = read(resolve)
      if (!isHeaderValue(value)) {
        throw new Failure('SECRET_UNAVAILABLE', `A secret of the header "${name}" ${NO_HEADER_VALUE}.`, { path })
      }
      resolved[name] = value
    }
    return resolved
  }
}

/** In characters. A short part such as `/api` isn't a secret, and occurs in many texts. */
const MIN_PART_CHARACTERS = 8

/** Gives the values of the references in a URL, as its template reads them. */
export const collectUrlSecrets =
  ({ base }: UrlTemplate, { resolve, note }: SecretCollector, path: string) =>
  (reference: Reference): string => {
    const value = resolve(reference, path)
    if (reference !== base?.reference) return value
    const read = base.read(value)
    if (read.ok) {
      const { pathname, search, searchParams } = new URL(read.value)
      // The target may repeat its own path and query.
      const parts = [`${pathname}${search}`, pathname, ...searchParams.values()]
      for (const part of parts) if (part.length >= MIN_PART_CHARACTERS) note(reference.text, part)
      return read.value
    }
    throw new Failure('SECRET_UNAVAILABLE', `The secret "${reference.text}" ${read.message}.`, { path })
  }

/** Resolves the constants for one message. Fails with SECRET_UNAVAILABLE. */
export function compileConstants(
  constants: JsonObject,
  source: SecretSource,
  lint: LintSink,
): ((run: Run) => JsonObject) | undefined {
  const compiled = compileTexts(constants, source, lint)
  if (compiled === undefined) return undefined
  return (run) => {
    const { resolve, values } = createSecretCollector(source)
    const resolved = compiled(resolve) as JsonObject
    noteSecrets(run.trace, values)
    return resolved
  }
}

function compileTexts(
  value: Json,
  source: SecretSource,
  lint: LintSink,
): ((resolve: ResolveSecret) => Json) | undefined {
  if (typeof value === 'string') {
    lintReferences(value, source, lint)
    return compileText(value, lint.path)
  }
  const isList = Array.isArray(value)
  if (!isList && !isObject(value)) return undefined
  const parts = Object.entries(value).flatMap(([name, inner]) => {
    const read = compileTexts(inner, source, lint.at(isList ? Number(name) : name))
    return read === undefined ? [] : [[name, read] as const]
  })
  if (parts.length === 0) return undefined
  return (resolve) => {
    const read = Object.fromEntries(parts.map(([name, part]) => [name, part(resolve)]))
    return isList ? value.map((item, index) => read[index] ?? item) : { ...value, ...read }
  }
}

/** The failure with references in place of secrets. */
export function withoutValues(failure: Failure, secrets: SecretValues | undefined): Failure {
  if (secrets === undefined) return failure
  const hide = compileReferences(secrets)
  const { details, ownDetails, issues, unquoted } = failure.options
  const safe = new Failure(failure.code, hide(failure.message), {
    ...failure.options,
    ...(details === undefined ? {} : { details: details.map((one) => ({ ...one, message: hide(one.message) })) }),
    ...(ownDetails === undefined ? {} : { ownDetails: changeTexts(ownDetails, hide) }),
    ...(issues === undefined ? {} : { issues: issues.map((issue) => changeTexts(issue, hide) as JsonObject) }),
    ...(unquoted === undefined ? {} : { unquoted: hide(unquoted) }),
    ...(failure.cause === undefined ? {} : { cause: withoutValuesIn(failure.cause, hide) }),
  })
  safe.stage = failure.stage
  return safe
}

/** The cause of a bug goes into the log. */
function withoutValuesIn(cause: unknown, hide: (text: string) => string): unknown {
  if (!(cause instanceof Error)) return typeof cause === 'string' ? hide(cause) : undefined
  const safe = new Error(hide(cause.message))
  safe.name = cause.name
  safe.stack = hide(cause.stack ?? '')
  return safe
}
