/** The settings that bound how many messages are in flight, wait or arrive; part of the group `messages`. */
import { milliseconds, optional, type Setting, size, wholeNumber } from '../setting-kinds.ts'

export const limits = {
  maxMessagesInFlight: {
    name: 'MAX_MESSAGES_IN_FLIGHT',
    kind: wholeNumber(1, 1_000_000),
    default: '1000',
    means: 'How many messages all `WORKERS` together may have in flight, not counting records of topics.',
  },
  maxMessagesWaiting: {
    name: 'MAX_MESSAGES_WAITING',
    kind: optional(wholeNumber(0, 10_000)),
    default: '',
    means:
      'How many more messages may wait; one more is answered with 503 and `Retry-After`. If it is not set, a quarter of `MAX_MESSAGES_IN_FLIGHT`.',
  },
  maxMessagesPerEndpoint: {
    name: 'MAX_MESSAGES_PER_ENDPOINT',
    kind: optional(wholeNumber(1, 1_000_000)),
    default: '',
    means:
      'How many messages of one endpoint may be in flight, if its document has no `limits.concurrency`. If it is not set, `MAX_MESSAGES_IN_FLIGHT`.',
  },
  messageWaitMs: {
    name: 'MESSAGE_WAIT_MS',
    kind: milliseconds,
    default: '250',
    means: 'How long a message may wait to start; then it is answered with 503 and `Retry-After`.',
  },
  inFlightMaxBytes: {
    name: 'IN_FLIGHT_MAX_BYTES',
    kind: size(100_000),
    default: '256mb',
    means:
      'How many bytes all messages in flight may produce together in all `WORKERS`, as `MESSAGE_MAX_BYTES` counts them; the first 256 KiB of each do not count. A message that needs more than is left is answered with 503. Each of the `WORKERS` has room for one message of `MESSAGE_MAX_BYTES`.',
  },
  maxIncompleteBodiesBytes: {
    name: 'MAX_INCOMPLETE_BODIES',
    kind: size(1_000),
    default: '128mb',
    means:
      'How much memory incomplete bodies of messages may take in all `WORKERS`; beyond that, the message whose body stalled longest is answered with 503 and `Retry-After`. Each of the `WORKERS` has room for at least two of the largest bodies.',
  },
} as const satisfies Record<string, Setting<unknown>>
