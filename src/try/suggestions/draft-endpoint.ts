/** A first document of an endpoint, with a test, from a name and a sample message: what the console's New offers. */

import { isObject, type JsonObject } from '../../core/json.ts'
import { collectInto, type Lint } from '../../core/lint.ts'
import { checkField } from '../../document/checks/check-field.ts'
import type { Field } from '../../document/schema/schema-fields.ts'
import { parseDocument } from '../../endpoints/parse-document.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import type { ParserSettings } from '../../formats/codec.ts'
import { codecOfFormat, FORMATS, type Format, MEDIA_TYPES } from '../../formats/codecs.ts'
import { newDocument, type SampleMessage, SMALLEST, testOf, withoutFaults } from './new-document.ts'
import { invalid } from './suggest-request.ts'

/** `faults`: those of the document that its fields cannot leave out, such as a name that is taken; there is no test then. */
export type EndpointDraft = Readonly<{
  document: JsonObject
  /** How the document ends with the sample; absent without a sample. */
  test?: JsonObject
  faults: readonly Pick<Lint, 'path' | 'message'>[]
}>

type DraftRequest = Readonly<{
  name: string
  pattern: string
  /** Of the messages; by default that of the sample. */
  format?: Format
  /** A message as it is sent. */
  sample?: string
}>

/** In: the request as JSON text. Fails with BODY_UNREADABLE, BODY_TOO_DEEP, SUGGESTION_INVALID, and as dry runs do. */
export type DraftEndpoint = (text: string) => Promise<EndpointDraft>

export type DraftEndpointOptions = Readonly<{
  settings: ParserSettings
  /** Without live calls. In: a request as JSON text. Out: the report. */
  dryRun: (text: string) => Promise<JsonObject>
}>

const TEXT: Field = { type: 'string' }
const REQUEST: Field = {
  type: 'object',
  required: ['name', 'pattern'],
  properties: { name: TEXT, pattern: TEXT, format: { enum: FORMATS }, sample: TEXT },
}

export function createDraftEndpoint({ settings, dryRun }: DraftEndpointOptions): DraftEndpoint {
  const lintsOf = async (endpoint: JsonObject): Promise<readonly Lint[]> => {
    const { lint } = await dryRun(JSON.stringify({ endpoint }))
    const { errors, clashes } = lint as unknown as Readonly<Record<'errors' | 'clashes', readonly Lint[]>>
    return [...errors, ...clashes]
  }
  return async (text) => {
    const { name, pattern, format, sample } = readRequest(text)
    const message =
      sample === undefined ? { ...SMALLEST, format: format ?? 'JSON' } : readSample(sample, format, settings)
    if ('severity' in message) throw invalid([...(await lintsOf(newDocument(name, pattern, SMALLEST))), message])
    const { document, lints } = await withoutFaults(newDocument(name, pattern, message), lintsOf)
    const faults = lints.map(({ path, message }) => ({ path, message }))
    if (sample === undefined || faults.length > 0) return { document, faults }
    return { document, test: await testWith(document, message), faults }
  }

  async function testWith(document: JsonObject, { text, format }: SampleMessage): Promise<JsonObject> {
    const message = { body: text, contentType: MEDIA_TYPES[format] }
    const { outcome, answer } = await dryRun(JSON.stringify({ endpoint: document, message }))
    const { status } = answer as Readonly<{ status: number }>
    // The author writes the mapping next, and with it the body of the answer.
    return testOf(message, outcome ?? null, status)
  }
}

function readRequest(text: string): DraftRequest {
  const { raw, faults } = parseDocument(text)
  const lints: Lint[] = [...faults]
  const lint = collectInto(lints)
  if (!isObject(raw)) lint.error('A request is an object with "name" and "pattern".')
  else checkField(REQUEST, raw, lint)
  if (lints.length > 0) throw invalid(lints)
  // The checks above ensure the type.
  return raw as DraftRequest
}

/** Out: the message, or why it cannot be read. */
function readSample(text: string, given: Format | undefined, settings: ParserSettings): SampleMessage | Lint {
  const format = given ?? (/^(?:\ufeff)?\s*</.test(text) ? 'XML' : 'JSON')
  try {
    return { value: codecOfFormat(format).read(Buffer.from(text), undefined, settings), format, text }
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    return { path: 'sample', message: thrown.message, severity: 'error' }
  }
}
