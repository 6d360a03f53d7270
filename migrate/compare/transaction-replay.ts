/** Compares recorded transactions of OpenHIM with what the documents do now. Nothing is sent to the systems that they call. */

import { Failure } from '../../src/core/failure.ts'
import { kindForCode } from '../../src/core/failure-table.ts'
import { FRAMING_HEADERS } from '../../src/core/http.ts'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { isSecretParameter, REDACTED } from '../../src/core/secrets/secrets.ts'
import { DEFAULT_FORMAT, MEDIA_TYPES } from '../../src/formats/codecs.ts'
import { OPENHIM_MEDIA_TYPE } from '../../src/formats/openhim-wrapper.ts'
import { attempt } from '../attempt.ts'
import {
  type CallGroup,
  type ComparedCall,
  type ComparedMessage,
  type ComparedSide,
  type Comparison,
  type EndpointDocument,
  listRequests,
  readAnswer,
  readBody,
  readMediaType,
} from './comparison.ts'
import type { LeftOut } from './comparison-report.ts'
import type { EndpointDocuments } from './endpoint-documents.ts'
import type { Orchestration, Transaction, TransactionAnswer } from './openhim-transactions.ts'

/** Paths that start with `from` at OpenHIM start with `to` at the endpoints. */
export type PathChange = Readonly<{ from: string; to: string }>

export type OpenhimOptions = Readonly<{
  transactions: readonly Transaction[]
  documents: EndpointDocuments
  run: RunDry
  paths: readonly PathChange[]
  /** Called after each transaction. */
  progress(done: number, of: number): void
}>

export type ReplayedTransactions = Readonly<{
  replayed: readonly ReplayedTransaction[]
  leftOut: readonly LeftOut[]
}>

export async function compareTransactions(options: OpenhimOptions): Promise<ReplayedTransactions> {
  const { transactions, documents, run, paths, progress } = options
  const replayed: ReplayedTransaction[] = []
  const leftOut: LeftOut[] = []
  for (const [at, transaction] of transactions.entries()) {
    const one = await replayTransaction(transaction, changedPath(transaction.request.path, paths), documents, run)
    if ('reason' in one) leftOut.push(one)
    else replayed.push(one)
    progress(at + 1, transactions.length)
  }
  return { replayed, leftOut }
}

function changedPath(path: string, changes: readonly PathChange[]): string {
  const change = changes.find(({ from }) => path.startsWith(from))
  return change === undefined ? path : `${change.to}${path.slice(change.from.length)}`
}

/** Runs a dry run; in and out are its JSON. */
export type RunDry = (request: string) => Promise<JsonObject>

export type ReplayedTransaction = Readonly<{
  comparison: Comparison
  /** The request of the dry run, and its report. */
  given: DryRunGiven
  report: JsonObject
}>

export type DryRunGiven = Readonly<{
  endpoint: EndpointDocument
  message: JsonObject
  lookups: JsonObject
  responses: JsonObject
}>

/** Headers that belong to the way through OpenHIM. */
const PROXY_HEADERS = /^(?:x-openhim-|x-forwarded-)/

