/**
 * Suggests entries of `inputMapping`: fields of a message and of its output that have the same name, place and type. No value
 * of a message or sample is part of a suggestion.
 */
import { isObject, type Json, type JsonObject, omitUndefined } from '../../core/json.ts'
import { collectInto, documentPath, joinPaths, type Lint, type LintSink } from '../../core/lint.ts'
import { letOthersRun } from '../../core/slice.ts'
import { checkDocument } from '../../document/checks/check-document.ts'
import { readsRoot } from '../../document/reads/document-reads.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import type { Codec, ParserSettings } from '../../formats/codec.ts'
import {
  codecForFormat,
  DEFAULT_FORMAT,
  detect,
  type Format,
  type FormatOptions,
  fhirFormatOf,
  findAnyCodec,
  guessFormat,
  guessOptions,
  likelyType,
  MEDIA_TYPES,
  NO_FORMAT,
  sniff,
} from '../../formats/codecs.ts'
import { parseMediaType } from '../../formats/media-type.ts'
import { readTargets } from '../../language/mapping/mapping-targets.ts'
import { parsePath } from '../../language/paths/path.ts'
import { parseSteps } from '../../language/paths/path-steps.ts'
import { type RecordedMessages, readRecordedMessage } from '../dry-run/recorded-message.ts'
import { UnknownAnswers } from './by-example/answers.ts'
import { deriveByExample, readPairs, UnreadableExamples } from './by-example/by-example.ts'
import type { RunPairs } from './by-example/run-pairs.ts'
import { type Examples, type GivenExample, type ReadExamples, testExamples, withoutCredentials } from './examples.ts'
import { type Leaf, Places, toJsonType } from './places.ts'
import type { ByExample, Suggested } from './suggest-answer.ts'
import { suggestEntries } from './suggest-entries.ts'
import { invalid, type SampleBody, type SuggestRequest, type SuggestSource } from './suggest-request.ts'

type SuggestOptions = Readonly<{
  settings: ParserSettings
  /** Reads a stored document. Fails with ID_MALFORMED, ENDPOINT_UNKNOWN, STORE_UNAVAILABLE. */
  readDocument: (endpointId: string) => Promise<JsonObject>
  readRecorded: ReadRecordedMessage
  readExamples: ReadExamples
  runPairs: RunPairs
  /** The scalars of a resource type of FHIR. Fails with SHAPE_UNKNOWN. */
  readShape: (resource: string) => Promise<readonly Leaf[]>
}>

/**
 * `mayReadBodies`: fails if the caller may not use recorded messages. Fails with SUGGESTION_INVALID, and as the reads of the
 * document, the message and the shape do.
 */
export type Suggest = (request: SuggestRequest, mayReadBodies: () => void) => Promise<Suggested>

export function createSuggest(options: SuggestOptions): Suggest {
  const { settings, readDocument, readRecorded, readExamples, runPairs, readShape } = options
  return async (request, mayReadBodies) => {
    const { endpoint, endpointId, messageId, target } = request
    if (messageId !== undefined || request.examples?.some((one) => one.messageId !== undefined)) mayReadBodies()
    const document = endpointId === undefined ? (endpoint ?? {}) : await readDocument(endpointId)
    if (request.examples !== undefined) {
      return suggestByExample(request, await readExamples(request), document, settings, runPairs)
    }
    const recorded = messageId === undefined ? undefined : await readRecorded(messageId)
    const unread: Lint[] = []
    const documented = checkDocument(document).endpoint
    const read: ReadBody = (sample, lint) => readBody(sample, settings, documented, lint)
    const source = recorded?.source ?? request.source ?? {}
    const message = readMessage(source, document, documented, read, collectInto(unread))
    const wrong = recorded === undefined ? unread : []
    const sources = new Places()
    sources.addSample(message)
    const mapped = targetsBySource(document)
    // Each side may take some hundredths of a second.
    await letOthersRun()
    const targets = new Places()
    if (target?.schema !== undefined) targets.addSchema(target.schema)
    const lint = collectInto(wrong, 'target.sample')
    const sample = target && read({ body: target.sample, contentType: target.contentType }, lint)
    if (sample !== undefined) targets.addSample(sample)
    if (wrong.length > 0) throw invalid(wrong)
    await letOthersRun()
    const written = new Set([...mapped.values()].flat())
    const fields = target?.fhir === undefined ? targets.list() : await readShape(target.fhir)
    const { suggestions, cut } = await suggestEntries(
      sources.list(1).filter(({ path }) => !(target && mapped.has(path))),
      target === undefined
        ? missingTargets(mapped, { ...message, constants: document.constants ?? {} })
        : fields.filter(({ path }) => !written.has(path)),
    )
    return {
      suggestions,
      cut: cut || sources.cut || targets.cut,
      ...(request.fields ? { fields: fields.map(describeField) } : {}),
      ...(recorded === undefined ? {} : { notRead: [...recorded.notRead, ...unread.map(toFaultyPart)] }),
    }
  }
}

