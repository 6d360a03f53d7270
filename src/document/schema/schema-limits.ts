/** The schemas of `limits`, `rateLimit` and `idempotency`: which messages of an endpoint the service accepts and processes. */
import { optional, record, switchOn, whole } from './schema-fields.ts'

export const LimitsSchema = record(
  {
    concurrency: optional(
      whole(1, 1_000_000, {
        description: 'How many messages of the endpoint may be in flight at once.',
        assumed: '`MAX_MESSAGES_PER_ENDPOINT`',
        examples: [20],
      }),
    ),
    queue: optional(
      whole(0, 10_000, {
        description: 'How many more may wait, each at most `MESSAGE_WAIT_MS`.',
        assumed: 'a quarter of `concurrency`',
        examples: [5],
      }),
    ),
  },
  {
    description:
      'Bounds the messages of the endpoint that are in flight or wait; one more is answered with 503 and `Retry-After`. Records of topics do not count.',
  },
)

export const RateLimitSchema = record(
  {
    messages: whole(1, 1_000_000, {
      description: 'How many messages are accepted in `seconds`.',
      examples: [100],
      fallback: 1,
    }),
    seconds: whole(1, 86_400, { description: 'The length of the period.', default: 1, examples: [60] }),
    burst: optional(
      whole(1, 1_000_000, {
        description: 'How many are accepted at once after a pause.',
        assumed: 'as many as `messages`',
        examples: [10],
      }),
    ),
  },
  {
    description:
      'How many messages the endpoint accepts in a period; one more is answered with 429 and `Retry-After`. Records of topics and replays do not count.',
  },
)

export const IdempotencySchema = record(
  {
    required: switchOn('Whether a message without the header is refused.', '`false`: it is processed each time'),
    hours: optional(
      whole(1, 720, {
        description: 'How many hours a response is stored and replayed.',
        assumed: '24',
        examples: [72],
      }),
    ),
  },
  {
    description:
      'A message with the header `Idempotency-Key` is processed once: its response is stored, and replayed to later messages with the same key. For POST and PATCH only; not for records of topics and replays.',
  },
)
