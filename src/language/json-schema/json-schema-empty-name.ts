/** The field with an empty name in `required`: Ajv's own check takes the empty name for none, and accepts every value. */
import { _, type Ajv, type KeywordCxt } from 'ajv'

/** A keyword that only rewritten schemas have. */
export const EMPTY_NAME = 'requiredEmptyName'

export function addEmptyName(ajv: Ajv): void {
  ajv.addKeyword({
    keyword: EMPTY_NAME,
    type: 'object',
    schemaType: 'boolean',
    error: { message: EMPTY_NAME, params: () => _`{missingProperty: ""}` },
    code: (context: KeywordCxt) => context.fail(_`${context.data}[""] === undefined`),
  })
}
