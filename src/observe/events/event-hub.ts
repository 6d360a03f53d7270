/** Passes the events of the service to its subscribers. Without subscribers, no source of events runs. */
import type { Awaitable } from '../../core/json.ts'
import type { Logger } from '../../core/ports/logger-port.ts'

/** Something that is asked for events from time to time while a subscriber wants its types. */
export type EventSource = Readonly<{
  types: readonly EventType[]
  everyMs: number
  /** Starts to watch: what was before isn't an event. */
  start(): Awaitable<void>
  /** The events since the last call. */
  poll(): Awaitable<readonly Omit<ServiceEvent, 'id'>[]>
}>

type Subscriber = Readonly<{
  types: ReadonlySet<EventType>
  /** Must be quick and must not throw. */
  receive(event: ServiceEvent): void
  /** The service stops. */
  end(): void
}>

export interface EventHub {
  readonly subscribers: number
  /** `ready` resolves when every later event is received: what is read from then on misses none. */
  subscribe(subscriber: Subscriber): Readonly<{ ready: Promise<void>; unsubscribe: () => void }>
  /** The id of the last event. */
  lastId(): string
  /** Ends every subscription, and accepts no further one. */
  close(): void
}

/** `name`: distinguishes the events of this process from those of others. */
export function createEventHub(sources: readonly EventSource[], name: string, logger: Logger): EventHub {
  const subscribers = new Set<Subscriber>()
  let sequence = 0
  let isClosed = false
  const lastId = () => `${name}-${sequence}`
  const publish = (event: Omit<ServiceEvent, 'id'>): void => {
    sequence += 1
    const numbered = { id: lastId(), ...event }
    for (const subscriber of subscribers) if (subscriber.types.has(event.type)) subscriber.receive(numbered)
  }
  const isWanted = ({ types }: EventSource): boolean =>
    types.some((type) => [...subscribers].some((subscriber) => subscriber.types.has(type)))
  const runners = sources.map((source) => createRunner(source, () => isWanted(source), publish, logger))

  return {
    get subscribers() {
      return subscribers.size
    },
    subscribe: (subscriber) => {
      if (isClosed) {
        subscriber.end()
        return { ready: Promise.resolve(), unsubscribe: () => undefined }
      }
      subscribers.add(subscriber)
      const ready = Promise.all(runners.map((run) => run())).then(() => undefined)
      return { ready, unsubscribe: () => void subscribers.delete(subscriber) }
    },
    lastId,
    close: () => {
      isClosed = true
      for (const subscriber of subscribers) subscriber.end()
      subscribers.clear()
    },
  }
}

/**
 * Out: starts the polls of a source unless they run, and resolves when it watches. The polls stop by themselves when no
 * subscriber wants the source.
 */
function createRunner(
  source: EventSource,
  isWanted: () => boolean,
  publish: (event: Omit<ServiceEvent, 'id'>) => void,
  logger: Logger,
): () => Promise<void> {
  let starting: Promise<void> | undefined
  let isReported = false
  const attempt = async (work: () => Awaitable<void>): Promise<void> => {
    try {
      await work()
      isReported = false
    } catch (err) {
      // The store is unavailable, for example: the next poll tries again.
      if (!isReported) logger.warn({ err, types: source.types }, 'Events could not be read; trying again')
      isReported = true
    }
  }
  const poll = async (): Promise<void> => {
    if (!isWanted()) {
      starting = undefined
      return
    }
    await attempt(async () => {
      for (const event of await source.poll()) publish(event)
    })
    next()
  }
  const next = () => void setTimeout(() => void poll(), source.everyMs).unref()
  return async () => {
    if (!isWanted()) return
    starting ??= attempt(() => source.start()).then(next)
    await starting
  }
}

/**
 * `messages`: counts of a second; `failures`: groups of failures that grew; `replay`: progress of replay plans; `deliveries`: how
 * many there are; `endpoints` and `tables`: those that were created, changed or deleted; `status`: the state of the service.
 */
export const EVENT_TYPES = ['messages', 'failures', 'replay', 'deliveries', 'endpoints', 'tables', 'status'] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** `id` grows by one with each event of a process; ids of two processes differ. */
type ServiceEvent = Readonly<{ id: string; type: EventType; data: object }>
