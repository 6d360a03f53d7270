/** The examples of a request for a document, as they are given or from the message log, and a test of each. */
import { MAX_EXAMPLE_BYTES } from '../../core/examples.ts'
import { Failure } from '../../core/failure.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { documentPath, type Lint } from '../../core/lint.ts'
import type { BodySummary, MessageRecord, RecordedBody } from '../../core/records/message-record.ts'
import { isSecretName, isSecretParameter, MASK } from '../../core/secrets/secrets.ts'
import type { CannedAnswers } from '../../document/checks/dry-run-request.ts'
import { OPTION_SCHEMAS } from '../../formats/codecs.ts'
import { callMessageLog } from '../../records/message-log/message-search.ts'
import { hideValues } from '../../records/message-log/redaction.ts'
import {
  describeLoss,
  type NotReproduced,
  type RecordedMessage,
  type RecordedMessages,
  readRecordedMessage,
} from '../dry-run/recorded-message.ts'
import { literal } from '../tests/expectation-of-record.ts'
import { testInputFromLogEntry } from '../tests/given-of-record.ts'
import { readBody } from '../tests/observed.ts'
import { type RecordedEndpoints, readRecordedDocument } from '../tests/recorded-tests.ts'
import { MAX_TEST_BYTES } from '../tests/test-file.ts'
import { isRedacted } from './by-example/derive.ts'
import type { GivenMessage } from './by-example/run-pairs.ts'
import { invalid, type SampleBody, type SuggestRequest } from './suggest-request.ts'

export type GivenExample = Readonly<{
  /** In the request. */
  index: number
  given: GivenMessage
  /** A text is read by its type. */
  output: Json
  outputType?: string | undefined
  /** Of its test. */
  name?: string
  /** The recorded message, as tests have it. */
  source?: JsonObject
  /** Its credentials, which its parameters and headers are given without. */
  credentials?: ReadonlySet<string>
}>

export type Examples = Readonly<{
  examples: readonly GivenExample[]
  /** What a new document takes from the endpoint of recorded messages. */
  kept: JsonObject
  /** Why recorded messages were left out, and what others lack of what they had. */
  notRead: readonly Lint[]
}>

type Asked = Pick<SuggestRequest, 'examples' | 'endpoint' | 'endpointId'>
type AskedExample = NonNullable<SuggestRequest['examples']>[number]

/** Fails with SUGGESTION_INVALID if no example is left, and with STORE_UNAVAILABLE. */
export type ReadExamples = (request: Asked) => Promise<Examples>

/** Of a request without recorded messages. */
export const readGiven = ({ examples = [] }: Pick<Asked, 'examples'>): Examples => ({
  examples: examples.map(toGiven),
  kept: {},
  notRead: [],
})

const toGiven = ({ message = {}, lookups = {}, output = null, outputType }: AskedExample, index: number) => ({
  index,
  given: {
    message,
    lookups: Object.fromEntries(
      Object.entries(lookups).map(([id, answer]) => [
        id,
        Array.isArray(answer) ? answer.map(toCanned) : toCanned(answer as SampleBody),
      ]),
    ) as CannedAnswers,
  },
  output,
  outputType,
})

const toCanned = ({ body, contentType }: SampleBody) => ({
  ...(body === undefined ? {} : { body }),
  ...(contentType && { headers: { 'content-type': contentType } }),
})

/** A recorded message that cannot be an example. */
class Unusable extends Error {}

/**
 * Leaves out messages that were not kept whole, made nothing, or are of another endpoint than the first one, unless the request
 * has a document.
 */
