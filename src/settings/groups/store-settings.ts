/** The settings of the store. */

import type { Setting } from '../setting-kinds.ts'
import { databaseUrl, milliseconds, wholeNumber } from '../setting-kinds.ts'

export const store = {
  databaseUrl: {
    name: 'DATABASE_URL',
    kind: databaseUrl,
    default: 'sqlite:./data/crosswalk.db',
    means:
      'Where endpoints and their state are stored: in a file for one service (a relative path starts at the working directory), or in a PostgreSQL that any number of instances share.',
    secret: true,
  },
  databasePoolSize: {
    name: 'DATABASE_POOL_SIZE',
    kind: wholeNumber(1, 1_000),
    default: '10',
    means:
      'The most connections of one instance to PostgreSQL, over all its `WORKERS`, of which each has one at least; each has another one on which it hears of changes and up to three for the message log.',
  },
  databaseTimeoutMs: {
    name: 'DATABASE_TIMEOUT_MS',
    kind: milliseconds,
    default: '5000',
    means: 'How long PostgreSQL may take to answer before it counts as away.',
  },
  databaseStartTimeoutMs: {
    name: 'DATABASE_START_TIMEOUT_MS',
    kind: wholeNumber(0, 86_400_000),
    default: '30000',
    means:
      'How long the start waits for a PostgreSQL that cannot be reached yet, or for another instance that brings its tables up to date (for that 10 s at least).',
  },
} as const satisfies Record<string, Setting<unknown>>
