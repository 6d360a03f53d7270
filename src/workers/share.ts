/** What bounds the whole service, divided among its workers. */
import { portion } from '../domain/portion.ts'
import type { Settings } from '../settings.ts'
import type { WorkerSlot } from './protocol.ts'

/** The settings of one worker; the shares of all add up to the whole where that is enough for one each. */
export function shareOf(settings: Settings, place: WorkerSlot): Settings {
  return {
    ...settings,
    maxMessagesInFlight: portion(settings.maxMessagesInFlight, place),
    maxMessagesWaiting:
      settings.maxMessagesWaiting === undefined ? undefined : Math.ceil(settings.maxMessagesWaiting / place.workers),
    databasePoolSize: portion(settings.databasePoolSize, place),
  }
}

/**
 * Whether this worker is the one that consumes for an endpoint: an endpoint has one consumer in the service, so that its
 * bounds hold whatever the number of workers is.
 */
export function consumesFor(endpointId: string, { slot, workers }: WorkerSlot): boolean {
  const milliseconds = Number.parseInt(endpointId.slice(0, 12), 16)
  const count = Number.parseInt(endpointId.slice(12, 16), 16)
  return (milliseconds + count) % workers === slot
}
