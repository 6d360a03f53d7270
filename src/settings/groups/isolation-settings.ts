/** The settings of the processes in which expressions and schemas of documents may run. */

import type { Setting } from '../setting-kinds.ts'
import { choice, wholeNumber } from '../setting-kinds.ts'

export const isolation = {
  isolation: {
    name: 'ISOLATION',
    kind: choice('none', 'process'),
    default: 'none',
    means:
      '`process` runs `inputTransforms` and `inputValidation` in processes of their own, which have no network, files or environment and are ended where they take too long or too much memory (docs/security.md).',
  },
  isolationProcesses: {
    name: 'ISOLATION_PROCESSES',
    kind: wholeNumber(1, 64),
    default: '2',
    means:
      'How many such processes each of the `WORKERS` has for calls that are quick, and as many again for those that are not.',
  },
  isolationMemoryMb: {
    name: 'ISOLATION_MEMORY_MB',
    kind: wholeNumber(32, 65_536),
    default: '256',
    means: 'How much memory, in MiB, values may take in one such process; one that needs more is ended.',
  },
} as const satisfies Record<string, Setting<unknown>>
