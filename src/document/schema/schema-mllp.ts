/** The schema of `mllp`: the port on which messages of HL7 v2 arrive, and which of them the endpoint takes. */
import { Type } from 'typebox'
import { list, optional, record, whole } from './schema-fields.ts'

export const MllpSchema = record(
  {
    port: whole(1, 65_535, {
      description: 'Port on which the service listens for MLLP; several endpoints may share it if their types differ.',
      examples: [2575],
      fallback: 2575,
    }),
    types: optional(
      list(
        Type.String({
          pattern: '^[A-Za-z0-9_]{1,20}(?:\\^[A-Za-z0-9_]{1,20})?$',
          expects: 'a message code and an event, such as "ADT^A01", or the code alone',
          description: 'Code and event of MSH-9, or the code for all of its events.',
          examples: ['ADT^A01'],
        }),
        {
          description: 'Types of the messages that the endpoint takes.',
          assumed: 'every type that no other endpoint of the port takes',
          minItems: 1,
          examples: [['ADT^A01', 'ORU']],
        },
      ),
    ),
  },
  { description: 'Messages of HL7 v2 that arrive over MLLP.' },
)
