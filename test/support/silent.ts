import type { Logger } from '../../src/core/ports/logger-port.ts'

/** For what is not about the log. */
export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, repeat: () => () => {} }
