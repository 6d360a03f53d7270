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

/** Whether a stored document with this fault cannot be an active endpoint. */
export const keepsOut = ({ severity, toleratedInStored }: Lint): boolean => severity === 'error' && !toleratedInStored

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

/** Appends segments to a path: names joined by dots (dots within a name escaped), numbers as `[n]`. */
export function documentPath(base: string, ...segments: readonly (string | number)[]): string {
  let text = base
  for (const segment of segments) {
    if (typeof segment === 'number') text += `[${segment}]`
    else text += (text === '' ? '' : '.') + segment.replaceAll('.', '\\.')
  }
  return text
}

/** In: two paths in their written form, the second from the first on. Out: both as one. */
export function joinPaths(base: string, written: string): string {
  if (base === '' || written === '') return base + written
  return written.startsWith('[') ? base + written : `${base}.${written}`
}

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
