/**
 * Limits the log lines of shed messages: under overload, a line for each would be most of the work. Metrics and the message
 * log count all of them.
 */
import { kindForCode } from '../core/failure-table.ts'
import type { Logger } from '../core/ports/logger-port.ts'

const WINDOW_MS = 1_000
const LINES_A_WINDOW = 10

/** Out: whether a message with this code gets its line. Each second one line counts the messages without. */
export function createShedLines(logger: Logger): (code: string) => boolean {
  let lines = 0
  let more = 0
  let isOpen = false

  const close = (): void => {
    if (more > 0) logger.warn({ more }, `${more} more messages were shed within a second`)
    lines = 0
    more = 0
    isOpen = false
  }
  return (code) => {
    if (kindForCode(code).shed !== 'load') return true
    if (!isOpen) setTimeout(close, WINDOW_MS).unref()
    isOpen = true
    lines += 1
    if (lines <= LINES_A_WINDOW) return true
    more += 1
    return false
  }
}
