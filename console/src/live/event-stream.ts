/**
 * `GET /events` for as long as the page is looked at: by fetch, since an EventSource cannot send a key. After a loss it is opened
 * again with a back-off; while it cannot be opened, the page reads everything again at intervals.
 */
import { callService } from '../api/client.ts'
import { connection } from '../api/connection.ts'
import { createEventParser, type SentEvent } from './event-parser.ts'

export type StreamState = 'connecting' | 'live' | 'polling' | 'paused'

export type EventStreamOptions = Readonly<{
  /** An event of the service, or `reset`: what was read before may be old. */
  onEvent(type: string, data: unknown): void
  onState(state: StreamState): void
}>

const FIRST_WAIT_MS = 1_000
const MAX_WAIT_MS = 30_000
/** The service sends a heartbeat each 15 s. */
const SILENCE_MS = 45_000
/** Losses in a row after which the page polls. */
const LOSSES_BEFORE_POLLING = 3
const HIDDEN_GRACE_MS = 20_000

/** Starts at once. Out: ends it. */
export function openEventStream({ onEvent, onState }: EventStreamOptions): () => void {
  const stopped = new AbortController()
  let losses = 0
  const run = async () => {
    while (!stopped.signal.aborted) {
      await untilLookedAt(stopped.signal, () => onState('paused'))
      if (stopped.signal.aborted) return
      onState(losses < LOSSES_BEFORE_POLLING ? 'connecting' : 'polling')
      const attempt = new AbortController()
      const unwatch = abortWhenHidden(attempt)
      try {
        await readEvents(AbortSignal.any([attempt.signal, stopped.signal]), ({ type, data }) => {
          if (type === 'open') {
            losses = 0
            onState('live')
            onEvent('reset', {})
          } else onEvent(type, JSON.parse(data))
        })
      } catch {
        // A loss of any kind leads to the same: wait, then try again.
      } finally {
        unwatch()
      }
      if (attempt.signal.aborted && document.hidden) continue
      losses += 1
      if (losses >= LOSSES_BEFORE_POLLING) {
        onState('polling')
        onEvent('reset', {})
      }
      await wait(
        Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(losses - 1, 10)) * (0.75 + Math.random() / 2),
        stopped.signal,
      )
    }
  }
  void run()
  return () => stopped.abort()
}

async function readEvents(signal: AbortSignal, onSent: (event: SentEvent) => void): Promise<void> {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), SILENCE_MS)
  try {
    const both = AbortSignal.any([signal, silence.signal])
    const response = await callService(new Request(`${location.origin}/events`, { signal: both }), { isEndless: true })
    if (!response.ok || response.body === null) throw new Error(`status ${response.status}`)
    const parser = createEventParser()
    for await (const text of response.body.pipeThrough(
      new TextDecoderStream() as ReadableWritablePair<string, BufferSource>,
    )) {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENCE_MS)
      for (const event of parser.push(text)) onSent(event)
    }
  } finally {
    clearTimeout(timer)
  }
}

/** A tab that is hidden for long holds no stream. */
function abortWhenHidden(attempt: AbortController): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const look = () => {
    clearTimeout(timer)
    if (document.hidden) timer = setTimeout(() => attempt.abort(), HIDDEN_GRACE_MS)
  }
  document.addEventListener('visibilitychange', look)
  look()
  return () => {
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', look)
  }
}

async function untilLookedAt(signal: AbortSignal, onPause: () => void): Promise<void> {
  if (!document.hidden) return
  onPause()
  await new Promise<void>((resolve) => {
    const done = () => {
      if (document.hidden && !signal.aborted) return
      document.removeEventListener('visibilitychange', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    document.addEventListener('visibilitychange', done)
    signal.addEventListener('abort', done)
  })
}

/** Ends before its time when the service answers another call after it was away. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      unsubscribe()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    const unsubscribe = connection.subscribe(() => {
      if (connection.get().state === 'answers') done()
    })
    signal.addEventListener('abort', done)
  })
}
