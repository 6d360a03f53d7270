/** Sends the same messages to the peer and to this service. */
import { createManagementClient, fetchDocuments, ServiceFault } from '../service-client/management-client.ts'
import type { Comparison } from './compare-answers.ts'
import { type ComparedMessage, ComparisonImpossible } from './compared-message.ts'
import {
  createEndpointDocuments,
  documentsIn,
  type EndpointDocument,
  type EndpointDocuments,
  requestsOf,
} from './endpoint-documents.ts'
import { sendMessage } from './exchange.ts'
import { readAnswer } from './received-answer.ts'

export type LiveOptions = Readonly<{
  peerUrl: string
  serviceUrl: string
  /** The API key of the service; undefined if it needs none. */
  key: string | undefined
  messages: readonly ComparedMessage[]
  /** Whether messages may be sent whose endpoints send their output on: the other systems get everything twice. */
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
  const documents = createEndpointDocuments(await documentsOfService(serviceUrl, options.key))
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
export async function documentsOfService(url: string, key: string | undefined): Promise<readonly EndpointDocument[]> {
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
    met.filter((document) => document !== undefined && requestsOf(document, 'response').length > 0),
  )
  if (sending.size === 0) return
  const names = [...sending].map((document) => `"${document?.name}"`).join(', ')
  throw new ComparisonImpossible(
    `These endpoints send their output to other systems, which would get each message twice: ${names}. Leave out their messages, or give --allow-side-effects if the other systems may get them.`,
  )
}
