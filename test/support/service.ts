/** A whole service on free ports of 127.0.0.1 with a store of its own, and upstreams for it to call. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type App, startApp } from '../../src/app/app.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'
import type { Logger } from '../../src/core/ports/logger-port.ts'
import { readSettings, type Settings } from '../../src/settings/settings.ts'
import { endpointDocument, json } from './endpoint-document.ts'

export { endpointDocument, json }

export type LogLine = Readonly<{ level: string; fields: Record<string, unknown>; message: string }>

export type Service = Readonly<{
  url: string
  adminUrl: string
  log: LogLine[]
  app: App
  /** Registers a document (with defaults that it need not repeat) and gives the stored one; fails where it is refused. */
  register(document: JsonObject): Promise<StoredEndpoint>
  fetch(path: string, init?: RequestInit): Promise<Reply>
  stop(): Promise<void>
}>

export type StoredEndpoint = JsonObject & Readonly<{ _id: string; name: string; createdAt: string; updatedAt: string }>

export type Reply = Readonly<{
  status: number
  headers: Headers
  text: string
  /** The body as JSON; fails where it is none. */
  json: <T = JsonObject>() => T
}>

export const loggerInto = (log: LogLine[]): Logger => {
  const at = (level: string) => (fields: object, message: string) =>
    void log.push({ level, fields: fields as Record<string, unknown>, message })
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    repeat: (fields, message) => (messageId, ms) => at('info')({ ...fields, messageId, ms }, message),
  }
}

/** Those of a service on free ports, and what `env` sets. Throws where a value is wrong. */
export function readTestSettings(env: Readonly<Record<string, string>>): Settings {
  const reading = readSettings({ SERVER_PORT: '0', ADMIN_PORT: '0', ...env })
  if (!reading.ok) throw new Error(reading.faults.join('\n'))
  return reading.settings
}

/** `env` overrides settings by their names; `folder` is where the database is, a new one unless given. */
export async function startService(env: Record<string, string> = {}, folder?: string): Promise<Service> {
  const home = folder ?? mkdtempSync(join(tmpdir(), 'crosswalk-'))
  const settings = readTestSettings({ DATABASE_URL: `sqlite:${join(home, 'test.db')}`, ...env })
  const log: LogLine[] = []
  const app = await startApp(settings, '0.0.0', loggerInto(log))
  const url = `http://127.0.0.1:${app.messagePort}`
  const ask = async (path: string, init?: RequestInit): Promise<Reply> => {
    const response = await fetch(`${url}${path}`, { redirect: 'manual', ...init })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) }
  }
  return {
    url,
    adminUrl: `http://127.0.0.1:${app.adminPort}`,
    log,
    app,
    fetch: ask,
    register: async (document) => {
      const reply = await ask('/endpoints', json('POST', endpointDocument(document)))
      if (reply.status !== 201) throw new Error(`the document was refused: ${reply.text}`)
      return reply.json<StoredEndpoint>()
    },
    stop: async () => {
      await app.stop()
      if (folder === undefined) rmSync(home, { recursive: true })
    },
  }
}

export type Received = Readonly<{
  method: string
  /** Path and query, as sent. */
  url: string
  headers: IncomingMessage['headers']
  body: string
}>

export type Upstream = Readonly<{
  url: string
  /** Every request that reached it, in order of arrival. */
  received: Received[]
  stop(): Promise<void>
}>

/** What an upstream answers: a value as JSON, or anything by hand. */
export type Answering = (request: Received, response: ServerResponse) => Json | undefined | Promise<Json | undefined>

/** An upstream on a free port of 127.0.0.1. A value that `answer` gives is sent as JSON; undefined means that it answered itself. */
export async function startUpstream(answer: Answering): Promise<Upstream> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url = '', headers } = request
    const one: Received = { method, url, headers, body: Buffer.concat(chunks).toString() }
    received.push(one)
    const value = await answer(one, response)
    if (value === undefined) return
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(value))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
