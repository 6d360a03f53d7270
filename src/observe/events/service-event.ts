/** The events of `GET /events`. */
import { Failure } from '../../core/failure.ts'
import { didYouMean } from '../../core/nearest.ts'

/**
 * `messages`: counts of a second; `failures`: groups of failures that grew; `replay`: progress of replay plans; `endpoints`:
 * endpoints that were created, changed or deleted; `status`: the state of the service.
 */
export const EVENT_TYPES = ['messages', 'failures', 'replay', 'endpoints', 'status'] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** `id` grows by one with each event of a process; ids of two processes differ. */
export type ServiceEvent = Readonly<{ id: string; type: EventType; data: object }>

const isEventType = (text: string): text is EventType => EVENT_TYPES.some((type) => type === text)

/** In: the values of the query parameter `types`, each a list with commas; all types without them. Fails with FILTER_INVALID. */
export function readEventTypes(texts: readonly string[] | undefined): ReadonlySet<EventType> {
  if (texts === undefined) return new Set(EVENT_TYPES)
  const given = texts.flatMap((text) => text.split(','))
  const wrong = given.find((type) => !isEventType(type))
  if (wrong === undefined) return new Set(given.filter(isEventType))
  throw new Failure(
    'FILTER_INVALID',
    `There are no events of the type "${wrong}"${didYouMean(wrong, EVENT_TYPES)} There are: ${EVENT_TYPES.join(', ')}.`,
  )
}
