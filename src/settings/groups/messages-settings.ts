/** The settings of receiving and processing messages, and of endpoints with `idempotency`. */
import { flag, milliseconds, optional, type Setting, size, wholeNumber, workerCount } from '../setting-kinds.ts'
import { limits } from './limits-settings.ts'

export const messages = {
  workers: {
    name: 'WORKERS',
    kind: workerCount,
    default: '1',
    means: 'How many processes handle messages; `auto`: one for each core that the service may use.',
  },
  parserLimitBytes: {
    name: 'PARSER_LIMIT',
    kind: size(100),
    default: '1mb',
    means: 'The largest body of a message or an endpoint document; a larger one is answered with 413.',
  },
  parserMaxNames: {
    name: 'PARSER_MAX_NAMES',
    kind: wholeNumber(1, 100_000_000),
    default: '300000',
    means:
      'The most names in a message or in an answer of another system: members of JSON objects, elements and attributes of XML, values of CSV, fields of a form, all together. In JSON over 1 MiB, also the most objects and arrays. A message with more is answered with 413; an answer with more counts as a 502. A body of 1 MiB in JSON or XML cannot have as many.',
  },
  parserMaxNamesPerObject: {
    name: 'PARSER_MAX_NAMES_PER_OBJECT',
    kind: wholeNumber(1, 100_000_000),
    default: '10000',
    means:
      'The most different names in one object or element: members of a JSON object, attributes of an XML element, names of its children, columns of a CSV, names in a form.',
  },
  parserXmlTrim: {
    name: 'PARSER_XML_OPTIONS_TRIM',
    kind: flag,
    default: 'true',
    means: 'Whether white space around the text of XML elements is removed.',
  },
  parserXmlExplicitRoot: {
    name: 'PARSER_XML_OPTIONS_EXPLICIT_ROOT',
    kind: flag,
    default: 'false',
    means: 'Whether the root element of XML stays as the only top-level name.',
  },
  parserXmlExplicitArray: {
    name: 'PARSER_XML_OPTIONS_EXPLICIT_ARRAY',
    kind: flag,
    default: 'false',
    means: 'Whether every XML child is an array, even if it occurs once.',
  },
  validationAcceptNullValues: {
    name: 'VALIDATION_ACCEPT_NULL_VALUES',
    kind: flag,
    default: 'false',
    means: 'Whether null is valid for any type in `inputValidation` and in the `validation` of lookups.',
  },
  validationCoerceTypes: {
    name: 'VALIDATION_COERCE_TYPES',
    kind: flag,
    default: 'false',
    means:
      'Whether values are converted to the type that `inputValidation`, or the `validation` of a lookup, requires; later stages see the converted values.',
  },
  messageTimeoutMs: {
    name: 'MESSAGE_TIMEOUT_MS',
    kind: milliseconds,
    default: '30000',
    means: 'How long a message may take from its arrival to its answer; then it is answered with 504.',
  },
  messageMaxBytes: {
    name: 'MESSAGE_MAX_BYTES',
    kind: optional(size(10_000)),
    default: '',
    means:
      'How many bytes one message may produce in all: URLs and bodies of its requests, answers that it reads, its state and its output. A message that needs more is answered with 413. If it is not set, `24mb`, or four times `PARSER_LIMIT` where that is more.',
  },
  stateLimitBytes: {
    name: 'STATE_LIMIT',
    kind: size(100),
    default: '1mb',
    means:
      'The most bytes that the values of `state.extract` of one message may have as JSON; with more, it is answered with 413.',
  },
  ...limits,
  shutdownTimeoutMs: {
    name: 'SHUTDOWN_TIMEOUT_MS',
    kind: wholeNumber(0, 86_400_000),
    default: '30000',
    means: 'How long messages in flight may continue after a signal to stop.',
  },
} as const satisfies Record<string, Setting<unknown>>

export const idempotency = {
  idempotencyAnswerLimitBytes: {
    name: 'IDEMPOTENCY_ANSWER_LIMIT',
    kind: size(100),
    default: '1mb',
    means:
      'The largest body of a response that is stored for replay. Of a larger one, only the fact is stored that its message was done: the same message sent again is answered with 409.',
  },
  idempotencyMaxMb: {
    name: 'IDEMPOTENCY_MAX_MB',
    kind: wholeNumber(1, 1_000_000),
    default: '1024',
    means:
      'About how many MiB all stored responses may take. An endpoint whose responses take as much as is left for all others answers messages with new keys with 503 until some have expired.',
  },
} as const satisfies Record<string, Setting<unknown>>