/** The parts of a document that do not run when it is derived. */
const LEFT_OUT = ['inputMapping', 'inputTransforms', 'inputValidation', 'answer', 'state', 'idempotency', 'delivery']

/** The document of a request with examples, or with `document` what it lacks. Fails with SUGGESTION_INVALID. */
export async function suggestByExample(
  request: SuggestRequest,
  { examples: given, kept, notRead }: Examples,
  document: JsonObject,
  settings: ParserSettings,
  runPairs: RunPairs,
): Promise<Suggested & ByExample> {
  const { answers = {}, keepCodes: keepsCodes = false } = request
  const own = request.endpoint === undefined && request.endpointId === undefined ? undefined : document
  const examples = withLikelyTypes(given, own ?? kept).map(guessOutputType)
  const faults: Lint[] = []
  const outputs = examples.map(({ output, outputType, index }) =>
    typeof output === 'string'
      ? readOutput(output, outputType, own, settings, collectInto(faults, documentPath('examples', index, 'output')))
      : { value: output, format: undefined },
  )
  const [first] = outputs
  const starter = starterDocument(request, examples, kept, fhirFormatOf(examples[0]?.outputType) ?? first?.format)
  const whole = own ?? starter
  const base = Object.fromEntries(Object.entries(whole).filter(([name]) => !LEFT_OUT.includes(name)))
  const { lookup = [] } = (isObject(base.requests) ? base.requests : {}) as Readonly<{ lookup?: Json }>
  const values = outputs.map(({ value }) => value ?? null)
  const pairs = examples.map((example, at) => ({
    given: example.given,
    output: withoutCredentials(values[at] ?? null, example),
  }))
  const inRequest = <One extends Readonly<{ pair: number }>>(one: One): One => ({
    ...one,
    pair: examples[one.pair]?.index ?? one.pair,
  })
  try {
    const starting = { ...base, requests: { lookup } }
    // So that all faults are reported at once.
    if (faults.length > 0) await readPairs(pairs, starting, runPairs)
    if (faults.length > 0) throw invalid(faults)
    const transforms = transformsRead(whole)
    const { endpoint, ...found } = await deriveByExample(pairs, starting, runPairs, { keepsCodes, answers, transforms })
    const { requests: _requests, inputTransforms: computed, ...derived } = endpoint
    const { inputTransforms: _inputTransforms, ...others } = whole
    const inputTransforms = { ...transforms, ...(isObject(computed) ? computed : {}) }
    const made = {
      ...others,
      ...derived,
      ...(Object.keys(inputTransforms).length > 0 && { inputTransforms }),
    }
    // Parts of the document that don't run when it is derived may have faults, too.
    const { errors } = await runPairs(made, [])
    if (errors.length > 0) throw invalid(errors.map((one) => ({ ...one, path: joinPaths('endpoint', one.path) })))
    return {
      suggestions: [],
      endpoint: made,
      ...found,
      questions: found.questions.map((one) => ({ ...one, examples: one.examples.map(inRequest) })),
      heldBack: { ...found.heldBack, wrong: found.heldBack.wrong.map(inRequest) },
      tests: testExamples(examples, values, made),
      ...(notRead.length === 0 ? {} : { notRead: notRead.map(toFaultyPart) }),
    }
  } catch (thrown) {
    const toFault = (path: string, message: string): Lint => ({ path, message, severity: 'error' })
    if (thrown instanceof UnknownAnswers) {
      throw invalid(thrown.faults.map(({ target, message }) => toFault(documentPath('answers', target), message)))
    }
    if (!(thrown instanceof UnreadableExamples)) throw thrown
    const unreadable = thrown.faults.map(({ index, message }) =>
      toFault(documentPath('examples', examples[index]?.index ?? index, 'message'), message),
    )
    throw invalid([...unreadable, ...faults])
  }
}

