/** The events of `GET /events`. */

/**
 * `messages`: counts of a second; `failures`: groups of failures that grew; `replay`: progress of replay plans; `endpoints`:
 * endpoints that were created, changed or deleted; `status`: the state of the service.
 */
export const EVENT_TYPES = ['messages', 'failures', 'replay', 'endpoints', 'status'] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** `id` grows by one with each event of a process; ids of two processes differ. */
export type ServiceEvent = Readonly<{ id: string; type: EventType; data: object }>
