/** The one error of reading: JSON, XML and charsets share it, so that a caller maps reasons to failures once. */

/**
 * A body that cannot be read. Its message is a whole sentence with the position where there is one; it never repeats
 * the body's own text, which may hold what nobody but the receiver should see, so it is safe to send.
 */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
  readonly reason: 'malformed' | 'too-deep'
  /** For the log: without the names of charsets, which are whatever the sender wrote. */
  readonly unquoted: string

  constructor(reason: 'malformed' | 'too-deep', message: string, unquoted = message) {
    super(message)
    this.reason = reason
    this.unquoted = unquoted
  }
}
