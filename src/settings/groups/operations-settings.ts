/** The settings of what operators watch: the log and the metrics. */

import type { Setting } from '../setting-kinds.ts'
import { choice, flag, wholeNumber } from '../setting-kinds.ts'

export const log = {
  logLevel: {
    name: 'LOG_LEVEL',
    kind: choice('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    default: 'info',
    means: 'The least severe events that are logged.',
  },
  enableLogging: {
    name: 'ENABLE_LOGGING',
    kind: flag,
    default: 'true',
    means: '`false` logs nothing at all, whatever `LOG_LEVEL` says.',
  },
} as const satisfies Record<string, Setting<unknown>>

export const metrics = {
  metricsMaxEndpoints: {
    name: 'METRICS_MAX_ENDPOINTS',
    kind: wholeNumber(0, 100_000),
    default: '1000',
    means:
      'How many endpoints `/metrics` tells one by one; the messages of further ones are counted together, as endpoint `(others)`.',
  },
} as const satisfies Record<string, Setting<unknown>>
