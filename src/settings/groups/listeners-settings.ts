/** The settings of the two ports. */
import {
  baseUrl,
  choice,
  listenAddress,
  milliseconds,
  optional,
  port,
  type Setting,
  wholeNumber,
} from '../setting-kinds.ts'

export const listeners = {
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
  publicUrl: {
    name: 'PUBLIC_URL',
    kind: optional(baseUrl),
    default: '',
    means:
      'URL of the message port as callers reach it, where a proxy is in front: what the console shows and copies, and the server of the OpenAPI documents. Unset: the address of the port itself.',
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
  messagePortManagement: {
    name: 'MESSAGE_PORT_MANAGEMENT',
    kind: choice('on', 'off'),
    default: 'on',
    means:
      'Whether the message port serves `/endpoints` too. `off`: only the admin port does; `/endpoints` stays reserved on the message port and is answered with 404.',
  },
  serverMaxConnections: {
    name: 'SERVER_MAX_CONNECTIONS',
    kind: wholeNumber(1, 1_000_000),
    default: '2000',
    means:
      'How many connections each of the `WORKERS` holds open on the message port. One more is closed without an answer, and idle ones are closed to make room. A connection takes 20 to 80 KB.',
  },
  adminMaxConnections: {
    name: 'ADMIN_MAX_CONNECTIONS',
    kind: wholeNumber(1, 1_000_000),
    default: '500',
    means: 'The same for the admin port.',
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
