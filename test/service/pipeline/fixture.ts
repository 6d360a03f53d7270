/** One service and one upstream for the tests of a file, whose messages each go through a document of their own. */
import type { OutgoingHttpHeaders } from 'node:http'
import { after, before } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import {
  type Answering,
  json,
  type Received,
  type Reply,
  type Service,
  startService,
  startUpstream,
  type Upstream,
} from '../../support/service.ts'

/** An answer of the upstream, byte for byte. */
export type Said = Readonly<{
  status?: number
  type?: string
  headers?: OutgoingHttpHeaders
  body?: string | Uint8Array
}>

/**
 * Where nothing else is said, the upstream answers `/<status>` with that status, breaks off `/reset` and never answers `/silent`;
 * its body repeats what it was asked.
 */
const echo: Answering = ({ method, url, body }, response) => {
  const [, step = ''] = url.split(/[/?]/)
  if (step === 'reset') response.destroy()
  if (step === 'silent') return undefined
  if (/^\d{3}$/.test(step)) response.statusCode = Number(step)
  return { method, url, ...(body === '' ? {} : { body }) }
}

const saying =
  ({ status = 200, type, headers = {}, body }: Said): Answering =>
  (_request, response) => {
    response.writeHead(status, { ...headers, ...(type === undefined ? {} : { 'content-type': type }) }).end(body)
    return undefined
  }

/** `prepare`: what is registered before the first test. */
export function openPipeline(env: Record<string, string> = {}, prepare?: (service: Service) => Promise<void>) {
  let service: Service
  let upstream: Upstream
  const answers = new Map<string, Answering>()
  before(async () => {
    upstream = await startUpstream((request, response) =>
      (answers.get(request.url.split('?')[0] ?? '') ?? echo)(request, response),
    )
    service = await startService(env)
    await prepare?.(service)
  })
  after(async () => {
    await service.stop()
    await upstream.stop()
  })
  let made = 0
  const pipeline = {
    get service() {
      return service
    },
    get upstream() {
      return upstream
    },
    /** A URL at which the upstream answers so. */
    at(answer: Said | Answering): string {
      made += 1
      answers.set(`/said-${made}`, typeof answer === 'function' ? answer : saying(answer))
      return `${upstream.url}/said-${made}`
    },
    /** Registers the document at a path of its own, and gives that; `tail` follows it in the pattern. */
    async register({ endpoint = {}, ...document }: JsonObject, tail = ''): Promise<string> {
      made += 1
      const pattern = `/made-${made}`
      await service.register({ endpoint: { pattern: pattern + tail, ...(endpoint as JsonObject) }, ...document })
      return pattern
    },
    /** Registers the document and sends it a message. */
    async send(document: JsonObject, body: Json = {}): Promise<Reply> {
      return service.fetch(await pipeline.register(document), json('POST', body))
    },
    /** What reached the upstream during the work. */
    async receivedIn(work: () => Promise<unknown>): Promise<Received[]> {
      const from = upstream.received.length
      await work()
      return upstream.received.slice(from)
    },
  }
  return pipeline
}

export const output = (format: string): JsonObject => ({ transformation: { input: 'JSON', output: format } })

/** The places of a failure: its status, code, stage and path. */
export function failureOf(reply: Reply): Json[] {
  const { code = null, stage = null, path = null } = reply.json()
  return [reply.status, code, stage, path]
}

/** What the lookup found. */
export const dataOf = (reply: Reply, id = 'one'): Json | undefined =>
  reply.json<{ lookupRequests: Record<string, { data?: Json }> }>().lookupRequests[id]?.data

/** XML without its declaration and the white space between elements; anything else as it is. */
export const elements = (text: string): string =>
  text.startsWith('<') ? text.replace(/^<\?xml[^>]*\?>\s*/, '').replace(/>\s+</g, '><') : text
