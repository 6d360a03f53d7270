/** The one error of reading: JSON, XML and charsets share it, so that a caller maps reasons to failures once. */

/**
 * A body that cannot be read. Its message is a whole sentence with the position where there is one; it never repeats
 * the body's own text, which may hold what nobody but the receiver should see, so it is safe to send and to log.
 */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
  readonly reason: 'malformed' | 'too-deep'

  constructor(reason: 'malformed' | 'too-deep', message: string) {
    super(message)
    this.reason = reason
  }
}
