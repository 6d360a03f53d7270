/** What came with a message, read back from what was kept of it. */
import type { JsonObject } from '../domain/json.ts'
import type { Headers } from '../domain/message.ts'
import type { MessageRecord, RecordedBody } from '../domain/message-record.ts'
import type { MessageStore } from '../domain/ports/message-store-port.ts'
import type { Incoming } from '../intake/incoming-message.ts'
import { callMessageLog } from '../message-log/message-search.ts'
import { obstacle, type ReplayBlocker } from './replay-blocker.ts'

/** A body in place of the one that came; `headers` are those that describe it. */
export type EditedBody = Readonly<{ body: Uint8Array; headers: Headers }>

export type Original = Readonly<{ incoming: Incoming; bodyOnly: boolean }>

/** The headers that describe a body, and go with it. */
export const BODY_HEADERS = ['content-type', 'content-encoding', 'content-length'] as const

/** The body `request` of a record. */
type Beside = Readonly<{ requestHeaders: Headers; query: JsonObject; urlParams: JsonObject; isRecord?: boolean }>

/** `record` is one that nothing stands against (`obstacleOf`). Fails with STORE_UNAVAILABLE. */
export async function readOriginal(
  record: MessageRecord,
  edited: EditedBody | undefined,
  store: MessageStore,
): Promise<Original | ReplayBlocker> {
  const has = (which: string): boolean => record.bodies.some((body) => body.which === which)
  const read = (which: string) => callMessageLog(() => store.body(record.id, which))
  const replayOf = record.id
  if (!has('request')) {
    if (edited === undefined) return obstacle('not-kept')
    const isRecord = record.source === 'broker'
    const incoming = { requestHeaders: edited.headers, query: {}, urlParams: {}, body: edited.body, isRecord, replayOf }
    return { incoming, bodyOnly: true }
  }
  const [request, body] = await Promise.all([
    read('request'),
    edited === undefined && has('incoming') ? read('incoming') : undefined,
  ])
  if (request === undefined || (body === undefined && edited === undefined && has('incoming'))) {
    return obstacle('removed')
  }
  if (!isWhole(request) || (body !== undefined && !isWhole(body))) return obstacle('cut')
  const { requestHeaders, query, urlParams, isRecord = record.source === 'broker' } = besideOf(request)
  const headers = edited === undefined ? requestHeaders : { ...withoutBodyHeaders(requestHeaders), ...edited.headers }
  const incoming = {
    requestHeaders: headers,
    query,
    urlParams,
    body: edited?.body ?? body?.content,
    isRecord,
    replayOf,
  }
  return { incoming, bodyOnly: false }
}

const isWhole = ({ summary, content }: RecordedBody): boolean => content.byteLength === summary.size

const besideOf = ({ content }: RecordedBody): Beside => JSON.parse(Buffer.from(content).toString()) as Beside

const withoutBodyHeaders = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !BODY_HEADERS.some((one) => one === name)))
