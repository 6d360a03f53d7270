/** The schema of `kafka`: how many records of the consumed topic run at once, and which of them keep their order. */
import { Type } from 'typebox'
import { optional, record, whole } from './schema-fields.ts'

export const KafkaSchema = record(
  {
    order: optional(
      Type.Enum(['partition', 'key', 'none'], {
        description:
          'Which records of a partition run one after the other: all of them, those of one key (and those without a key, together), or none.',
        assumed: '`partition`',
        examples: ['key'],
      }),
    ),
    inFlight: optional(
      whole(1, 10_000, {
        description: 'How many records of the endpoint may be started and not yet committed in one instance.',
        assumed: '`KAFKA_MAX_IN_FLIGHT`',
        examples: [500],
      }),
    ),
    exactlyOnce: optional(
      Type.Boolean({
        description:
          'Whether what is produced for a record and the offset of the record are committed in one Kafka transaction. For endpoints that only go from topic to topic.',
        assumed: '`false`',
        examples: [true],
      }),
    ),
  },
  { description: 'How the records of `kafkaConsumerTopic` run; only together with it.' },
)
