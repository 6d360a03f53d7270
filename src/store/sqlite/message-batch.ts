/**
 * A batch of records as it is sent to the thread that writes it: lines of text and one buffer. Sending thousands of objects
 * would cost the thread of the messages more than writing them.
 */
import { lineOf } from '../../domain/records/done-line.ts'
import type { Recorded } from '../../domain/records/message-record.ts'
import { keyRows, MESSAGE_COLUMNS, type MessageRow, messageRow } from '../sql/message-rows.ts'
import { keyText } from '../sql/tables.ts'

/** The columns of a line of `messages`. */
export const COLUMNS = Object.keys(MESSAGE_COLUMNS) as (keyof MessageRow)[]

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
    const row = messageRow(recorded)
    messages += lineOf(COLUMNS.map((column) => row[column]))
    const { record } = recorded
    for (const { message_id, value, name } of keyRows(record)) keys += lineOf([message_id, value, name])
    for (const { summary, content } of recorded.bodies) {
      bodies += lineOf([record.id, keyText(summary.which), content.byteLength])
      size += content.byteLength
    }
  }
  return { messages, keys, bodies, contents: joined(batch, size) }
}

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
