/** The other systems that the recorded messages call. The first part of a path says how a call is answered. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** As in tests of documents. */
export type Canned = Readonly<{ status?: number; headers?: Record<string, string>; body?: unknown; fault?: string }>

const JSON_TYPE = { 'content-type': 'application/json' }
const OUTCOME = {
  resourceType: 'OperationOutcome',
  issue: [{ severity: 'error', code: 'deleted', diagnostics: 'Deleted in 2020.' }],
}

/** `rest`: the parts of the path after the behaviour. */
const BEHAVIOURS: Readonly<Record<string, (rest: readonly string[]) => Canned>> = {
  status: ([status]) => ({ status: Number(status), body: { status } }),
  json: ([id]) => ({ headers: { etag: 'W/1' }, body: { id: Number(id ?? 7), items: [{ n: 'x' }, { n: 'y' }] } }),
  xml: () => ({ headers: { 'content-type': 'application/xml' }, body: '<a b="1"><c>2</c></a>' }),
  text: () => ({ headers: { 'content-type': 'text/plain' }, body: 'plain text' }),
  outcome: () => ({ status: 410, headers: { 'content-type': 'application/fhir+json' }, body: OUTCOME }),
  redirect: () => ({ status: 302, headers: { location: '/json/8' }, body: '' }),
  deep: () => ({ headers: JSON_TYPE, body: `${'['.repeat(70)}${']'.repeat(70)}` }),
  busy: () => ({ status: 503, headers: { 'retry-after': '7' }, body: {} }),
  empty: () => ({ status: 204 }),
  slow: () => ({ fault: 'timeout' }),
  broken: () => ({ fault: 'unreadable' }),
  large: () => ({ fault: 'too-large' }),
  closed: () => ({ fault: 'unreachable' }),
}

export class Upstream {
  readonly port: number
  /** The calls since they were last taken. */
  private received: string[] = []
  private canned = new Map<string, Canned[]>()
  private readonly server: ReturnType<typeof createServer>

  static async start(): Promise<Upstream> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new Upstream(server)
  }

  private constructor(server: ReturnType<typeof createServer>) {
    this.server = server
    this.port = (server.address() as AddressInfo).port
    server.on('request', (incoming, response) => void this.answer(incoming, response))
  }

  /** Calls below `/test/<id>` get these: one for all calls of a request, or one for each. */
  give(answers: Readonly<Record<string, Canned | readonly Canned[]>>): void {
    this.canned = new Map(Object.entries(answers).map(([id, given]) => [id, [given].flat()]))
  }

  /** In order of the alphabet, since calls of different requests are made at once. */
  takeReceived(): readonly string[] {
    return this.received.splice(0).sort()
  }

  stop(): void {
    this.server.closeAllConnections()
    this.server.close()
  }

  private async answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const { method, url = '', headers } = incoming
    const sent = Object.entries(headers).filter(([name]) => !/^(host|connection|content-length)$/.test(name))
    const lines = sent.map(([name, value]) => `\n    ${name}: ${value}`).sort()
    this.received.push(`  ${method} ${url}${lines.join('')}\n    ${Buffer.concat(chunks)}`.trimEnd())
    const [behaviour = '', ...rest] = new URL(url, 'http://upstream').pathname.slice(1).split('/')
    if (behaviour === 'test') return reply(response, this.nextOf(rest[0] ?? ''))
    reply(response, BEHAVIOURS[behaviour]?.(rest) ?? { status: 404, body: { unknown: behaviour } })
  }

  private nextOf(id: string): Canned {
    const answers = this.canned.get(id) ?? []
    return (answers.length > 1 ? answers.shift() : answers[0]) ?? {}
  }
}

function reply(response: ServerResponse, { status = 200, headers = {}, body, fault }: Canned): void {
  if (fault === 'timeout') return
  if (fault === 'unreachable') return void response.destroy()
  if (fault === 'unreadable') return void response.writeHead(200, JSON_TYPE).end('{"cut":')
  if (fault === 'too-large') return void response.writeHead(200, JSON_TYPE).end(JSON.stringify('x'.repeat(200_000)))
  const isText = typeof body === 'string'
  if (body === undefined) return void response.writeHead(status, headers).end()
  response.writeHead(status, isText ? headers : { ...JSON_TYPE, ...headers }).end(isText ? body : JSON.stringify(body))
}
