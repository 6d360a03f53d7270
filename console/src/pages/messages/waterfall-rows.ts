/** When each stage and each call of a message ran, for its picture. */
import type { MessageRecord } from '../../api/records/record-types.ts'

export type WaterfallRow = Readonly<{
  kind: 'stage' | 'call'
  name: string
  /** In ms after the message. */
  startMs: number
  ms: number
  /** The message failed here. */
  failed: boolean
  call?: MessageRecord['calls'][number]
}>

export type Waterfall = Readonly<{
  rows: readonly WaterfallRow[]
  /** What the width of the picture means. */
  totalMs: number
}>

const STAGE_OF_CALL = { lookup: 'lookup', response: 'respond' } as const

/**
 * In: the record of a message. Out: its stages in their order, each with its calls below it. Stages follow each other, so a stage
 * starts when the ones before it have ended; the record has the start of calls.
 */
export function createWaterfall({ stages, calls, ms, outcome, stage: failedStage }: MessageRecord): Waterfall {
  const rows: WaterfallRow[] = []
  const left = new Set(calls)
  let startMs = 0
  for (const [index, { stage, ms: stageMs }] of stages.entries()) {
    const failed = outcome !== 'done' && stage === failedStage && index === stages.length - 1
    rows.push({ kind: 'stage', name: stage, startMs, ms: stageMs, failed })
    for (const call of calls) {
      if (!left.has(call) || STAGE_OF_CALL[call.kind] !== stage) continue
      left.delete(call)
      rows.push(toCallRow(call))
    }
    startMs += stageMs
  }
  rows.push(...[...left].map(toCallRow))
  const ends = rows.map((row) => row.startMs + row.ms)
  return { rows, totalMs: Math.max(ms, ...ends, 0.001) }
}

const toCallRow = (call: MessageRecord['calls'][number]): WaterfallRow => ({
  kind: 'call',
  name: call.item === undefined ? call.id : `${call.id}[${call.item}]`,
  startMs: call.startMs,
  ms: call.ms,
  failed: call.fault !== undefined || (call.status ?? 0) >= 400,
  call,
})
