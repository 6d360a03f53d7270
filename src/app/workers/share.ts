/** Divides the limits of the service among its workers. */
import { portion, type WorkerSlot } from '../../core/worker-processes.ts'
import type { Settings } from '../../settings/settings.ts'

/** In: the settings of the service. Out: those of one worker; the shares add up to the whole if each gets at least one. */
export function shareOf(settings: Settings, workerSlot: WorkerSlot): Settings {
  return {
    ...settings,
    maxMessagesInFlight: portion(settings.maxMessagesInFlight, workerSlot),
    maxMessagesWaiting:
      settings.maxMessagesWaiting === undefined
        ? undefined
        : Math.ceil(settings.maxMessagesWaiting / workerSlot.workers),
    inFlightMaxBytes: portion(settings.inFlightMaxBytes, workerSlot),
    kafkaInFlightMaxBytes: portion(settings.kafkaInFlightMaxBytes, workerSlot),
    databasePoolSize: portion(settings.databasePoolSize, workerSlot),
  }
}

/**
 * Whether this worker consumes for an endpoint. One worker does, so that the limits of the endpoint do not depend on the
 * number of workers.
 */
export function consumesFor(endpointId: string, { slot, workers }: WorkerSlot): boolean {
  const milliseconds = Number.parseInt(endpointId.slice(0, 12), 16)
  const count = Number.parseInt(endpointId.slice(12, 16), 16)
  return (milliseconds + count) % workers === slot
}
