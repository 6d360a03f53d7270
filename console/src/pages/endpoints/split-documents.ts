/** The documents of a file, each as the text that it has there: numbers and the order of names stay as they are written. */
import { isRecord } from '../../api/given-parts.ts'

/** Nothing longer is parsed in the page. */
export const MAX_FILE_BYTES = 1_048_576

/** `text` as in the file; `name` if the document has one. */
export type FoundDocument = Readonly<{ text: string; name: string | undefined; id: string | undefined }>

/** In: a document, or an array of documents. Out: them in their order; a sentence if there are none. */
export function splitDocuments(text: string): readonly FoundDocument[] | string {
  if (text.length > MAX_FILE_BYTES)
    return 'It is larger than 1 MiB. The command “crosswalk apply” takes files of any size.'
  const content = text.replace(/^\ufeff/, '')
  let value: unknown
  try {
    value = JSON.parse(content)
  } catch (thrown) {
    return `It is not JSON: ${(thrown as SyntaxError).message}`
  }
  const values = Array.isArray(value) ? value : [value]
  const texts = Array.isArray(value) ? splitElements(content) : [content.trim()]
  if (values.length === 0) return 'It has no document.'
  if (!values.every(isRecord)) return 'It is neither a document nor an array of documents.'
  return values.map(({ name, _id }, index) => ({
    text: texts[index] ?? '',
    name: asText(name),
    id: asText(_id),
  }))
}

/** The texts of the elements of an array, which is well-formed JSON. */
function splitElements(text: string): readonly string[] {
  const start = text.indexOf('[') + 1
  const elements: string[] = []
  let from = start
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    const sign = text[at]
    if (sign === '"') at = findStringEnd(text, at)
    else if (sign === '{' || sign === '[') depth += 1
    else if (sign === '}' || (sign === ']' && depth > 0)) depth -= 1
    else if (depth === 0 && (sign === ',' || sign === ']')) {
      elements.push(text.slice(from, at).trim())
      if (sign === ']') break
      from = at + 1
    }
  }
  return elements.filter((element) => element !== '')
}

/** In: where a string starts. Out: where its last quote is. */
function findStringEnd(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

const asText = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
