/** A first document of an endpoint, with a test, from a name and a sample message: what the console's New offers. */
import { isObject, type Json, type JsonObject, typeName } from '../../core/json.ts'
import { documentPath, type Lint, toFaults } from '../../core/lint.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import type { ParserSettings } from '../../formats/codec.ts'
import {
  codecForFormat,
  DEFAULT_FORMAT,
  type Format,
  guessFormat,
  guessOptions,
  MEDIA_TYPES,
} from '../../formats/codecs.ts'
import { decodeText } from '../../formats/text.ts'
import { type DraftRequest, invalid } from './suggest-request.ts'

/** `faults`: those of the document that its fields cannot leave out, such as a name that is taken; there is no test then. */
type EndpointDraft = Readonly<{
  document: JsonObject
  /** How the document ends with the sample; absent without a sample. */
  test?: JsonObject
  faults: readonly Pick<Lint, 'path' | 'message'>[]
}>

/** Fails with SUGGESTION_INVALID, and as dry runs do. */
export type DraftEndpoint = (request: DraftRequest) => Promise<EndpointDraft>

type DraftEndpointOptions = Readonly<{
  settings: ParserSettings
  /** Without live calls. In: a request as JSON text. Out: the report. */
  dryRun: (text: string) => Promise<JsonObject>
}>

export function createDraftEndpoint({ settings, dryRun }: DraftEndpointOptions): DraftEndpoint {
  const lintDocument = async (endpoint: JsonObject): Promise<readonly Lint[]> => {
    const { lint } = await dryRun(JSON.stringify({ endpoint }))
    const { errors, clashes } = lint as unknown as Readonly<Record<'errors' | 'clashes', readonly Lint[]>>
    return [...errors, ...clashes]
  }
  return async ({ name, pattern, method, format, sample }) => {
    const message = sample === undefined ? smallestMessage(settings, format) : readDraftSample(sample, format, settings)
    if ('severity' in message) {
      const smallest = newDocument(name, pattern, smallestMessage(settings, format), method)
      throw invalid([...(await lintDocument(smallest)), message])
    }
    const { document, lints } = await withoutFaults(newDocument(name, pattern, message, method), lintDocument)
    const faults = toFaults(lints)
    if (sample === undefined || faults.length > 0) return { document, faults }
    return { document, test: await testWith(document, message), faults }
  }

  async function testWith(document: JsonObject, { text, format }: SampleMessage): Promise<JsonObject> {
    const message = { body: text, contentType: MEDIA_TYPES[format] }
    const { outcome, answer } = await dryRun(JSON.stringify({ endpoint: document, message }))
    const { status } = answer as Readonly<{ status: number }>
    // The author writes the mapping next, and with it the body of the answer.
    return createTest(message, outcome ?? null, status)
  }
}

/** Out: the message, or why it cannot be read. */
function readDraftSample(text: string, format: Format | undefined, settings: ParserSettings): SampleMessage | Lint {
  try {
    return readSample(Buffer.from(text), settings, format)
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    return { path: 'sample', message: thrown.message, severity: 'error' }
  }
}

// A starter document: the fields of a sample message, each mapped to the same name.

/** `text`: as sent. */
export type SampleMessage = Readonly<{ value: Json; format: Format; text: string }>

/** Types of JSON Schema; a null says nothing about the values of other messages. */
const SCHEMA_TYPES: readonly string[] = ['object', 'array', 'string', 'number', 'boolean']

/** `given`: what it is in; otherwise `ending`, of the name of its file, and how it begins decide. Throws Unreadable. */
export function readSample(
  bytes: Uint8Array,
  settings: ParserSettings,
  given?: Format,
  ending?: string,
): SampleMessage {
  const text = decodeText(bytes, undefined)
  const format = given ?? guessFormat(text, ending)
  return { value: codecForFormat(format, guessOptions(format, text)).read(bytes, undefined, settings), format, text }
}

/** A message as simple as one can be. */
export const smallestMessage = (settings: ParserSettings, format: Format = DEFAULT_FORMAT): SampleMessage =>
  readSample(Buffer.from(codecForFormat(format).sample), settings, format)

/** `pattern`, `method`: of the route. Out: a document, of which some entries may have faults. */
export function newDocument(
  name: string,
  pattern: string,
  { value, format, text }: SampleMessage,
  method = 'POST',
): JsonObject {
  const codec = codecForFormat(format)
  const mapping = toMapping(value, codec.findRoot(text))
  return {
    name,
    endpoint: { pattern, method },
    transformation: { input: format, output: format },
    ...guessOptions(format, text),
    ...(codec.hasTypes && format === codec.name && isObject(value) ? { inputValidation: toSchema(value) } : {}),
    ...(mapping.length === 0 ? {} : { inputMapping: Object.fromEntries(mapping) }),
  }
}

/** `root`: the name around a message, which its value does not have. */
function toMapping(value: Json, root: string | undefined): readonly (readonly [source: string, target: string])[] {
  const around = root === undefined ? [] : [root]
  if (!isObject(value)) return root === undefined ? [] : [['requestBody', documentPath('', root)]]
  return Object.keys(value).map((field) => [documentPath('', 'requestBody', field), documentPath('', ...around, field)])
}

function toSchema(value: JsonObject): JsonObject {
  const typed = Object.entries(value).filter(([, field]) => SCHEMA_TYPES.includes(typeName(field)))
  const properties = Object.fromEntries(typed.map(([field, inner]) => [field, { type: typeName(inner) }]))
  return { properties: { requestBody: { type: 'object', properties } } }
}

/** In: the message of a dry run, and its result; without a body the test lets it change. Out: a test that expects it. */
export function createTest(message: JsonObject, outcome: Json, status: number, body?: Json): JsonObject {
  // In expectations, objects whose only name starts with a dollar are operators.
  const expected = body !== undefined && JSON.stringify(body).includes('"$') ? { $literal: body } : body
  return {
    name: 'the sample',
    given: { message },
    expect: { outcome, answer: { status, ...(expected === undefined ? {} : { body: expected }) } },
  }
}

/**
 * The document without the entries that a lint blames: the sample has names that a path or a schema cannot have. `lints`:
 * those that are left.
 */
export async function withoutFaults(
  document: JsonObject,
  lintDocument: (document: JsonObject) => Promise<readonly Lint[]>,
): Promise<Readonly<{ document: JsonObject; lints: readonly Lint[] }>> {
  const lints = await lintDocument(document)
  if (lints.length === 0) return { document, lints }
  const paths = lints.map(({ path }) => path)
  const sound = withoutFaulty(document, paths)
  return { document: sound, lints: await lintDocument(sound) }
}

function withoutFaulty(document: JsonObject, paths: readonly string[]): JsonObject {
  const mapping = isObject(document.inputMapping) ? document.inputMapping : {}
  const isFaulty = (entry: string) => paths.includes(documentPath('inputMapping', entry))
  const sound = Object.fromEntries(Object.entries(mapping).filter(([entry]) => !isFaulty(entry)))
  const { inputValidation, ...rest } = document
  const keepsSchema = inputValidation !== undefined && !paths.some((path) => path.startsWith('inputValidation'))
  return { ...rest, ...(keepsSchema ? { inputValidation } : {}), inputMapping: sound }
}
