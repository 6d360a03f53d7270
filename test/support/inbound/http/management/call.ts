/** One HTTP request exactly as it is given: any method, any path, which fetch would refuse or tidy up. */
import { type Agent, type IncomingHttpHeaders, request } from 'node:http'
import type { JsonObject } from '../../../../../src/core/json.ts'

export type Called = Readonly<{
  status: number
  headers: IncomingHttpHeaders
  text: string
  json: <T = JsonObject>() => T
}>

export type CallOptions = Readonly<{
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** Keeps connections from call to call. */
  agent?: Agent
}>

/** `base` is an origin such as `http://127.0.0.1:3003`; `path` goes out as it is, on a connection of its own unless there is an agent. */
export function call(
  base: string,
  method: string,
  path: string,
  { headers = {}, body, agent }: CallOptions = {},
): Promise<Called> {
  const { hostname, port } = new URL(base)
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  return new Promise((resolve, reject) => {
    const outgoing = request({
      hostname,
      port,
      method,
      path,
      agent: agent ?? false,
      headers: { ...length, ...headers },
    })
    outgoing.on('error', reject)
    outgoing.on('response', async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      const text = Buffer.concat(chunks).toString()
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: () => JSON.parse(text) })
    })
    outgoing.end(body)
  })
}