export function createReadExamples(recorded: RecordedMessages, endpoints: RecordedEndpoints): ReadExamples {
  return async ({ examples: asked = [], endpoint, endpointId }) => {
    const hasDocument = endpoint !== undefined || endpointId !== undefined
    const examples: GivenExample[] = []
    const notRead: Lint[] = []
    let first: Recorded | undefined
    let bytes = 0
    for (const [index, example] of asked.entries()) {
      const { messageId, output, outputType } = example
      const note = (message: string) =>
        notRead.push({ path: documentPath('examples', index), message, severity: 'error' })
      if (messageId === undefined) {
        examples.push(toGiven(example, index))
        continue
      }
      try {
        const one = await readRecorded(messageId, output, recorded, endpoints)
        first ??= one
        if (!hasDocument && first.record.endpointId !== one.record.endpointId) {
          throw new Unusable(
            `It is a message of "${one.record.endpoint}", and an earlier one of "${first.record.endpoint}": give messages of one endpoint.`,
          )
        }
        bytes += one.bytes
        if (bytes > MAX_EXAMPLE_BYTES) {
          throw new Unusable(`With it, the messages have more than ${MAX_EXAMPLE_BYTES.toLocaleString('en')} bytes.`)
        }
        for (const reason of one.lacks) note(reason)
        examples.push({ index, ...one.example, ...(output === undefined ? {} : { output, outputType }) })
      } catch (thrown) {
        // What is not found, or not kept.
        const isKnown = thrown instanceof Unusable || (thrown instanceof Failure && thrown.status < 500)
        if (!isKnown) throw thrown
        note(thrown.message)
      }
    }
    if (examples.length === 0) throw invalid(notRead)
    return { examples, kept: first === undefined ? {} : keptOf(first.document), notRead }
  }
}

/** What decides how messages of an endpoint are read, beside its route. */
const KEPT = ['auth', 'transformation', 'constants', ...Object.keys(OPTION_SCHEMAS)]

function keptOf(document: JsonObject): JsonObject {
  const { endpoint = {}, requests } = document
  const { lookup = [] } = isObject(requests) ? requests : {}
  const kept = Object.entries(document).filter(([name]) => KEPT.includes(name))
  return { ...Object.fromEntries(kept), endpoint, requests: { lookup } }
}

type Recorded = Readonly<{
  record: MessageRecord
  document: JsonObject
  bytes: number
  /** Which parts were redacted, or are not as the message had them. */
  lacks: readonly string[]
  example: Omit<GivenExample, 'index'>
}>

/** `wanted`: the output, if it is not what the message made. Throws Unusable; fails as the reads do. */
async function readRecorded(
  messageId: string,
  wanted: Json | undefined,
  recorded: RecordedMessages,
  endpoints: RecordedEndpoints,
): Promise<Recorded> {
  const message = await readRecordedMessage(messageId, recorded)
  const { record, exchanges, summaries } = message
  const { endpointId, endpointVersion, outcome, code, callsOmitted } = record
  if (endpointId === undefined) throw new Unusable('No endpoint took this message.')
  if (wanted === undefined && outcome !== 'done' && outcome !== 'partial') {
    throw new Unusable(
      `It ended ${outcome}${code === undefined ? '' : ` (${code})`}: give its "output", or leave it out.`,
    )
  }
  const { document } = await readRecordedDocument(endpointId, record, endpoints)
  const { given, losses } = testInputFromLogEntry(message, document)
  const binary = losses.find(({ path }) => path === 'message.body')
  if (binary !== undefined) throw new Unusable(binary.reason)
  const lookups = exchanges.filter(({ call }) => call.kind === 'lookup')
  const missing = lookups.find(({ answer }) => answer === undefined)
  if (missing !== undefined || callsOmitted !== undefined) {
    throw new Unusable(`What its lookup ${missing?.call.id ?? ''} answered was not kept, or only the start of it.`)
  }
  const made = wanted === undefined ? await readOutput(document, record, recorded) : undefined
  const parts = [...summaries, ...lookups.flatMap(({ summary }) => summary ?? []), ...(made ? [made.summary] : [])]
  const cut = parts.find((part) => part.cut)
  if (cut !== undefined) throw new Unusable(describePart(cut)[0])
  return {
    record,
    document,
    bytes: parts.reduce((sum, { size }) => sum + size, 0),
    lacks: [...new Set([...parts.flatMap(describePart), ...losses.map(describeLack)])],
    example: {
      given: given as GivenMessage,
      output: null,
      ...(made && toOutput(made)),
      credentials: credentialsOf(message),
      source: { messageId, ...(endpointVersion === undefined ? {} : { endpointVersion }) },
    },
  }
}

const describeLack = ({ path, reason }: NotReproduced): string => `${path}: ${reason}`

const describePart = (part: BodySummary): readonly string[] => describeLoss(part.which, part).map(describeLack)

