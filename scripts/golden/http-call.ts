/** One HTTP call and all that its answer shows. */
import { request } from 'node:http'
import { connect } from 'node:net'

export type Call = Readonly<{
  method: string
  path: string
  headers?: Readonly<Record<string, string>>
  /** Text is sent unchanged, any other value as JSON. */
  body?: unknown
}>

export type Answer = Readonly<{ status: number; headers: readonly (readonly [string, string])[]; body: string }>

/** The first event of a stream, with its data. A stream does not end by itself. */
const FIRST_EVENT = /^[\s\S]*?^data: .*\n\n/m

/** A connection of its own for each call, so that no call depends on what an earlier one left of it. */
export function send(base: string, { method, path, headers = {}, body }: Call): Promise<Answer> {
  const bytes = body === undefined ? undefined : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const { hostname, port } = new URL(base)
  const length = bytes === undefined ? {} : { 'content-length': bytes.length }
  return new Promise((resolve, reject) => {
    const options = {
      hostname,
      port,
      method,
      path,
      agent: false,
      headers: { connection: 'keep-alive', ...length, ...headers },
    }
    const sent = request(options, (response) => {
      const chunks: Buffer[] = []
      const finish = () => {
        const pairs: [string, string][] = []
        for (let at = 0; at < response.rawHeaders.length; at += 2) {
          pairs.push([String(response.rawHeaders[at]).toLowerCase(), String(response.rawHeaders[at + 1])])
        }
        resolve({ status: response.statusCode ?? 0, headers: pairs, body: Buffer.concat(chunks).toString() })
        sent.destroy()
      }
      const isStream = response.headers['content-type']?.startsWith('text/event-stream')
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        if (isStream && FIRST_EVENT.test(Buffer.concat(chunks).toString())) finish()
      })
      response.on('end', finish)
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(bytes)
  })
}

/** Bytes as they are, for requests that no client would send. Gives all that comes back until the service closes. */
export function sendRaw(base: string, text: string): Promise<string> {
  const { hostname, port } = new URL(base)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(received))
    socket.setTimeout(3000, () => socket.destroy())
    socket.end(text)
  })
}

/** Names in order of the alphabet: a proxy may send them in any. Those that no two runs share are placeholders. */
export function describeAnswer({ status, headers, body }: Answer): string {
  const length = String(Buffer.byteLength(body))
  const lines = headers.map(([name, value]) => {
    if (name === 'content-length')
      return `content-length: ${body === '' || value === length ? '<that of the body>' : value}`
    return `${name}: ${name === 'etag' ? '<etag>' : value}`
  })
  const type = headers.find(([name]) => name === 'content-type')?.[1] ?? ''
  return [`HTTP ${status}`, ...lines.sort(), '', readable(body, type)].join('\n').trimEnd()
}

function readable(body: string, type: string): string {
  if (type.startsWith('text/event-stream')) return FIRST_EVENT.exec(body)?.[0] ?? body
  if (type.startsWith('text/plain; version=0.0.4')) return withoutValues(body)
  try {
    const value: unknown = JSON.parse(body)
    // Other white space or another notation of a number is something to see.
    return JSON.stringify(value) === body ? JSON.stringify(value, undefined, 2) : body
  } catch {
    return body
  }
}

/** Metrics: their names and labels. Most values, and the buckets of durations, are those of the machine. */
function withoutValues(exposition: string): string {
  // Those that are there only while something happens.
  const stays = (line: string) => !/^nodejs_(?:active_|gc_)/.test(line)
  const lines = exposition
    .split('\n')
    .filter(stays)
    .map((line) => (line.startsWith('#') ? line : line.replace(/ \S+$/, ' <value>')))
  return [...new Set(lines.map((line) => line.replace(/le="[^"]+"/, 'le="<bound>"')))].join('\n')
}
