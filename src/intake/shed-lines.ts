/**
 * Bounds what is logged of messages that are turned away: a line for each would be most of the work in the moments in which
 * there is too much of it. Metrics and the message log count all of them.
 */
import { kindOf } from '../domain/failure-table.ts'
import type { Logger } from '../domain/ports/logger-port.ts'

const WINDOW_MS = 1_000
const LINES_A_WINDOW = 10

/** Tells of a message with this code whether it gets its line; of the others, how many they were is logged each second. */
export function createTurnedAwayLines(logger: Logger): (code: string) => boolean {
  let lines = 0
  let more = 0
  let isOpen = false

  const close = (): void => {
    if (more > 0) logger.warn({ more }, `${more} more messages were turned away within a second`)
    lines = 0
    more = 0
    isOpen = false
  }
  return (code) => {
    if (kindOf(code).shed !== 'load') return true
    if (!isOpen) setTimeout(close, WINDOW_MS).unref()
    isOpen = true
    lines += 1
    if (lines <= LINES_A_WINDOW) return true
    more += 1
    return false
  }
}
