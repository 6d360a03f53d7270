/**
 * Every setting of the service, once: its name in the environment, what it accepts, its default and what it is for.
 * Reading, `--help`, docs/settings.md and .env.example all come from this table.
 */
import { documents } from './settings-documents.ts'
import { expressions } from './settings-expressions.ts'
import { isolation } from './settings-isolation.ts'
import { kafka } from './settings-kafka.ts'
import {
  choice,
  databaseUrl,
  flag,
  type Kind,
  listenAddress,
  milliseconds,
  port,
  size,
  wholeNumber,
  workerCount,
} from './settings-kinds.ts'
import { management } from './settings-management.ts'
import { messageLog } from './settings-message-log.ts'
import { egress, secrets } from './settings-secrets.ts'
import { tracing } from './settings-tracing.ts'

export type Setting<T> = Readonly<{
  /** Name of the environment variable. */
  name: string
  kind: Kind<T>
  /** As a user would write it; empty where the setting has no value of its own. */
  default: string
  /** What it is for, in whole sentences. */
  means: string
  /** The value may hold a secret, so no message repeats it. */
  secret?: true
}>

const limitSize = size(100)

const listeners = {
  serverPort: {
    name: 'SERVER_PORT',
    kind: port,
    default: '3003',
    means: 'Port for messages: the routes of the endpoints. 0 takes any free port.',
  },
  host: {
    name: 'HOST',
    kind: listenAddress,
    default: '127.0.0.1',
    means: 'Address that the message port listens on. `0.0.0.0` is every IPv4 address of the machine.',
  },
  adminPort: {
    name: 'ADMIN_PORT',
    kind: port,
    default: '3004',
    means: 'Port for health, metrics, the console and the management of endpoints. 0 takes any free port.',
  },
  adminHost: {
    name: 'ADMIN_HOST',
    kind: listenAddress,
    default: '127.0.0.1',
    means: 'Address that the admin port listens on.',
  },
  serverHeadersTimeoutMs: {
    name: 'SERVER_HEADERS_TIMEOUT_MS',
    kind: milliseconds,
    default: '10000',
    means: 'How long a caller may take to send the headers of a request; at most `SERVER_REQUEST_TIMEOUT_MS`.',
  },
  serverRequestTimeoutMs: {
    name: 'SERVER_REQUEST_TIMEOUT_MS',
    kind: milliseconds,
    default: '30000',
    means: 'How long a caller may take to send a whole request.',
  },
  serverKeepAliveTimeoutMs: {
    name: 'SERVER_KEEP_ALIVE_TIMEOUT_MS',
    kind: milliseconds,
    default: '72000',
    means: 'How long an idle connection stays open. Keep it above the idle time of a load balancer in front.',
  },
} as const satisfies Record<string, Setting<unknown>>

