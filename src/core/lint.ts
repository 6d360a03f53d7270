/** Faults of a configuration as data: compiling never throws for a bad document, so that one answer lists every fault. */
export type Lint = Readonly<{
  /** Place in the document, for example `requests.lookup[0].config.url`; empty for the document as a whole. */
  path: string
  /** What is wrong and what to do about it, in one sentence. */
  message: string
  /** A document with an error is refused; a warning is reported and the document accepted. */
  severity: 'error' | 'warning'
  /**
   * Of an error: stored documents are older than its rule, and run although they violate it. They stay active; when one is
   * sent again, it is refused.
   */
  toleratedInStored?: true
}>

export const isError = ({ severity }: Pick<Lint, 'severity'>): boolean => severity === 'error'
export const isWarning = ({ severity }: Pick<Lint, 'severity'>): boolean => severity === 'warning'

/** A stored document with such a fault cannot be an active endpoint. */
export const preventsActivation = ({ severity, toleratedInStored }: Lint): boolean =>
  isError({ severity }) && !toleratedInStored

/** Faults as answers and reports have them. */
export const toFaults = (lints: readonly Pick<Lint, 'path' | 'message'>[]) =>
  lints.map(({ path, message }) => ({ path, message }))

/** What reading a piece of configuration gives: the value, or one sentence that says what is wrong with it. */
export type Result<T> = Readonly<{ ok: true; value: T }> | Readonly<{ ok: false; message: string }>

export const found = <T>(value: T): Result<T> => ({ ok: true, value })
export const fault = <T = never>(message: string): Result<T> => ({ ok: false, message })

/** Compiling reports to it; `at` gives the sink of a path further in. */
export type LintSink = Readonly<{
  path: string
  error(message: string, options?: Pick<Lint, 'toleratedInStored'>): void
  warning(message: string): void
  at(...segments: readonly (string | number)[]): LintSink
  /** The same for a path in its written form, relative to this one. */
  below(written: string): LintSink
}>

/**
 * Characters of a place. A name may be as long as a message or a document, and everything below it has a place of its own:
 * the length of places times their number must not fill the memory.
 */
const MAX_LOCATION_CHARACTERS = 1_000

/** Appends segments to a path: names joined by dots (dots within a name escaped), numbers as `[n]`. */
export function documentPath(base: string, ...segments: readonly (string | number)[]): string {
  let path = base
  for (const segment of segments) {
    if (typeof segment === 'number') path = joined(path, `[${segment}]`)
    else path = joined(path, (path === '' ? '' : '.') + shortName(segment).replaceAll('.', '\\.'))
  }
  return path
}

/** In: two paths in their written form, the second from the first on. Out: both as one. */
export function joinPaths(base: string, written: string): string {
  if (base === '' || written === '') return base + written
  return joined(base, written.startsWith('[') ? written : `.${written}`)
}

/** Appends names to a JSON Pointer (RFC 6901). */
export function pointerTo(base: string, ...names: readonly (string | number)[]): string {
  let pointer = base
  for (const name of names) pointer = joined(pointer, `/${pointerName(String(name))}`)
  return pointer
}

/** A name as a JSON Pointer has it. */
export const pointerName = (name: string): string =>
  shortName(shortName(name).replaceAll('~', '~0').replaceAll('/', '~1'))

/** No more of a name than a place can have, and one more, by which the place is cut: a long one takes time to escape. */
const shortName = (name: string): string =>
  name.length > MAX_LOCATION_CHARACTERS ? name.slice(0, MAX_LOCATION_CHARACTERS + 1) : name

/** What was cut stays unchanged. */
const joined = (place: string, more: string): string =>
  place.length > MAX_LOCATION_CHARACTERS ? place : shown(place + more)

/** A name or place in a sentence. */
export const shown = (text: string): string =>
  text.length > MAX_LOCATION_CHARACTERS ? `${text.slice(0, MAX_LOCATION_CHARACTERS).toWellFormed()}…` : text

/** A sink that adds to `lints`. */
export function collectInto(lints: Lint[], path = ''): LintSink {
  return {
    path,
    error: (message, options) => void lints.push({ path, message, severity: 'error', ...options }),
    warning: (message) => void lints.push({ path, message, severity: 'warning' }),
    at: (...segments) => collectInto(lints, documentPath(path, ...segments)),
    below: (written) => collectInto(lints, joinPaths(path, written)),
  }
}
