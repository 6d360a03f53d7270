/** Times out the records of a topic, with one timer for all of them: a timer for each takes more memory than its record. */
import type { QueuedRecord } from './produce-batch.ts'

export interface ProduceDeadlines {
  /** For a record that is pending from now on. */
  watch(record: QueuedRecord): void
  /** No record is pending. */
  stop(): void
}

/** `pending`: all records that wait for their acknowledgement; settled ones may be among them. */
export function createProduceDeadlines(
  pending: () => readonly QueuedRecord[],
  onTimeout: (record: QueuedRecord) => void,
): ProduceDeadlines {
  let timer: NodeJS.Timeout | undefined
  let timerMs = Number.POSITIVE_INFINITY

  const stop = () => {
    clearTimeout(timer)
    timerMs = Number.POSITIVE_INFINITY
  }
  const watch = ({ deadlineMs }: Pick<QueuedRecord, 'deadlineMs'>) => {
    if (deadlineMs >= timerMs) return
    clearTimeout(timer)
    timerMs = deadlineMs
    timer = setTimeout(check, Math.max(1, Math.ceil(deadlineMs - performance.now())))
  }
  const check = () => {
    timerMs = Number.POSITIVE_INFINITY
    const nowMs = performance.now()
    let next: QueuedRecord | undefined
    for (const record of pending()) {
      if (record.isSettled) continue
      if (record.deadlineMs <= nowMs) onTimeout(record)
      else if (next === undefined || record.deadlineMs < next.deadlineMs) next = record
    }
    if (next !== undefined) watch(next)
  }
  return { watch, stop }
}
