/**
 * A batch of records as it is sent to the thread that writes it: lines of text and one buffer. Sending thousands of objects
 * would cost the thread of the messages more than writing them.
 */
import type { Recorded } from '../../../domain/message-record.ts'
import { keyRows, messageRow } from '../../sql/message-log/message-rows.ts'
import type { MessageRow } from '../../sql/message-log/message-tables.ts'
import { keyText } from '../../sql/tables.ts'

/** The columns of a line, separated as those of `doneLine`. */
export const COLUMNS = [
  'id',
  'endpoint_id',
  'source',
  'outcome',
  'status',
  'code',
  'stage',
  'replay_of',
  'bytes',
  'detail',
] as const satisfies readonly (keyof MessageRow)[]

export type EncodedBatch = Readonly<{
  messages: string
  /** Id of the message, value, name. */
  keys: string
  /** Id of the message, name, size in bytes; the contents are concatenated in `contents`. */
  bodies: string
  contents: ArrayBuffer
}>

export function encodeBatch(batch: readonly Recorded[]): EncodedBatch {
  let messages = ''
  let keys = ''
  let bodies = ''
  let size = 0
  for (const recorded of batch) {
    messages += lineOf(messageRow(recorded))
    const { record } = recorded
    for (const { message_id, value, name } of keyRows(record)) keys += `${message_id}\u001f${value}\u001f${name}\n`
    for (const { summary, content } of recorded.bodies) {
      bodies += `${record.id}\u001f${keyText(summary.which)}\u001f${content.byteLength}\n`
      size += content.byteLength
    }
  }
  return { messages, keys, bodies, contents: joined(batch, size) }
}

/** In the order of COLUMNS. */
const lineOf = (row: MessageRow): string =>
  `${row.id}\u001f${row.endpoint_id}\u001f${row.source}\u001f${row.outcome}\u001f${row.status}\u001f${row.code}\u001f${row.stage}\u001f${row.replay_of}\u001f${row.bytes}\u001f${row.detail}\n`

function joined(batch: readonly Recorded[], size: number): ArrayBuffer {
  const contents = new Uint8Array(size)
  let at = 0
  for (const { bodies } of batch) {
    for (const { content } of bodies) {
      contents.set(content, at)
      at += content.byteLength
    }
  }
  return contents.buffer
}
