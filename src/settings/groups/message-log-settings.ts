/** The settings of the message log. */
import { isHeaderName } from '../../language/headers.ts'
import { parseSteps } from '../../language/paths/path-steps.ts'
import {
  choice,
  createKind,
  type Kind,
  optional,
  type Setting,
  size,
  splitList,
  wholeNumber,
} from '../setting-kinds.ts'

const list = (accepts: string, isItem: (item: string) => boolean): Kind<readonly string[]> =>
  createKind(accepts, (text) => {
    const items = splitList(text)
    return items.every(isItem) ? items : undefined
  })

const headerNames = list('nothing, or names of headers joined by commas', isHeaderName)

/** Without `?` and `+`, which have a meaning in targets only, so that here they are probably a slip. */
const isPath = (text: string): boolean => parseSteps(text, 'path').ok && !/(?<!\\)[?+]/.test(text)

const paths = list('nothing, or paths such as `patient.name` joined by commas', isPath)

export const messageLog = {
  messageLog: {
    name: 'MESSAGE_LOG',
    kind: choice('off', 'metadata', 'failures', 'all'),
    default: 'failures',
    means:
      'What the message log stores of each message: nothing, its record, its record with the bodies if the outcome is not `done`, or always with the bodies. An endpoint can have its own `messageLog`.',
  },
  messageLogBodyLimitBytes: {
    name: 'MESSAGE_LOG_BODY_LIMIT',
    kind: size(10),
    default: '64kb',
    means:
      'How much of each body is stored; a longer body is cut and marked as cut. All bodies of a message together: 16 times as much. The incoming message is stored whole, up to `PARSER_LIMIT`, if its outcome is not `done`, so that it can be replayed; so are the answers of the lookups of a poll, together.',
  },
  messageLogDays: {
    name: 'MESSAGE_LOG_DAYS',
    kind: wholeNumber(1, 3_650),
    default: '7',
    means: 'How many days records are kept.',
  },
  messageLogMaxMb: {
    name: 'MESSAGE_LOG_MAX_MB',
    kind: wholeNumber(1, 1_000_000),
    default: '1024',
    means:
      'How many MiB all records may take; beyond that, the oldest records of the endpoints that take the most are removed.',
  },
  messageLogDiskReserveMb: {
    name: 'MESSAGE_LOG_DISK_RESERVE_MB',
    kind: optional(wholeNumber(0, 10_000_000)),
    default: '',
    means:
      'How many MiB of its disk the message log leaves to the store, in SQLite. With less free space the oldest records are removed, and with less than half of it no record is stored. If it is not set, 256, or a tenth of the disk if that is less.',
  },
  redactHeaders: {
    name: 'REDACT_HEADERS',
    kind: headerNames,
    default: '',
    means:
      'Headers that are never stored, besides `authorization`, `cookie`, `set-cookie`, `x-api-key` and `proxy-authorization`.',
  },
  redactPaths: {
    name: 'REDACT_PATHS',
    kind: paths,
    default: '',
    means:
      'Paths whose values are redacted in every stored body, at any depth: `ssn,patient.name`. Of a body that cannot be parsed, only the size is stored.',
  },
} as const satisfies Record<string, Setting<unknown>>
