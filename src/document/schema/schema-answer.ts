/** The schema of `answer`: what the caller of a message that succeeded gets in place of what the requests say. */
import Type from 'typebox'
import { FORMATS } from '../../formats/codecs.ts'
import { type FieldNotes, mapping, named, optional, record } from './schema-fields.ts'
import { parameter, textOrValue } from './schema-requests.ts'

export const AnswerSchema = record(
  {
    status: optional(
      Type.Union(
        [
          Type.String({
            pattern: '^[2-5][0-9]{2}$',
            expects: 'a status from 200 to 599, or an object with "path" or "expression"',
            numberAsText: { minimum: 200, maximum: 599 },
          }),
          parameter('answer'),
        ],
        {
          description:
            'Status of the answer, from 200 to 599. A value of the message that finds nothing leaves it as it is.',
          assumed: 'that of the response request whose answer is passed on, else `200`',
          examples: ['201'],
        } satisfies FieldNotes,
      ),
    ),
    headers: optional(
      named(textOrValue('Value of the header.', 'answer'), {
        description:
          'Further headers of the answer: texts, or values of the message, which are left out if they find nothing.',
        examples: [{ Location: { path: 'responses.store.headers.location' } }],
      }),
    ),
    mapping: optional(
      mapping(
        'Body of the answer: source path → target, as in `inputMapping`.',
        { 'responses.store.data.id': 'patientId' },
        'answer',
      ),
    ),
    type: optional(
      Type.Enum([...FORMATS], {
        description: 'Format of what `mapping` makes, with its media type.',
        assumed: '`transformation.output`',
        examples: ['JSON'],
      } satisfies FieldNotes),
    ),
  },
  { description: 'What the caller of a message that succeeded gets.' },
)
