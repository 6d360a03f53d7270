/**
 * Runs a sample as its README describes: a whole service, the sample's documents registered over HTTP, and stub
 * upstreams in the place of the systems that the documents call.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json, JsonObject } from '../src/domain/json.ts'
import {
  type Answering,
  json,
  type Received,
  type Reply,
  type Service,
  startService,
  startUpstream,
  type Upstream,
} from '../test/service.ts'

/** Where the documents think that the service itself listens. */
const OWN_ORIGIN = 'http://127.0.0.1:3003'

export type Sample = Readonly<{
  service: Service
  /** A file of the sample as text, without white space at its end. */
  text(file: string): string
  /** A JSON file of the sample. */
  json(file: string): Json
  /** Sends a text to the route; GET and no body where there is none. */
  send(path: string, body?: string, mediaType?: string): Promise<Reply>
  /** What reached the upstream that stands in for the placeholder `origin`. */
  received(origin: string): readonly Received[]
  stop(): Promise<void>
}>

/**
 * Starts the documents of a sample's folder, in that order. `upstreams`: what answers in the place of each origin, such
 * as `http://127.0.0.1:8081`. Fails where a document is refused, has a warning, or calls an origin without a stub.
 */
export async function startSample(
  folder: string,
  documents: readonly string[] = ['endpoint.json'],
  upstreams: Readonly<Record<string, Answering>> = {},
): Promise<Sample> {
  const service = await startService()
  const stubs = new Map<string, Upstream>()
  const stop = async () => {
    await Promise.all([service.stop(), ...[...stubs.values()].map((stub) => stub.stop())])
  }
  const text = (file: string) => readFileSync(join(folder, file), 'utf8').trimEnd()
  try {
    for (const [origin, answer] of Object.entries(upstreams)) stubs.set(origin, await startUpstream(answer))
    const urls = new Map([[OWN_ORIGIN, service.url], ...[...stubs].map(([origin, { url }]) => [origin, url] as const)])
    for (const file of documents) await register(service, text(file), urls)
  } catch (thrown) {
    await stop()
    throw thrown
  }
  return {
    service,
    text,
    json: (file) => JSON.parse(text(file)),
    send: (path, body, mediaType = 'application/json') =>
      service.fetch(path, body === undefined ? {} : { method: 'POST', headers: { 'content-type': mediaType }, body }),
    received: (origin) => stubs.get(origin)?.received ?? [],
    stop,
  }
}

async function register(service: Service, text: string, urls: ReadonlyMap<string, string>): Promise<void> {
  const placed = text.replace(/http:\/\/127\.0\.0\.1:\d+/g, (origin) => {
    const url = urls.get(origin)
    assert.ok(url, `no stub stands in for ${origin}`)
    return url
  })
  const reply = await service.fetch('/endpoints', json('POST', JSON.parse(placed) as JsonObject))
  assert.equal(reply.status, 201, reply.text)
  assert.equal(reply.headers.get('x-crosswalk-warnings'), null)
}
