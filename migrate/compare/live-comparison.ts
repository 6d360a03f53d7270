/** Sends the same messages to the peer and to this service. */

import { createManagementClient, fetchDocuments, ServiceFault } from '../../src/cli/service-client/management-client.ts'
import { FRAMING_HEADERS, missingScheme } from '../../src/core/http.ts'
import { readBytes } from '../import/source-files.ts'
import {
  type ComparedMessage,
  type Comparison,
  ComparisonImpossible,
  type EndpointDocument,
  type ExchangeTimes,
  listRequests,
  type ReceivedAnswer,
  readAnswer,
} from './comparison.ts'
import { createEndpointDocuments, documentsIn, type EndpointDocuments } from './endpoint-documents.ts'

export type LiveOptions = Readonly<{
  peerUrl: string
  serviceUrl: string
  /** The API key of the service. */
  key: string | undefined
  messages: readonly ComparedMessage[]
  /** Also sends messages whose endpoints send their output on: the other systems get everything twice. */
  allowSideEffects: boolean
  /** Called after each message. */
  progress(done: number, of: number): void
}>

/**
 * One message after the other, to the peer first, so that both see the same order and keep the same state.
 * Throws ComparisonImpossible.
 */
export async function compareLive(options: LiveOptions): Promise<readonly Comparison[]> {
  const { peerUrl, serviceUrl, messages, progress } = options
  const documents = createEndpointDocuments(await readServiceDocuments(serviceUrl, options.key))
  if (!options.allowSideEffects) refuseSideEffects(messages, documents)
  const comparisons: Comparison[] = []
  for (const message of messages) {
    const peer = await sendMessage(peerUrl, message)
    const here = await sendMessage(serviceUrl, message)
    const document = documents.find(message.method, message.path)?.document
    comparisons.push({
      message,
      document,
      called: document === undefined ? [] : documents.calledBy(document),
      peer: { answer: readAnswer(peer.answer), times: peer.times, calls: undefined },
      here: { answer: readAnswer(here.answer), times: here.times, calls: undefined },
    })
    progress(comparisons.length, messages.length)
  }
  return comparisons
}

const TIMEOUT_MS = 60_000

/** The documents of a running service. Throws ComparisonImpossible. */
export async function readServiceDocuments(url: string, key: string | undefined): Promise<readonly EndpointDocument[]> {
  try {
    const client = createManagementClient({ url, key, timeoutMs: TIMEOUT_MS, role: 'viewer', unanswered: '' })
    return documentsIn(await fetchDocuments(client))
  } catch (thrown) {
    throw thrown instanceof ServiceFault ? new ComparisonImpossible(thrown.message) : thrown
  }
}

function refuseSideEffects(messages: readonly ComparedMessage[], documents: EndpointDocuments): void {
  const met = messages.map(({ method, path }) => documents.find(method, path)?.document)
  const sending = new Set(
    met.filter((document) => document !== undefined && listRequests(document, 'response').length > 0),
  )
  if (sending.size === 0) return
  const names = [...sending].map((document) => `"${document?.name}"`).join(', ')
  throw new ComparisonImpossible(
    `These endpoints send their output to other systems, which would get each message twice: ${names}. Leave out their messages, or give --allow-side-effects if the other systems may get them.`,
  )
}

const ANSWER_LIMIT_BYTES = 64 * 1024 * 1024

/** Sends a message to the service at a base URL. Throws ComparisonImpossible if there is no whole answer. */
export async function sendMessage(
  base: string,
  { name, method, path, query, headers, body }: ComparedMessage,
): Promise<Readonly<{ answer: ReceivedAnswer; times: ExchangeTimes }>> {
  const url = joinUrl(base, path)
  for (const [parameter, value] of Object.entries(query)) {
    for (const text of [value].flat()) url.searchParams.append(parameter, text)
  }
  const sent = Object.fromEntries(Object.entries(headers).filter(([header]) => !FRAMING_HEADERS.has(header)))
  const sentAt = Date.now()
  const answer = await exchange(url, { method, headers: sent, ...(body === undefined ? {} : { body }) }, name)
  return { answer, times: { sentAt, answeredAt: Date.now() } }
}

async function exchange(url: URL, init: RequestInit, what: string): Promise<ReceivedAnswer> {
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) })
    const body = await readBytes(
      response.body ?? new Blob([]).stream(),
      ANSWER_LIMIT_BYTES,
      `its answer is larger than ${ANSWER_LIMIT_BYTES} bytes`,
    )
    return { status: response.status, headers: Object.fromEntries(response.headers), body }
  } catch (thrown) {
    const { message, cause } = thrown as Error
    const why = cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : message
    throw new ComparisonImpossible(`${what}: no answer from ${shownUrl(url)}: ${why}.`)
  }
}

/** The base URL with a path below it. A query of the base stays. */
function joinUrl(base: string, path: string): URL {
  const url = URL.parse(base)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const wrong = `"${base}" is not the URL of a service; write it as http://host:3003.`
    throw new ComparisonImpossible(missingScheme(base) ?? wrong)
  }
  const below = new URL(path, 'http://path.invalid')
  url.pathname = `${url.pathname.replace(/\/$/, '')}${below.pathname}`
  for (const [name, value] of below.searchParams) url.searchParams.append(name, value)
  return url
}

/** Without credentials and query. */
const shownUrl = ({ protocol, host, pathname }: URL): string => `${protocol}//${host}${pathname}`
