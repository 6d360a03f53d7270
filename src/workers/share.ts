/** What bounds the whole service, divided among its workers. */
import type { Settings } from '../settings.ts'
import type { Place } from './protocol.ts'

/** The settings of one worker; the shares of all add up to the whole where that is enough for one each. */
export function shareOf(settings: Settings, place: Place): Settings {
  return {
    ...settings,
    maxMessagesInFlight: portion(settings.maxMessagesInFlight, place),
    databasePoolSize: portion(settings.databasePoolSize, place),
  }
}

const portion = (whole: number, { slot, workers }: Place): number =>
  Math.max(1, Math.floor(whole / workers) + (slot < whole % workers ? 1 : 0))

/**
 * Whether this worker is the one that consumes for an endpoint: an endpoint has one consumer in the service, so that its
 * bounds hold whatever the number of workers is.
 */
export function consumesFor(endpointId: string, { slot, workers }: Place): boolean {
  const milliseconds = Number.parseInt(endpointId.slice(0, 12), 16)
  const count = Number.parseInt(endpointId.slice(12, 16), 16)
  return (milliseconds + count) % workers === slot
}
