/** Rebuilds an incoming message from its record. */
import type { Headers } from '../../core/message.ts'
import type { MessageRecord, RecordedBody } from '../../core/records/message-record.ts'
import type { Incoming } from '../../inbound/incoming-message.ts'
import type { MessageStore } from '../../store/sql/messages.ts'
import { callMessageLog } from '../message-log/message-search.ts'
import { readRequest, toReplay } from '../message-log/recorded-bodies.ts'
import { blocker, type ReplayBlocker } from './replay-blocker.ts'

/** A body that replaces the recorded one; `headers` are those that describe it. */
export type EditedBody = Readonly<{ body: Uint8Array; headers: Headers }>

/** The headers that describe a body; an edited body replaces them. */
export const BODY_HEADERS = ['content-type', 'content-encoding', 'content-length'] as const

/** `bodyOnly`: nothing but the edited body is known. */
export type Original = Readonly<{ incoming: Incoming; bodyOnly: boolean }>

/** `withBody`: whether the recorded body is read, if no edited one replaces it. */
export type OriginalParts = Readonly<{ edited?: EditedBody | undefined; withBody: boolean }>

/**
 * In: a record without a blocker (`recordBlocker`). Out: the message.
 * Fails with STORE_UNAVAILABLE.
 */
export async function readOriginal(
  record: MessageRecord,
  { edited, withBody }: OriginalParts,
  store: MessageStore,
): Promise<Original | ReplayBlocker> {
  const has = (which: string): boolean => record.bodies.some((body) => body.which === which)
  const read = (which: string) => callMessageLog(() => store.body(record.id, which))
  if (!has('request')) {
    if (edited === undefined) return blocker('not-kept')
    const { headers: requestHeaders, body } = edited
    return { incoming: toReplay(record, { requestHeaders, query: {}, urlParams: {} }, body), bodyOnly: true }
  }
  const needsBody = withBody && edited === undefined && has('incoming')
  const [request, incoming] = await Promise.all([read('request'), needsBody ? read('incoming') : undefined])
  if (request === undefined || (needsBody && incoming === undefined)) return blocker('removed')
  if (isCut(request) || (incoming !== undefined && isCut(incoming))) return blocker('cut')
  const recorded = readRequest(request)
  const requestHeaders =
    edited === undefined
      ? recorded.requestHeaders
      : { ...withoutBodyHeaders(recorded.requestHeaders), ...edited.headers }
  const body = edited?.body ?? incoming?.content
  return { incoming: toReplay(record, { ...recorded, requestHeaders }, body), bodyOnly: false }
}

const isCut = ({ summary, content }: RecordedBody): boolean => content.byteLength !== summary.size

const withoutBodyHeaders = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !BODY_HEADERS.some((one) => one === name)))
