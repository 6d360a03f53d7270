/** `minLength` and `maxLength`, counting characters only where it matters: the library counts those of every text. */
import { _, type Ajv, type KeywordCxt } from 'ajv'

/** Replaces the library's own; JSON Schema counts Unicode code points (RFC 8259 section 1), of which each takes one or two units. */
export function addLengths(ajv: Ajv): void {
  for (const keyword of ['minLength', 'maxLength'] as const) {
    ajv.removeKeyword(keyword)
    ajv.addKeyword({
      keyword,
      type: 'string',
      schemaType: 'number',
      error: { message: keyword, params: ({ schemaCode }) => _`{limit: ${schemaCode}}` },
      code(context: KeywordCxt) {
        const { data, schema: limit, gen } = context
        const count = gen.scopeValue('func', { ref: countCharacters })
        context.fail(
          keyword === 'minLength'
            ? _`${data}.length < ${limit * 2} && ${count}(${data}) < ${limit}`
            : _`${data}.length > ${limit} && ${count}(${data}) > ${limit}`,
        )
      },
    })
  }
}

function countCharacters(text: string): number {
  let count = 0
  for (const _character of text) count++
  return count
}
