/**
 * Where the examples of a page are played: a whole service, and stand-ins for the systems that the page speaks of.
 * Pages have fixed ports, ids, ETags and times; here they are those of this run.
 */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { Json } from '../../../src/core/json.ts'
import { type Received, type Reply, startService, startUpstream } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import type { Exchange, Message } from './exchange.ts'

export type Stage = Readonly<{
  /** Sends a request of the page; `calls` are those that the service must make then or soon after, in any order, and no others. */
  send(request: Message, calls?: readonly Exchange[]): Promise<Reply>
  /** Compares an answer of the page with the one that came, and learns the ids and ETags of this run from it. */
  compare(expected: Message, reply: Reply): void
  stop(): Promise<void>
}>

/** Longer than the second attempt of a delivery waits. */
const CALLS_MS = 15_000
const ORIGIN = /http:\/\/127\.0\.0\.1:80\d\d/g
/** What differs from run to run: ids, times and durations, sizes, ETags, the version. */
const ID = /\b[0-9a-f]{24}\b/g
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g
const DURATION = /("(?:milliseconds|ms|startMs|p50|p95|p99)": ?)[\d.]+/g

/** Of bodies with headers or addresses in them. */
const SIZE = /("(?:size|bytes)": ?)\d+/g
const VERSION = /("version": ?)"\d+\.\d+\.\d+"/g
/** The key of a group of failures: it has the id of the endpoint in it. */
const GROUP = /("group": ?")[\w-]+/g
/** In a header, or in the text of a JSON body. */
const ETAG = /(?<=")[\w-]{43}(?=\\?")/g

/** `page`: its text, for the addresses in it. */
export async function openStage(page: string, env: Record<string, string> = {}): Promise<Stage> {
  const service = await startService(env)
  let expected: Exchange[] = []
  let surprises: string[] = []
  const real = new Map([
    ['http://127.0.0.1:3003', service.url],
    ['http://127.0.0.1:3004', service.adminUrl],
  ])
  const upstreams = await Promise.all(
    [...new Set(page.match(ORIGIN))].map(async (origin) => {
      const upstream = await startUpstream((received, response) => {
        const at = expected.findIndex(({ call }) => isCall(call, origin, received, onPage))
        const [exchange] = at < 0 ? [] : expected.splice(at, 1)
        if (exchange === undefined) surprises.push(`${received.method} ${origin}${received.url}\n\n${received.body}`)
        answer(exchange, response)
        return undefined
      })
      real.set(origin, upstream.url)
      return upstream
    }),
  )
  const inThisRun = (text: string): string => replaceAll(text, [...real])
  const onPage = (text: string): string =>
    replaceAll(
      text,
      [...real].map(([mine, theirs]) => [theirs, mine] as const),
    )

  return {
    send: async ({ start, headers, body }, calls = []) => {
      const [method = '', target = ''] = inThisRun(start).split(' ')
      ;[expected, surprises] = [[...calls], []]
      const init = { method, headers: mapValues(headers, inThisRun), redirect: 'manual' as const }
      const url = target.startsWith('/') ? `${service.url}${target}` : target
      const response = await fetch(url, body === undefined ? init : { ...init, body: inThisRun(body) })
      const text = onPage(await response.text())
      // A delivery is sent behind the answer.
      await until(
        () => expected.length === 0 || surprises.length > 0,
        (isSettled) => isSettled,
        CALLS_MS,
      ).catch(() => {})
      assert.deepEqual(surprises, [], 'calls that the page does not show')
      assert.deepEqual(
        expected.map(({ call }) => call.start),
        [],
        'calls of the page that were not made',
      )
      return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) }
    },
    compare: (message, reply) => {
      if (message.body !== undefined) assert.deepEqual(settled(reply.text), settled(message.body))
      const learn = (mine: string, theirs: string) => {
        for (const form of [ID, ETAG]) {
          const found = theirs.match(form) ?? []
          for (const [at, text] of (mine.match(form) ?? []).entries())
            if (!real.has(text)) real.set(text, found[at] ?? text)
        }
      }
      learn(message.body ?? '', reply.text)
      for (const [name, value] of Object.entries(message.headers)) {
        const found = reply.headers.get(name) ?? '(not there)'
        assert.deepEqual(settled(onPage(found)), settled(value), name)
        learn(value, found)
      }
      assert.equal(reply.status, Number(message.start.split(' ')[1]))
    },
    stop: async () => {
      await service.stop()
      await Promise.all(upstreams.map((upstream) => upstream.stop()))
    },
  }
}

/** A text as JSON where it is some, without what differs from run to run. */
function settled(text: string): unknown {
  const same = text
    .replace(ID, '0'.repeat(24))
    .replace(TIME, '2026-01-01T00:00:00.000Z')
    .replace(DURATION, '$10')
    .replace(VERSION, '$1"0.0.0"')
    .replace(SIZE, '$10')
    .replace(ETAG, 'etag')
    .replace(GROUP, '$1key')
    // Lines of a page have no carriage returns.
    .replaceAll('\r\n', '\n')
    .trim()
  return jsonOf(same) ?? same
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isCall(call: Message, origin: string, received: Received, onPage: (text: string) => string): boolean {
  if (call.start !== `${received.method} ${origin}${received.url}`) return false
  const body = onPage(received.body)
  if (!isDeepStrictEqual(settled(body), settled(call.body ?? ''))) return false
  return Object.entries(call.headers).every(([name, value]) => received.headers[name] === value)
}

function answer(exchange: Exchange | undefined, response: ServerResponse): void {
  if (exchange === undefined) response.writeHead(500).end()
  else if (exchange.answer === undefined) response.destroy()
  else
    response.writeHead(Number(exchange.answer.start.split(' ')[1]), exchange.answer.headers).end(exchange.answer.body)
}

const replaceAll = (text: string, pairs: readonly (readonly [string, string])[]): string =>
  pairs.reduce((result, [from, to]) => result.replaceAll(from, to), text)

const mapValues = (values: Readonly<Record<string, string>>, map: (value: string) => string) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))
