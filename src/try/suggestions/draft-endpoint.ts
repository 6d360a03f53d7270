/** A first document of an endpoint, with a test, from a name and a sample message: what the console's New offers. */

import type { JsonObject } from '../../core/json.ts'
import type { Lint } from '../../core/lint.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import type { ParserSettings } from '../../formats/codec.ts'
import { codecOfFormat, type Format, MEDIA_TYPES } from '../../formats/codecs.ts'
import { newDocument, type SampleMessage, SMALLEST, testOf, withoutFaults } from './new-document.ts'
import { type DraftRequest, invalid } from './suggest-request.ts'

/** `faults`: those of the document that its fields cannot leave out, such as a name that is taken; there is no test then. */
export type EndpointDraft = Readonly<{
  document: JsonObject
  /** How the document ends with the sample; absent without a sample. */
  test?: JsonObject
  faults: readonly Pick<Lint, 'path' | 'message'>[]
}>

/** Fails with SUGGESTION_INVALID, and as dry runs do. */
export type DraftEndpoint = (request: DraftRequest) => Promise<EndpointDraft>

export type DraftEndpointOptions = Readonly<{
  settings: ParserSettings
  /** Without live calls. In: a request as JSON text. Out: the report. */
  dryRun: (text: string) => Promise<JsonObject>
}>

export function createDraftEndpoint({ settings, dryRun }: DraftEndpointOptions): DraftEndpoint {
  const lintsOf = async (endpoint: JsonObject): Promise<readonly Lint[]> => {
    const { lint } = await dryRun(JSON.stringify({ endpoint }))
    const { errors, clashes } = lint as unknown as Readonly<Record<'errors' | 'clashes', readonly Lint[]>>
    return [...errors, ...clashes]
  }
  return async ({ name, pattern, format, sample }) => {
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
