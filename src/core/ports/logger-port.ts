/** The log of the service: structured lines, one event each. */

export type Logger = Readonly<{
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  /**
   * Prepares a line at the level `info` for an event that nearly every message causes: `fields` are given once.
   * Out: the function that writes one such line, for a message id and a duration in milliseconds.
   */
  repeat(fields: object, message: string): (messageId: string, ms: number) => void
}>
