/** The settings of the isolated processes. */
import { choice, type Setting, wholeNumber } from '../setting-kinds.ts'

export const isolation = {
  isolation: {
    name: 'ISOLATION',
    kind: choice('none', 'process'),
    default: 'none',
    means:
      '`process` runs the expressions and schemas of documents in isolated processes without network, files and environment. A process that takes too much time or memory is killed (docs/security.md).',
  },
  isolationProcesses: {
    name: 'ISOLATION_PROCESSES',
    kind: wholeNumber(1, 64),
    default: '2',
    means: 'How many isolated processes each of the `WORKERS` has for quick calls, and as many again for slow ones.',
  },
  isolationMemoryMb: {
    name: 'ISOLATION_MEMORY_MB',
    kind: wholeNumber(32, 65_536),
    default: '256',
    means: 'How much memory, in MiB, the values in one isolated process may take; a process that needs more is killed.',
  },
} as const satisfies Record<string, Setting<unknown>>
