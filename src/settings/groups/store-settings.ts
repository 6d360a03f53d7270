/** The settings of the store. */
import { databaseUrl, milliseconds, type Setting, wholeNumber } from '../setting-kinds.ts'

export const store = {
  databaseUrl: {
    name: 'DATABASE_URL',
    kind: databaseUrl,
    default: 'sqlite:./data/crosswalk.db',
    means:
      'The store of endpoints and their state: a file for one service (a relative path starts at the working directory), or a PostgreSQL that any number of instances share.',
    secret: true,
  },
  databasePoolSize: {
    name: 'DATABASE_POOL_SIZE',
    kind: wholeNumber(1, 1_000),
    default: '10',
    means:
      'The most connections of one instance to PostgreSQL; all its `WORKERS` share them, and each has at least one. Each has one more for changes of other instances, and up to three for the message log.',
  },
  databaseTimeoutMs: {
    name: 'DATABASE_TIMEOUT_MS',
    kind: milliseconds,
    default: '5000',
    means: 'How long PostgreSQL may take to answer before it counts as unavailable.',
  },
  databaseStartTimeoutMs: {
    name: 'DATABASE_START_TIMEOUT_MS',
    kind: wholeNumber(0, 86_400_000),
    default: '30000',
    means:
      'How long the start waits for a PostgreSQL that cannot be reached yet, or for another instance that updates the tables (for that, at least 10 s).',
  },
} as const satisfies Record<string, Setting<unknown>>
