/** The schema of `idempotency`: messages that are sent again and are not to be worked on again. */
import { flag, optional, record, whole } from './schema-fields.ts'

export const IdempotencySchema = record(
  {
    required: optional(
      flag({
        description: 'Whether a message without the header is refused.',
        assumed: '`false`: it is worked on each time',
        examples: [true],
      }),
    ),
    hours: optional(
      whole(1, 720, {
        description: 'How many hours an answer is given again.',
        assumed: '24',
        examples: [72],
      }),
    ),
  },
  {
    description:
      'Messages with the header `Idempotency-Key` are worked on once: the answer is kept, and given again to those sent later with the same key. For POST only; not for records of topics and replays.',
  },
)
