/** The settings of the log and the metrics. */
import { choice, flag, type Setting, wholeNumber } from '../setting-kinds.ts'

export const log = {
  logLevel: {
    name: 'LOG_LEVEL',
    kind: choice('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    default: 'info',
    means: 'The lowest level that is logged.',
  },
  logMessages: {
    name: 'LOG_MESSAGES',
    kind: choice('failed', 'all', 'none'),
    default: 'failed',
    means:
      'Which messages have a line in the log: those that did not end `done`, all, or none. A fault of the service itself always has one, with its cause.',
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
      'How many endpoints have metrics of their own; the messages of further endpoints are counted together, as endpoint `(others)`.',
  },
  driftSample: {
    name: 'DRIFT_SAMPLE',
    kind: wholeNumber(0, 1_000_000_000),
    default: '1000',
    means:
      'One in this many messages of an endpoint, at most one a second, is examined for the names of its fields (`GET /endpoints/{id}/drift`); 0 examines none.',
  },
} as const satisfies Record<string, Setting<unknown>>
