/** The lines that nearly every message has: only their time, their message and how long it took differ. */
import { MOST_DIGITS, writeMilliseconds } from '../domain/ascii.ts'
import { createIsoTime } from '../domain/iso-time.ts'
import { jsonText } from './log-plain.ts'

const ID_BYTES = 24
const MOST_OF_MS = 4 + MOST_DIGITS
const BEFORE_MS = Buffer.from('","ms":')

export type RepeatedLine = Readonly<{
  /** How many bytes a line takes at most. */
  most: number
  /** Writes a line into a buffer that has room for it; gives where it ends. */
  write(buffer: Buffer, at: number, messageId: string, ms: number): number
}>

/** `common` as `,"name":value` for each field. Ids are those of domain/id.ts. */
export function createRepeatedLine(common: string, message: string): RepeatedLine {
  const startOf = createStart()
  const beforeId = Buffer.from(`${common},"messageId":"`)
  const end = Buffer.from(`,"msg":${jsonText(message)}}\n`)
  return {
    most: startOf(0).length + beforeId.length + ID_BYTES + BEFORE_MS.length + MOST_OF_MS + end.length,
    write: (buffer, start, messageId, ms) => {
      let at = append(buffer, start, startOf(Date.now()))
      at = append(buffer, at, beforeId)
      at += buffer.write(messageId, at, ID_BYTES, 'latin1')
      at = append(buffer, at, BEFORE_MS)
      at = writeMilliseconds(buffer, at, ms)
      return append(buffer, at, end)
    },
  }
}

function append(buffer: Buffer, at: number, bytes: Buffer): number {
  buffer.set(bytes, at)
  return at + bytes.length
}

/** The beginning of a line; the same for all of a millisecond. */
function createStart(): (timeMs: number) => Buffer {
  const isoOf = createIsoTime()
  let lastMs = Number.NaN
  let start = Buffer.alloc(0)
  return (timeMs) => {
    if (timeMs !== lastMs) start = Buffer.from(`{"level":"info","time":"${isoOf(timeMs)}"`)
    lastMs = timeMs
    return start
  }
}
