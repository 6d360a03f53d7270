/** The settings of the message log. */
import { fault, found } from '../../domain/lint.ts'
import { isHeaderName } from '../../language/headers.ts'
import { parseSteps } from '../../language/paths/path-steps.ts'
import type { Setting } from '../setting-kinds.ts'
import { choice, type Kind, size, wholeNumber } from '../setting-kinds.ts'

/** Nothing, or texts joined by commas. Faults repeat no value, which may be long or hold line breaks. */
function list(accepts: string, isItem: (item: string) => boolean): Kind<readonly string[]> {
  return {
    accepts,
    parse: (text) => {
      const items = text.split(',').flatMap((item) => item.trim() || [])
      return items.every(isItem) ? found(items) : fault(`Give ${accepts}.`)
    },
  }
}

const headerNames = list('nothing, or names of headers joined by commas', isHeaderName)

/** `?` and `+` mean something in targets only: whoever writes one here means a name that holds it, or another place. */
const isPath = (text: string): boolean => parseSteps(text, 'path').ok && !/(?<!\\)[?+]/.test(text)

const paths = list('nothing, or paths such as `patient.name` joined by commas', isPath)

export const messageLog = {
  messageLog: {
    name: 'MESSAGE_LOG',
    kind: choice('off', 'metadata', 'failures', 'all'),
    default: 'failures',
    means:
      'What is kept of each message: nothing, its record, the bodies too where it did not end `done`, or always. An endpoint can have its own `messageLog`.',
  },
  messageLogBodyLimitBytes: {
    name: 'MESSAGE_LOG_BODY_LIMIT',
    kind: size(10),
    default: '64kb',
    means:
      'How much of each body is kept; a longer one is cut, and marked as cut. A message keeps 16 times as much in all.',
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
    means: 'How many MiB all records may take; the oldest are removed where there are more.',
  },
  redactHeaders: {
    name: 'REDACT_HEADERS',
    kind: headerNames,
    default: '',
    means:
      'Headers that are never kept, besides `authorization`, `cookie`, `set-cookie`, `x-api-key` and `proxy-authorization`.',
  },
  redactPaths: {
    name: 'REDACT_PATHS',
    kind: paths,
    default: '',
    means:
      'Paths whose values are masked in every body that is kept, wherever in it their names follow each other: `ssn,patient.name`. Of a body that cannot be read only the size is kept.',
  },
} as const satisfies Record<string, Setting<unknown>>