/** A header may have a scheme before the value. */
function credentialsOf({ incoming: { query = {}, requestHeaders } }: RecordedMessage): ReadonlySet<string> {
  const values = [
    ...Object.entries(query).filter(([name]) => isSecretParameter(name)),
    ...Object.entries(requestHeaders).filter(([name]) => isSecretName(name)),
  ].flatMap(([, value]) => [value].flat().map(String))
  return new Set(values.flatMap((value) => [value, value.replace(/^[\w-]+\s+/, '')]))
}

/** With a mark in place of what has a credential. */
export function withoutCredentials(value: Json, { credentials = new Set() }: Pick<GivenExample, 'credentials'>): Json {
  if (credentials.size === 0) return value
  const hide = hideValues(credentials)
  const change = (one: Json): Json => {
    if (typeof one === 'string') return hide(one) === one ? one : MASK
    if (typeof one === 'number') return hide(String(one)) === MASK ? MASK : one
    if (Array.isArray(one)) return one.map(change)
    return isObject(one) ? Object.fromEntries(Object.entries(one).map(([name, inner]) => [name, change(inner)])) : one
  }
  return change(value)
}

/** What the mapping made; where it passes messages on, the answer. */
async function readOutput(
  { inputMapping }: JsonObject,
  { id, bodies }: MessageRecord,
  { store }: RecordedMessages,
): Promise<RecordedBody> {
  const maps = isObject(inputMapping) && Object.keys(inputMapping).length > 0
  const which = (maps ? ['mapped', 'answer'] : ['answer']).find((name) => bodies.some((one) => one.which === name))
  const body = which === undefined ? undefined : await callMessageLog(() => store.body(id, which))
  if (body === undefined) throw new Unusable('What it became was not kept, or is empty.')
  return body
}

/** The value that a mapping made is JSON; an answer is in the format of its type. */
function toOutput({ summary: { which, contentType }, content }: RecordedBody) {
  const text = Buffer.from(content).toString()
  return which === 'mapped'
    ? { output: JSON.parse(text) as Json }
    : { output: text, outputType: contentType || undefined }
}

// A test of each example.

const HEAD_BYTES = 1_000

/**
 * In: `outputs`, the values of those that are texts; the document of the examples. Out: as many tests as a file of tests holds. A
 * test expects the answer; if other parts of the document decide that, or nothing says how it reads, what the mapping makes.
 */
export function testExamples(
  examples: readonly GivenExample[],
  outputs: readonly Json[],
  document: JsonObject,
): readonly JsonObject[] {
  const { requests, answer, transformation } = document
  const { response = [] } = isObject(requests) ? requests : {}
  const isAnswer = answer === undefined && [response].flat().length === 0
  const isJson = isObject(transformation) && /JSON$/.test(String(transformation.output))
  let bytes = HEAD_BYTES
  return examples.flatMap((example, at) => {
    const { index, name, given, output, outputType, source } = example
    const { message, lookups = {} } = given
    const expected = (value: Json): Json => {
      const shown = literal(withoutCredentials(value, example))
      return source === undefined ? shown : withoutMarks(shown)
    }
    // A text that has no format is the output itself.
    const text = typeof output === 'string' && output !== outputs[at] ? output : undefined
    const body = text === undefined ? output : readBody(text, outputType, document).value
    const answers = isAnswer && body !== undefined && (text !== undefined || isJson)
    const test = {
      name: name ?? (source === undefined ? `example ${index + 1}` : `message ${source.messageId}`),
      ...(source && { source }),
      given: { message, ...(Object.keys(lookups).length === 0 ? {} : { lookups }) },
      expect: {
        outcome: 'done',
        ...(answers ? { answer: { status: 200, body: expected(body) } } : { mapped: expected(outputs[at] ?? null) }),
      },
    } as JsonObject
    bytes += Buffer.byteLength(JSON.stringify(test)) + 1
    return bytes > MAX_TEST_BYTES ? [] : [test]
  })
}

/** In: an expectation. What was redacted may be anything. */
function withoutMarks(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutMarks)
  if (!isObject(value)) return isRedacted(value) ? { $any: true } : value
  if (Object.hasOwn(value, '$literal')) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutMarks(inner)]))
}
