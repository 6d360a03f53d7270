/** The schema of `limits` and `rateLimit`: how many messages of an endpoint the service takes on. */
import { optional, record, whole } from './schema-fields.ts'

export const LimitsSchema = record(
  {
    concurrency: optional(
      whole(1, 1_000_000, {
        description: 'How many messages of the endpoint are worked on at once.',
        assumed: '`MAX_MESSAGES_PER_ENDPOINT`',
        examples: [20],
      }),
    ),
    queue: optional(
      whole(0, 10_000, {
        description: 'How many more may wait for one of them to end, each at most `MESSAGE_WAIT_MS`.',
        assumed: 'a quarter of `concurrency`',
        examples: [5],
      }),
    ),
  },
  {
    description:
      'How many messages of the endpoint may be under way; one more is answered with 503 and `Retry-After`. Records of topics do not count.',
  },
)

export const RateLimitSchema = record(
  {
    messages: whole(1, 1_000_000, {
      description: 'How many messages are taken in that time.',
      examples: [100],
      salvage: 1,
    }),
    seconds: whole(1, 86_400, { description: 'That time.', default: 1, examples: [60] }),
    burst: optional(
      whole(1, 1_000_000, {
        description: 'How many are taken at once after a pause.',
        assumed: 'as many as `messages`',
        examples: [10],
      }),
    ),
  },
  {
    description:
      'How many messages the endpoint takes in a time; one more is answered with 429 and `Retry-After`. Records of topics and replays do not count.',
  },
)
