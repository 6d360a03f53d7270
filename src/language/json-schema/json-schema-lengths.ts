/** `minLength` and `maxLength`: Ajv counts the characters of every text, these only if the result depends on them. */
import { _, type Ajv, type KeywordCxt } from 'ajv'
import { spend, type Work } from './json-schema-work.ts'

/** JSON Schema counts Unicode code points (RFC 8259 section 1), each of which is one or two units of a text. */
export function addLengths(ajv: Ajv, work: Work): void {
  const countCharacters = (text: string): number => {
    spend(work, text.length * UNITS_PER_CHARACTER)
    return charactersOf(text)
  }
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

const UNITS_PER_CHARACTER = 10

function charactersOf(text: string): number {
  let count = 0
  for (const _character of text) count++
  return count
}