/** Those of a document that more than its mapping reads; each may read those before it. */
function transformsRead({ inputTransforms, ...document }: JsonObject): JsonObject {
  const { endpoint } = checkDocument({ ...document, inputMapping: {} })
  return isObject(inputTransforms) && readsRoot(endpoint, 'transforms') ? inputTransforms : {}
}

/** Texts without a type whose beginnings do not say what they are in: those of one side are alike. */
function withLikelyTypes(examples: readonly GivenExample[], { transformation }: JsonObject): readonly GivenExample[] {
  const { input, output } = isObject(transformation) ? transformation : {}
  const texts = (values: readonly unknown[]) => values.filter((value) => typeof value === 'string')
  const isTyped = examples.some(({ given: { message } }) => message.contentType !== undefined)
  const bodies = texts(examples.map((one) => one.given.message.body))
  const read = isTyped ? undefined : likelyType(bodies, input)
  const written = likelyType(texts(examples.map((one) => one.output)), output)
  return examples.map((one) => ({
    ...one,
    ...(read !== undefined &&
      one.given.message.body !== undefined && {
        given: { ...one.given, message: { ...one.given.message, contentType: read } },
      }),
    outputType: one.outputType ?? (typeof one.output === 'string' ? written : undefined),
  }))
}

/** Some formats are recognized by how their texts begin. */
function guessOutputType(example: GivenExample): GivenExample {
  const { output, outputType } = example
  const codec = typeof output === 'string' && outputType === undefined ? sniff(output) : undefined
  return codec === undefined ? example : { ...example, outputType: MEDIA_TYPES[codec.name as Format] }
}

/** The value of an output that is a text: a text alone if nothing says what it is in. */
function readOutput(
  text: string,
  type: string | undefined,
  documented: JsonObject | undefined,
  settings: ParserSettings,
  lint: LintSink,
) {
  const plain = codecForType(type)
  const codec = plain && codecForFormat(plain.name as Format, documented ?? guessOptions(plain.name as Format, text))
  if (codec === undefined) {
    if (type !== undefined) lint.error(`The type "${type}" is ${NO_FORMAT}.`)
    return { value: text, format: undefined }
  }
  const value = readWith(codec, Buffer.from(text), 'utf-8', settings, lint) ?? null
  const root = value === null ? undefined : codec.findRoot(text)
  return { value: root === undefined ? value : { [root]: value }, format: codec.name as Format }
}

