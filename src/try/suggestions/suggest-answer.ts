/** What the answer to a request for suggestions has: entries for a target, or the document of examples. */
import type { Static } from 'typebox'
import type { JsonObject } from '../../core/json.ts'
import {
  described,
  Endpoint,
  either,
  enumSchema,
  extend,
  type Fixed,
  flag,
  json,
  list,
  named,
  number,
  object,
  record,
  text,
  values,
  whole,
} from '../../core/schema.ts'
import { Test } from '../tests/test-file-schema.ts'
import { DOUBTS } from './by-example/choose-rule.ts'

export const Suggestions = named(
  'Suggestions',
  {
    suggestions: list(
      object({
        source: text,
        target: text,
        to: either([text, object({ key: text, transform: text })]),
        score: extend(number, { minimum: 0.5, maximum: 1 }),
        reason: text,
      }),
    ),
    cut: described(flag, 'Whether there is more in the samples or examples than is looked at.'),
  },
  {
    fields: described(
      list(
        object(
          { path: text, types: list(enumSchema(['string', 'number', 'boolean'])) },
          {
            required: described(flag, '`true` if the schema of the target requires it and each object that it is in.'),
          },
        ),
      ),
      'The scalars of the target; `[]` means every element of an array.',
    ),
    notRead: described(
      list(object({ part: text, reason: text })),
      'Of recorded messages: parts that were not kept, are redacted or differ, and examples that were left out.',
    ),
    endpoint: described(Endpoint, 'Of examples: the document that makes their outputs of their messages.'),
    tests: described(list(Test), 'Of examples: a test of each, as many as a file of tests holds.'),
    tables: described(record(list(values)), 'The rows of the tables that it reads, to be stored first.'),
    evidence: list(
      object(
        { target: text, source: text, pairs: described(whole, 'How many have the target.'), alternatives: list(text) },
        { codes: described(whole, 'Of a code list that the pairs show.') },
      ),
    ),
    questions: described(
      list(
        object(
          {
            target: text,
            reason: enumSchema(Object.keys(DOUBTS) as (keyof typeof DOUBTS)[]),
            message: text,
            candidates: list(text),
            examples: list(object({ pair: whole, value: json })),
          },
          { source: described(text, 'What the document has for now.') },
        ),
      ),
      'What the examples do not decide.',
    ),
    heldBack: described(
      object({
        pairs: whole,
        leaves: whole,
        right: whole,
        asked: described(whole, 'Not right, and a question.'),
        wrong: list(object({ pair: whole, target: text, expected: json, actual: json })),
      }),
      'What a document derived without these examples makes of them.',
    ),
  },
)

export type Suggested = Omit<Fixed<Static<typeof Suggestions>>, 'tables' | 'tests'> &
  Readonly<{ tables?: Readonly<Record<string, readonly JsonObject[]>>; tests?: readonly JsonObject[] }>
/** A proposed entry of `inputMapping`: `{ [source]: to }`. */
export type Suggestion = Suggested['suggestions'][number]
/** Of examples. */
export type ByExample = Required<Pick<Suggested, 'cut' | 'endpoint' | 'tables' | 'evidence' | 'questions' | 'heldBack'>>
export type Evidence = ByExample['evidence'][number]
export type Question = ByExample['questions'][number]
export type HeldBack = ByExample['heldBack']