/** `path`: the path of the message at the endpoint, which OpenHIM may have changed. */
export async function replayTransaction(
  transaction: Transaction,
  path: string,
  documents: EndpointDocuments,
  run: RunDry,
): Promise<ReplayedTransaction | LeftOut> {
  const { id, request, response } = transaction
  const name = `transaction ${id}`
  const leftOut = (reason: string): LeftOut => ({ name, reason })
  const found = documents.find(request.method, path)
  if (found === undefined) return leftOut(`no endpoint has a pattern for ${request.method} ${path}.`)
  if (response.status === undefined) return leftOut('it has no response with a status.')
  const { document, urlParams } = found
  const calls = groupCalls(transaction, document)
  const message = toMessage(transaction, name, path)
  const { headers, query } = message
  const given: DryRunGiven = {
    endpoint: document,
    message: { ...withBody(request.body), headers, query, urlParams, ...readState(transaction) },
    lookups: toCannedAnswers(calls.lookup),
    responses: toCannedAnswers(calls.response),
  }
  const sentAt = Date.now()
  const report = await run(JSON.stringify(given)).catch((thrown: unknown) => {
    // A document that is too large is not compiled.
    if (thrown instanceof Failure) return thrown
    throw thrown
  })
  if (report instanceof Failure) return leftOut(`the document of "${document.name}" cannot run: ${report.message}`)
  if (report.ran !== true) return leftOut(`the document of "${document.name}" has faults: ${formatFaults(report)}`)
  const failure = isObject(report.failure) ? report.failure : {}
  if (kindForCode(String(failure.code)).dryRun) {
    const missing = Object.keys(calls.lookup).filter((lookup) => calls.lookup[lookup]?.length === 0)
    return leftOut(`its orchestrations have no answer of the lookup ${missing.join(', ')}.`)
  }
  const answer = isObject(report.answer) ? report.answer : {}
  if (answer.cut === true) return leftOut('its answer is too large to be compared.')
  const here: ComparedSide = {
    answer: readAnswer({
      status: Number(answer.status),
      headers: isObject(answer.headers) ? (answer.headers as Record<string, string>) : {},
      body: Buffer.from(String(answer.body ?? '')),
    }),
    times: { sentAt, answeredAt: Date.now() },
    calls: callsFromReport(report, calls),
  }
  const peer: ComparedSide = {
    answer: readAnswer({
      status: response.status,
      headers: normalizeAnswerHeaders(response, document),
      body: Buffer.from(response.body ?? ''),
    }),
    times: { sentAt: request.at, answeredAt: Number.isNaN(response.at) ? request.at : response.at },
    calls: recordedCalls(calls, document),
  }
  return { comparison: { message, document, called: documents.calledBy(document), peer, here }, given, report }
}

const withBody = (body: string | undefined): JsonObject => (body === undefined ? {} : { body })

function toMessage({ request }: Transaction, name: string, path: string): ComparedMessage {
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([header]) => !FRAMING_HEADERS.has(header) && !PROXY_HEADERS.test(header)),
  )
  const query = readQuery(request.query ?? '')
  const body = request.body === undefined ? undefined : Buffer.from(request.body)
  return { name, method: request.method, path, query, headers, body }
}

/** A parameter that is repeated is a list. */
export function readQuery(text: string): ComparedMessage['query'] {
  const query: Record<string, string | string[]> = {}
  for (const [parameter, value] of new URLSearchParams(text)) {
    const before = query[parameter]
    query[parameter] = before === undefined ? value : [before, value].flat()
  }
  return query
}

/** In its wrapper, the peer reports the type of the wrapper; the answer has the output type of the endpoint, as always there. */
function normalizeAnswerHeaders(
  { headers }: TransactionAnswer,
  { transformation }: EndpointDocument,
): TransactionAnswer['headers'] {
  const output = isObject(transformation) ? String(transformation.output).toUpperCase() : ''
  const outputType = (MEDIA_TYPES as Readonly<Record<string, string>>)[output] ?? MEDIA_TYPES[DEFAULT_FORMAT]
  if (!headers['content-type']?.startsWith(OPENHIM_MEDIA_TYPE) || outputType === OPENHIM_MEDIA_TYPE) return headers
  return { ...headers, 'content-type': outputType }
}

type CallsById = Readonly<Record<string, readonly Orchestration[]>>
type CallsByKind = Readonly<Record<CallGroup, CallsById>>

/** The recorded calls of each request, in the order in which they were sent. The peer names them after endpoint and request. */
function groupCalls({ orchestrations }: Transaction, document: EndpointDocument): CallsByKind {
  const byKind = (kind: CallGroup): CallsById =>
    Object.fromEntries(
      listRequests(document, kind).map(({ id }) => [
        String(id),
        orchestrations
          .filter((one) => matchesRequest(one, kind, document.name, String(id)))
          .toSorted((one, other) => one.request.at - other.request.at),
      ]),
    )
  return { lookup: byKind('lookup'), response: byKind('response') }
}

function matchesRequest({ name, request }: Orchestration, kind: CallGroup, endpoint: string, id: string): boolean {
  if (request.method === '') return false
  const group = kind === 'lookup' ? 'Lookup' : 'Response'
  return name === id || name === `Endpoint ${group} Request: ${endpoint}: ${id}`
}

function toCannedAnswers(calls: CallsById): JsonObject {
  const answered = Object.entries(calls).filter(([, list]) => list.length > 0)
  return Object.fromEntries(
    answered.map(([id, list]) => {
      const answers = list.map(({ response }) => cannedAnswer(response))
      return [id, answers.length === 1 ? (answers[0] ?? {}) : answers]
    }),
  )
}