const store = {
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

const log = {
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

const metrics = {
  metricsMaxEndpoints: {
    name: 'METRICS_MAX_ENDPOINTS',
    kind: wholeNumber(0, 100_000),
    default: '1000',
    means:
      'How many endpoints `/metrics` tells one by one; the messages of further ones are counted together, as endpoint `(others)`.',
  },
} as const satisfies Record<string, Setting<unknown>>

const messages = {
  workers: {
    name: 'WORKERS',
    kind: workerCount,
    default: '1',
    means: 'How many processes take messages; `auto` is one for each core that the service may use.',
  },
  parserLimitBytes: {
    name: 'PARSER_LIMIT',
    kind: limitSize,
    default: '1mb',
    means: 'The largest body of a message or of an endpoint document; a larger one is answered with 413.',
  },
  parserXmlTrim: {
    name: 'PARSER_XML_OPTIONS_TRIM',
    kind: flag,
    default: 'true',
    means: 'Whether white space around the text of XML elements is dropped.',
  },
  parserXmlExplicitRoot: {
    name: 'PARSER_XML_OPTIONS_EXPLICIT_ROOT',
    kind: flag,
    default: 'false',
    means: 'Whether the root element of XML is kept as the one top-level name.',
  },
  parserXmlExplicitArray: {
    name: 'PARSER_XML_OPTIONS_EXPLICIT_ARRAY',
    kind: flag,
    default: 'false',
    means: 'Whether every XML child is an array, also where it occurs once.',
  },
  validationAcceptNullValues: {
    name: 'VALIDATION_ACCEPT_NULL_VALUES',
    kind: flag,
    default: 'false',
    means: 'Whether null passes any type in `inputValidation`.',
  },
  validationCoerceTypes: {
    name: 'VALIDATION_COERCE_TYPES',
    kind: flag,
    default: 'false',
    means:
      'Whether values are turned into the type that `inputValidation` asks for; the later stages see the new values.',
  },
  messageTimeoutMs: {
    name: 'MESSAGE_TIMEOUT_MS',
    kind: milliseconds,
    default: '30000',
    means: 'How long a message may take from its arrival to its answer; a longer one is answered with 504.',
  },
  maxMessagesInFlight: {
    name: 'MAX_MESSAGES_IN_FLIGHT',
    kind: wholeNumber(1, 1_000_000),
    default: '1000',
    means:
      'How many messages are worked on at once by all `WORKERS`, not counting records of topics; one more is answered with 503 and `Retry-After`.',
  },
  shutdownTimeoutMs: {
    name: 'SHUTDOWN_TIMEOUT_MS',
    kind: wholeNumber(0, 86_400_000),
    default: '30000',
    means: 'How long messages under way may go on after the service was told to stop.',
  },
} as const satisfies Record<string, Setting<unknown>>

const requests = {
  requestConnectTimeoutMs: {
    name: 'REQUEST_CONNECT_TIMEOUT_MS',
    kind: milliseconds,
    default: '2000',
    means: 'How long connecting to the target of a lookup or response request may take.',
  },
  requestTimeoutMs: {
    name: 'REQUEST_TIMEOUT_MS',
    kind: milliseconds,
    default: '10000',
    means: 'How long a whole lookup or response request may take, retries included, where it has no `timeoutMs`.',
  },
  requestRetries: {
    name: 'REQUEST_RETRIES',
    kind: wholeNumber(0, 10),
    default: '0',
    means:
      'Further attempts of a request that has no `retries`; only for idempotent methods, or where it declares `idempotent: true`.',
  },
  answerLimitBytes: {
    name: 'ANSWER_LIMIT',
    kind: limitSize,
    default: '10mb',
    means: 'The largest body of an answer to a lookup or response request.',
  },
  forEachMaxItems: {
    name: 'FOREACH_MAX_ITEMS',
    kind: wholeNumber(1, 1_000_000),
    default: '1000',
    means: 'The most items of one `forEach`; a message with more is answered with 400.',
  },
} as const satisfies Record<string, Setting<unknown>>

/** By the property that the code reads it under. */
export const SETTINGS = {
  ...listeners,
  ...management,
  ...store,
  ...log,
  ...metrics,
  ...messages,
  ...documents,
  ...requests,
  ...egress,
  ...secrets,
  ...expressions,
  ...isolation,
  ...messageLog,
  ...kafka,
  ...tracing,
}

export type SettingKey = keyof typeof SETTINGS

/** The order and the headings of the documentation. */
export const SETTING_GROUPS: readonly Readonly<{ title: string; settings: readonly Setting<unknown>[] }>[] = [
  { title: 'Listeners', settings: Object.values(listeners) },
  { title: 'Management', settings: Object.values(management) },
  { title: 'Store', settings: Object.values(store) },
  { title: 'Log', settings: Object.values(log) },
  { title: 'Metrics', settings: Object.values(metrics) },
  { title: 'Messages', settings: Object.values(messages) },
  { title: 'Endpoint documents', settings: Object.values(documents) },
  { title: 'Lookup and response requests', settings: Object.values(requests) },
  { title: 'Egress', settings: Object.values(egress) },
  { title: 'Secrets', settings: Object.values(secrets) },
  { title: 'Expressions', settings: Object.values(expressions) },
  { title: 'Isolation', settings: Object.values(isolation) },
  { title: 'Message log', settings: Object.values(messageLog) },
  { title: 'Broker', settings: Object.values(kafka) },
  { title: 'Tracing', settings: Object.values(tracing) },
]