/** The route takes the parameters that the examples have. `kept`: what another endpoint has already. */
function starterDocument(
  { name, pattern = '/from-examples' }: SuggestRequest,
  examples: readonly GivenExample[],
  { endpoint, transformation, ...kept }: JsonObject,
  output: Format | undefined,
): JsonObject {
  const bodies = examples.flatMap(({ given: { message } }) => (message.body === undefined ? [] : [message]))
  const [first] = bodies
  const codec = codecForType(first?.contentType)
  const text = typeof first?.body === 'string' ? first.body : ''
  const input =
    fhirFormatOf(first?.contentType) ??
    (codec?.name as Format | undefined) ??
    (text === '' ? DEFAULT_FORMAT : guessFormat(text))
  const made = examples[0]?.output
  const parameters = new Set(examples.flatMap(({ given }) => Object.keys(given.message.urlParams ?? {})))
  const taken = new Set(pattern.split('/').map((segment) => segment.slice(1)))
  const missing = [...parameters].filter((parameter) => /^[\w-]+$/.test(parameter) && !taken.has(parameter))
  const { method } = isObject(endpoint) && endpoint.pattern !== undefined ? endpoint : {}
  return {
    name: name ?? 'From examples',
    endpoint: {
      pattern: [pattern.replace(/\/$/, ''), ...missing.map((parameter) => `:${parameter}`)].join('/') || '/',
      method: method ?? (first === undefined ? 'GET' : 'POST'),
    },
    transformation: {
      ...(first === undefined ? {} : { input }),
      output: output ?? DEFAULT_FORMAT,
      ...(isObject(transformation) ? transformation : {}),
      ...(output && { output }),
    },
    ...(typeof made === 'string' && output ? guessOptions(output, made) : {}),
    ...guessOptions(input, text),
    ...kept,
  }
}

/** A list of scalars is listed as its elements. */
const describeField = ({ path, isList, types, isRequired }: Leaf) => ({
  path: isList ? `${path}[]` : path,
  types: [...new Set([...types].map(toJsonType))],
  ...(isRequired === true && { required: true }),
})

const toFaultyPart = ({ path, message }: Lint) => ({ part: path, reason: message })

/** What a mapping can read. Lints the parts that cannot be read. */
function readMessage(
  { body, contentType, query, urlParams, lookups = {} }: SuggestSource,
  { constants, inputTransforms }: JsonObject,
  { requests }: Pick<Endpoint, 'requests'>,
  read: ReadBody,
  lint: LintSink,
): JsonObject {
  const requestBody = read({ body, contentType }, lint.at('source', 'body'))
  const lookupRequests = Object.entries(lookups).map(([id, lookup]): [string, Json] => {
    const samples = [lookup].flat() as readonly SampleBody[]
    const found = samples.map((one) => read(one, lint.at('source', 'lookups', id))).filter((data) => data !== undefined)
    if (requests.lookup.some((one) => one.id === id && one.page !== undefined)) return [id, { data: found }]
    const answers = found.map((data) => ({ data }))
    return [id, Array.isArray(lookup) ? answers : (answers[0] ?? {})]
  })
  // Objects among the constants are templates that are written whole.
  const scalars = Object.entries(isObject(constants) ? constants : {}).filter(([, value]) => typeof value !== 'object')
  // The types of their results are not known.
  const transforms = Object.keys(isObject(inputTransforms) ? inputTransforms : {}).map((name) => [name, null])
  return omitUndefined({
    requestBody,
    lookupRequests: Object.fromEntries(lookupRequests),
    query,
    urlParams,
    constants: Object.fromEntries(scalars),
    transforms: Object.fromEntries(transforms),
  }) as JsonObject
}

/** The value of a body; undefined, with a lint, if it cannot be read. */
type ReadBody = (sample: Unset<SampleBody>, lint: LintSink) => Json | undefined

/** `documented`: the document of the endpoint. */
function readBody(
  { body, contentType }: Unset<SampleBody>,
  settings: ParserSettings,
  documented: FormatOptions,
  lint: LintSink,
): Json | undefined {
  const isBytes = body instanceof Uint8Array
  if (typeof body !== 'string' && !isBytes) return body
  const codec = codecForType(contentType, documented)
  const detected = codec === undefined || codec.isGeneric ? detect(Buffer.from(body).toString()) : undefined
  if (detected !== undefined) return detected.value
  if (codec === undefined) lint.error(`The text is ${NO_FORMAT}; give its "contentType".`)
  const charset = isBytes ? parseMediaType(contentType ?? '')?.charset : 'utf-8'
  return codec && readWith(codec, Buffer.from(body), charset, settings, lint)
}

