/** `crosswalk schema`: the JSON Schema of a kind of file, from the declaration by which it is checked. */
import type { JsonObject } from '../core/json.ts'
import { describe, describeDocument } from '../document/schema/public-schema.ts'
import type { Field } from '../document/schema/schema-fields.ts'
import { TestFile } from '../try/tests/test-file-schema.ts'
import type { Terminal } from './command.ts'
import type { Ending, Given } from './commands.ts'
import { PROJECT } from './project/project-file.ts'

type Kind = NonNullable<Given<'schema'>['kind']>

export async function run({ kind = 'document' }: Given<'schema'>, terminal: Terminal): Promise<Ending<'schema'>> {
  terminal.writeJson(schemaOf(kind))
  return 'done'
}

/** Draft-07: the latest that editors of JSON know whole. */
export const schemaOf = (kind: Kind): JsonObject => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: `Crosswalk: ${kind}`,
  ...SCHEMAS[kind](),
})

const SCHEMAS: Readonly<Record<Kind, () => JsonObject>> = {
  document: describeFile,
  tests: () => describe(TestFile as Field),
  project: () => describe(PROJECT),
}

/** A document before texts are filled in. */
function describeFile(): JsonObject {
  const document = describeDocument(({ type, enum: values }) =>
    type === 'string' || values !== undefined ? [{ $ref: '#/definitions/filledIn' }] : [],
  )
  const renamedFrom = { type: 'string', description: 'The name that the endpoint had before; it is not sent.' }
  const properties = { ...(document.properties as JsonObject), renamedFrom }
  return { ...document, properties, definitions: { filledIn: { anyOf: FILLED_IN } } }
}

const FILLED_IN = [
  { type: 'string', pattern: '\\$\\{value:', description: 'With a value of the target.' },
  {
    type: 'object',
    description: 'The text of a file.',
    properties: { $file: { type: 'string', description: 'Relative to this file.', examples: ['total.jsonata'] } },
    required: ['$file'],
    additionalProperties: false,
  },
]
