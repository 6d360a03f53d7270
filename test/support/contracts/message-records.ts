/** Records of messages for the cases of the message log's stores. */
import { doneHead, doneLine, type MessageRecord, type Recorded } from '../../../src/core/records/message-record.ts'

export const START = Date.parse('2026-11-21T10:00:00.000Z')

/** The id of a message `ms` after START. */
export const messageId = (ms: number): string => `${(START + ms).toString(16).padStart(12, '0')}0000aaaaaaaa`

/** The record of a message `ms` after START that ended done, unless `changes` say otherwise. */
export const recordAt = (ms: number, changes: Partial<MessageRecord> = {}): MessageRecord => ({
  id: messageId(ms),
  endpointId: '0'.repeat(24),
  endpoint: 'intake',
  source: 'http',
  startedAt: new Date(START + ms).toISOString(),
  ms: 1.25,
  outcome: 'done',
  status: 200,
  stages: [
    { stage: 'parse', ms: 0.25 },
    { stage: 'map', ms: 1 },
  ],
  calls: [],
  keys: {},
  bodies: [],
  ...changes,
})

export const recordedAt = (ms: number, changes: Partial<MessageRecord> = {}): Recorded => ({
  record: recordAt(ms, changes),
  bodies: [],
})

/** The same record as a line, where it is of a message that ended done. */
export function doneLineOf({ id, endpointId = '', endpoint, endpointVersion, ...record }: MessageRecord): string {
  const head = doneHead(endpointId, record.source, record.status, endpoint, endpointVersion)
  const stages = record.stages.map(({ stage, ms }) => ({ stage, startMs: 5, endMs: 5 + ms }))
  return doneLine({ head, id, ms: record.ms, stages })
}

/** A message whose bodies were kept, by their names. */
export function withBodies(recorded: Recorded, texts: Readonly<Record<string, string>>): Recorded {
  const bodies = Object.entries(texts).map(([which, text]) => {
    const content = new TextEncoder().encode(text)
    return { summary: { which, contentType: 'text/plain', size: content.byteLength }, content }
  })
  return { record: { ...recorded.record, bodies: bodies.map(({ summary }) => summary) }, bodies }
}
