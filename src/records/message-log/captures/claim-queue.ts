/**
 * Completed messages of endpoints with a capture. They wait for their place in it before their records are built, as only the
 * store knows which messages of all processes are the next ones.
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { Logger } from '../../../core/ports/logger-port.ts'
import type { CompletedMessage } from '../../../inbound/completed-message.ts'
import type { ActiveCapture, ActiveCaptures } from './active-captures.ts'

export interface ClaimQueue {
  /** Quick, and never throws. Out: whether `record` is called with the message later. */
  offer(completed: CompletedMessage): boolean
  readonly count: number
  /** Resolves when no message waits, or after the timeout. */
  drained(timeoutMs: number): Promise<void>
  /** The same; what still waits after the timeout is not captured, nor is any later message. */
  close(timeoutMs: number): Promise<void>
}

export type ClaimQueueOptions = Readonly<{
  captures: Pick<ActiveCaptures, 'of' | 'claim'>
  /** Estimates what a message holds in memory. */
  bytesOf(completed: CompletedMessage): number
  /** The most that several waiting messages hold together; further ones are not captured. */
  limitBytes: number
  /** `isCaptured`: whether the message has a place. */
  record(completed: CompletedMessage, isCaptured: boolean): void
  logger: Logger
}>

type Waiting = Readonly<{ completed: CompletedMessage; bytes: number; capture: ActiveCapture }>

export function createClaimQueue({ captures, bytesOf, limitBytes, record, logger }: ClaimQueueOptions): ClaimQueue {
  const waiting = new Set<Waiting>()
  let waitingBytes = 0
  let running: Promise<void> | undefined
  let isClosed = false

  function finish(one: Waiting, isCaptured: boolean): void {
    if (!waiting.delete(one)) return
    waitingBytes -= one.bytes
    one.capture.waiting -= 1
    record(one.completed, isCaptured)
  }

  /** Resolves to 0 if the store does not answer: the records must not wait for it. */
  async function claim(capture: ActiveCapture, count: number): Promise<number> {
    try {
      return await captures.claim(capture, count)
    } catch (err) {
      const { endpointId } = capture
      logger.warn({ err, endpointId, messages: count }, 'The store did not answer; messages were not captured')
      return 0
    }
  }

  async function run(): Promise<void> {
    while (waiting.size > 0) {
      // Messages are answered first, and those that complete in the same turn share a write.
      await turn()
      const [first] = waiting
      if (first === undefined) return
      const batch = [...waiting].filter(({ capture }) => capture === first.capture)
      let places = await claim(first.capture, batch.length)
      for (const one of batch) {
        finish(one, places > 0)
        places -= 1
      }
    }
  }

  async function drained(timeoutMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs)
    })
    await Promise.race([running, timeout])
    clearTimeout(timer)
  }

  return {
    offer: (completed) => {
      const { compiled, trace, answer } = completed
      // A message that no stage saw has nothing to capture, and a cached response is recorded with the first message.
      if (compiled === undefined || trace === undefined || answer.repeats !== undefined || isClosed) return false
      const capture = captures.of(compiled.document._id)
      if (capture === undefined || capture.waiting >= capture.remaining) return false
      const bytes = bytesOf(completed)
      if (waiting.size > 0 && waitingBytes + bytes > limitBytes) return false
      waiting.add({ completed, bytes, capture })
      waitingBytes += bytes
      capture.waiting += 1
      running ??= run().finally(() => {
        running = undefined
      })
      return true
    },
    get count() {
      return waiting.size
    },
    drained,
    close: async (timeoutMs) => {
      isClosed = true
      await drained(timeoutMs)
      for (const one of [...waiting]) finish(one, false)
    },
  }
}
