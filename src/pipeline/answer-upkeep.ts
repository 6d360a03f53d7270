/** Keeps the answers that are given again within their time and their room. */
import { setTimeout as pause } from 'node:timers/promises'
import type { AnswerStore } from '../domain/answer-store.ts'
import type { Logger } from '../domain/ports.ts'

export type UpkeepOptions = Readonly<{
  store: Pick<AnswerStore, 'purge' | 'bytes'>
  logger: Logger
  /** What all answers may take. */
  maxBytes: number
  /** Whether this process removes what has lapsed, for all of them. */
  purges: boolean
}>

export interface Upkeep {
  /** Whether there was no room left when it was last looked. */
  readonly isFull: boolean
  /** Tells that about so many bytes were kept. */
  grew(bytes: number): void
  /** Resolves when the look under way is done. */
  stop(): Promise<void>
}

const EVERY_MS = 10_000
const PAUSE_MS = 10

/** What this process may keep between two looks at how much there is, which read an entry for each answer: a part of the most. */
const LOOK_AFTER = 1 / 64

/** What an answer takes beside its body, about. */
const REST_BYTES = 1_000

/** Removes what has lapsed every ten seconds, and looks at how much is left where that may have become too much. */
export function startUpkeep({ store, logger, maxBytes, purges }: UpkeepOptions): Upkeep {
  let isFull = false
  let grown = Number.POSITIVE_INFINITY
  let stopped = false
  let running: Promise<void> | undefined

  async function look(): Promise<void> {
    try {
      while (purges && !stopped && (await store.purge()) > 0) await pause(PAUSE_MS)
      if (stopped || (!isFull && grown < maxBytes * LOOK_AFTER)) return
      grown = 0
      const wasFull = isFull
      isFull = (await store.bytes()) >= maxBytes
      if (isFull && !wasFull) logger.warn({ maxBytes }, 'IDEMPOTENCY_MAX_MB is reached: new keys are refused')
    } catch (err) {
      if (!stopped) logger.warn({ err }, 'Answers that have lapsed could not be removed; trying again later')
    }
  }

  function run(): void {
    running ??= look().finally(() => {
      running = undefined
    })
  }

  run()
  const timer = setInterval(run, EVERY_MS)
  timer.unref()
  return {
    get isFull() {
      return isFull
    },
    grew: (bytes) => {
      grown += bytes + REST_BYTES
      if (!stopped && grown >= maxBytes * LOOK_AFTER) run()
    },
    stop: async () => {
      stopped = true
      clearInterval(timer)
      await running
    },
  }
}