type Unset<T> = { readonly [Name in keyof T]: T[Name] | undefined }

function codecForType(type: string | undefined, documented?: FormatOptions): Codec | undefined {
  const declared = parseMediaType(type ?? '')
  return declared && findAnyCodec(declared, documented)
}

function readWith(
  codec: Codec,
  bytes: Uint8Array,
  charset: string | undefined,
  settings: ParserSettings,
  lint: LintSink,
): Json | undefined {
  try {
    return codec.read(bytes, charset, settings)
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    lint.error(thrown.unquoted ?? thrown.message)
    return undefined
  }
}

/** The targets of the entries of a document, by source path. Faulty entries have none. */
function targetsBySource({ inputMapping }: JsonObject): ReadonlyMap<string, readonly string[]> {
  const unread = collectInto([])
  return new Map(
    Object.entries(isObject(inputMapping) ? inputMapping : {}).map(([source, declared]) => [
      source,
      (readTargets(declared, unread) ?? []).map(({ target }) => target.text),
    ]),
  )
}

/** The targets of entries whose source the message does not have: they may need another source. */
function missingTargets(mapped: ReadonlyMap<string, readonly string[]>, message: JsonObject): readonly Leaf[] {
  const isMissing = (source: string): boolean => {
    const path = parsePath(source)
    const found = path.ok ? path.value.read(message) : undefined
    return found === undefined || (Array.isArray(found) && found.every((value) => value === null))
  }
  const texts = new Set([...mapped].flatMap(([source, targets]) => (isMissing(source) ? targets : [])))
  return [...texts].flatMap((path): readonly Leaf[] => {
    const parsed = parseSteps(path, 'target')
    return parsed.ok ? [{ steps: parsed.value, names: parsed.value, path, isList: false, types: new Set() }] : []
  })
}

/** Fails with ID_MALFORMED, MESSAGE_UNKNOWN, STORE_UNAVAILABLE. */
export type ReadRecordedMessage = (
  messageId: string,
) => Promise<Readonly<{ source: SuggestSource; notRead: readonly Part[] }>>
type Part = Readonly<{ part: string; reason: string }>

const UNKEPT: Part = { part: 'incoming', reason: 'the body was not kept, or the message had none' }

export const createReadRecordedMessage =
  (recorded: RecordedMessages): ReadRecordedMessage =>
  async (messageId) => {
    const { bodies } = await recorded.search.get(messageId)
    if (!bodies.some(({ which }) => which === 'request')) return { source: {}, notRead: [UNKEPT] }
    const { incoming, summaries, exchanges } = await readRecordedMessage(messageId, recorded)
    const answered = exchanges.filter(({ call }) => call.kind === 'lookup')
    const parts = [...summaries, ...answered.flatMap(({ summary }) => summary ?? [])]
    const cut = parts.filter((part) => part.cut)
    const body = summaries.find(({ which }) => which === 'incoming')
    const lookups = new Map<string, SampleBody | readonly SampleBody[]>()
    for (const { call, answer } of answered) {
      if (answer === undefined || answer.fault !== undefined) continue
      const one = toSample(answer.body, answer.headers['content-type'])
      lookups.set(call.id, call.item === undefined ? one : [...[lookups.get(call.id) ?? []].flat(), one])
    }
    return {
      source: {
        ...(body === undefined || body.cut ? {} : toSample(incoming.body, body.contentType)),
        query: incoming.query ?? {},
        urlParams: incoming.urlParams ?? {},
        lookups: Object.fromEntries(lookups),
      },
      notRead: [
        ...(body === undefined ? [UNKEPT] : []),
        ...cut.map(({ which }) => ({ part: which, reason: 'only the start of the body was kept' })),
      ],
    }
  }

const toSample = (body: Uint8Array | undefined, contentType: string | undefined): SampleBody => ({
  ...(body && { body }),
  ...(contentType && { contentType }),
})
