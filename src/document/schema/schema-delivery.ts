/** The schema of `delivery` of response requests: they are stored with the message, and sent until the target has them. */
import Type from 'typebox'
import { DURATION } from '../../core/iso-time.ts'
import { list, nonEmptyText, optional, type ReferenceStage, record, UNKNOWN, UNKNOWN_PATH } from './schema-fields.ts'

const ASSUMED_SCHEDULE = ['0s', '5s', '5m', '30m', '2h', '5h', '10h', '14h', '20h', '24h'] as const

/** What holds for a request whose document leaves it out. */
export const ASSUMED_DELIVERY = { giveUpAfter: '75h', schedule: ASSUMED_SCHEDULE } as const

const DURATION_EXPECTS = 'a whole number with the unit s, m, h or d, such as "75h"'

/** `valueFields`: of a value of the message, which stage `reads`. */
export const delivery = <T extends Parameters<typeof record>[0]>(valueFields: T, reads: ReferenceStage) =>
  record(
    {
      key: optional(
        Type.Union(
          [
            nonEmptyText({
              description: 'Path of the key.',
              expects: 'a path, or an object with "path" or "expression"',
            }),
            record(valueFields, { description: 'Where the key is.', fallback: { path: UNKNOWN_PATH } }),
          ],
          {
            description:
              'What has the same key arrives in order, one after the other, and holds up no other key; what has none is not ordered. At most 1,024 characters.',
            assumed: '`key` of the record, if the request has one',
            examples: ['payload.patient.id'],
            fallback: UNKNOWN_PATH,
            reads,
          },
        ),
      ),
      giveUpAfter: optional(
        Type.String({
          pattern: DURATION,
          expects: DURATION_EXPECTS,
          description:
            'When the request is older, the next attempt that fails is the last, and the delivery ends as `undeliverable`; at most 30 days.',
          assumed: `\`${ASSUMED_DELIVERY.giveUpAfter}\``,
          examples: ['24h'],
          fallback: ASSUMED_DELIVERY.giveUpAfter,
        }),
      ),
      schedule: optional(
        Type.Array(
          Type.String({
            pattern: DURATION,
            expects: DURATION_EXPECTS,
            description: 'Time before an attempt.',
            fallback: '5m',
          }),
          {
            minItems: 1,
            description:
              'The time before each attempt, from the end of the one before; the last one repeats. Each is lengthened at random by up to a tenth, and `Retry-After` of the target comes first.',
            expects: 'an array of 1 to 30 times such as "5m"',
            assumed: `\`${JSON.stringify(ASSUMED_SCHEDULE)}\``,
            examples: [['0s', '10s', '1m', '1h']],
          },
        ),
      ),
      sign: optional(
        record(
          {
            secret: Type.Union(
              [
                nonEmptyText({
                  description: 'The secret.',
                  expects: 'a string, or an array of 1 to 10 strings, newest first',
                }),
                list(nonEmptyText({ description: 'A secret.', fallback: UNKNOWN }), {
                  description: 'Secrets, newest first.',
                  expects: 'a string, or an array of 1 to 10 strings, newest first',
                  minItems: 1,
                }),
              ],
              {
                description:
                  'The secret, or while it is replaced several ones, newest first: each gives a signature. `whsec_` and Base64, best as a reference such as `${env:CROSSWALK_SECRET_…}`.',
                examples: ['${env:CROSSWALK_SECRET_WEBHOOK}'],
                fallback: UNKNOWN,
              },
            ),
          },
          {
            description:
              'Adds the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` of Standard Webhooks to each attempt.',
            examples: [{ secret: '${env:CROSSWALK_SECRET_WEBHOOK}' }],
            fallback: { secret: UNKNOWN },
          },
        ),
      ),
    },
    {
      description:
        'Stores the request with the message and sends it until the target has it, also after a restart: the message is answered with 202 as soon as it is stored. A 2xx, or a status of `allowedStatuses`, ends it as delivered; 408, 425, 429, 5xx and network errors are tried again; any other status ends it as `undeliverable`. With `state.config.commit`, a request that is stored counts as delivered. `{}` takes all defaults.',
      examples: [{ key: 'payload.patient.id' }],
    },
  )
