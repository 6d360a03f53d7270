/** The two errors of formats: every codec throws them, so that a stage maps them to failures once. */

type Reason = 'malformed' | 'too-deep' | 'too-many'

/**
 * A body that cannot be read. Its message is a whole sentence with the position where there is one. It never repeats the
 * text of the body, so it is safe to send.
 */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
  readonly reason: Reason
  /** For the log: without the names of charsets, which the sender chooses. */
  readonly unquoted: string

  constructor(reason: Reason, message: string, unquoted = message) {
    super(message)
    this.reason = reason
    this.unquoted = unquoted
  }
}

/** A value that a format cannot hold. The message is a whole sentence with the path, whose names come from the value. */
export class Unwritable extends Error {
  override readonly name = 'Unwritable'
  /** For the log: without names from the value. */
  readonly unquoted: string

  /** `format`: the name of the codec; `path`: within the value, empty for the value as a whole. */
  constructor(format: string, path: string, problem: string) {
    super(`The output cannot be written as ${format}: ${path === '' ? '' : `at "${path}", `}${problem}.`)
    this.unquoted = `The output cannot be written as ${format}.`
  }

  /** The sentences of a value that is not the output. */
  about(subject: string): Readonly<{ message: string; unquoted: string }> {
    const change = (text: string) => text.replace(/^The output/, () => subject)
    return { message: change(this.message), unquoted: change(this.unquoted) }
  }
}

/** A value whose text is longer than allowed. */
export class TooLong extends Unwritable {
  /** Characters that were written so far. */
  readonly length: number

  constructor(format: string, path: string, length: number, limit: number) {
    super(format, path, `the output is longer than ${limit} characters`)
    this.length = length
  }
}