/** The recorded body is decoded already, and its length is another. */
function cannedAnswer({ status, headers, body }: TransactionAnswer): JsonObject {
  if (status === undefined) return { fault: 'unreachable' }
  const kept = Object.entries(headers).filter(([name]) => !FRAMING_HEADERS.has(name) && name !== 'content-encoding')
  return { status, headers: Object.fromEntries(kept), ...withBody(body) }
}

/** The state that the message saw: the peer records all data of a message with its mapping. */
function readState({ orchestrations }: Transaction): JsonObject {
  for (const { request } of orchestrations) {
    const data = request.method === '' && request.body !== undefined ? parseJson(request.body) : undefined
    if (!isObject(data) || !isObject(data.timestamps) || !isObject(data.state)) continue
    const { system, requestBody, responseBody, query, lookupRequests } = data.state
    const kept = Object.entries({ system, requestBody, responseBody, query, lookupRequests })
    return { state: Object.fromEntries(kept.filter(([, value]) => value !== undefined)) as JsonObject }
  }
  return {}
}

function recordedCalls(calls: CallsByKind, document: EndpointDocument): ComparedSide['calls'] {
  const recorded = (['lookup', 'response'] as const).flatMap((kind) =>
    listRequests(document, kind).map((request) => {
      const id = String(request.id)
      const scheme = readScheme(request)
      return [id, (calls[kind][id] ?? []).map((one) => recordedCall(one.request, scheme))] as const
    }),
  )
  return Object.fromEntries(recorded.filter(([, list]) => list.length > 0))
}

/** Orchestrations do not say whether a call used TLS. */
const readScheme = ({ config }: JsonObject): string =>
  isObject(config) && /^\s*https:/i.test(String(config.url)) ? 'https:' : 'http:'

function recordedCall(request: Orchestration['request'], scheme: string): ComparedCall {
  const { method, host, port, path, query, headers, body } = request
  const suffix = query === undefined || query === '' ? '' : `?${withoutCredentials(query)}`
  return {
    method,
    url: `${scheme}//${host}${port === '' ? '' : `:${port}`}${path}${suffix}`,
    body: body === undefined ? undefined : bodyValue(body, headers['content-type'] ?? 'application/json'),
  }
}

/** The calls of the dry run, and those that it would store, whose requests were recorded; with their queries only where the peer has them. */
function callsFromReport(report: JsonObject, recorded: CallsByKind): ComparedSide['calls'] {
  const list = [report.calls ?? [], report.deliveries ?? []].flat().filter(isObject)
  const calls: Record<string, ComparedCall[]> = {}
  for (const { kind, id, method, url, headers, body, cut } of list) {
    const before = recorded[kind === 'lookup' ? 'lookup' : 'response'][String(id)] ?? []
    if (before.length === 0 || typeof url !== 'string') continue
    const own = calls[String(id)] ?? []
    calls[String(id)] = own
    const hasQuery = before[own.length]?.request.query !== undefined
    const type = isObject(headers) ? String(headers['content-type'] ?? '') : ''
    own.push({
      method: String(method),
      url: shownUrl(url, hasQuery),
      body: typeof body !== 'string' || cut === true ? undefined : bodyValue(body, type),
    })
  }
  return calls
}

function shownUrl(url: string, hasQuery: boolean): string {
  const { origin, pathname, search } = new URL(url)
  return `${origin}${pathname}${hasQuery ? withoutCredentials(search) : ''}`
}

/** The value that was sent may not be shown, and the documents have a reference in its place. */
const withoutCredentials = (query: string): string =>
  query.replaceAll(/([^?&=]+)=([^&]*)/g, (pair, name) => {
    const [decoded = name] = new URLSearchParams(pair).keys()
    return isSecretParameter(decoded) ? `${name}=${REDACTED}` : pair
  })

const bodyValue = (body: string, type: string): Json | undefined =>
  readBody(Buffer.from(body), readMediaType(type)).value

const parseJson = (text: string): Json | undefined => attempt(() => JSON.parse(text))

function formatFaults({ lint }: JsonObject): string {
  const errors = isObject(lint) && Array.isArray(lint.errors) ? lint.errors.filter(isObject) : []
  return errors.map(({ path, message }) => `${path}: ${message}`).join(' ')
}
