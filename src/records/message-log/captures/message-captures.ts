/** Captures of an endpoint: its next messages are recorded with all bodies, whatever its policy for bodies. */
import { Failure } from '../../../core/failure.ts'
import { readTime } from '../../../core/iso-time.ts'
import { callStore } from '../../../core/ports/store-port.ts'
import type { Clock } from '../../../core/run.ts'
import type { EndpointService } from '../../../endpoints/endpoint-service.ts'
import * as failures from '../../../endpoints/management-failures.ts'
import type { CaptureStore, StoredCapture } from '../../../store/sql/capture-store.ts'

/** Times in ISO 8601. */
export type CaptureView = Readonly<{
  endpointId: string
  isActive: boolean
  messages: number
  remaining: number
  until: string
  startedAt: string
  by: string
}>

/** `until`: a time as in filters. */
export type CaptureRequest = Readonly<{ messages: number; until?: string }>

/** Each call fails with ID_MALFORMED, ENDPOINT_UNKNOWN and STORE_UNAVAILABLE. */
export interface MessageCaptures {
  /**
   * Starts a capture in place of the one before, on all processes. `by`: who starts it. Also fails with CAPTURE_INVALID, for
   * a time that is too late or over.
   */
  start(endpointId: string, request: CaptureRequest, by: string): Promise<CaptureView>
  /** The last capture of the endpoint, under way or ended; null if it has none. */
  get(endpointId: string): Promise<CaptureView | null>
  /** Ends and forgets it. Also fails with CAPTURE_UNKNOWN. */
  end(endpointId: string): Promise<void>
}

export type MessageCapturesOptions = Readonly<{
  store: CaptureStore
  endpointService: Pick<EndpointService, 'get'>
  /** Resolves when every process of this service records by the captures in the store. */
  reload: () => Promise<void>
  /** Resolves when the records of earlier messages are stored, or after a timeout. */
  caughtUp: () => Promise<void>
  clock: Clock
  newId: () => string
}>

export const MAX_CAPTURED = 1_000
const DEFAULT_MS = 3_600_000
const MAX_MS = 24 * 3_600_000

export function createMessageCaptures(options: MessageCapturesOptions): MessageCaptures {
  const { store, endpointService, reload, caughtUp, clock, newId } = options

  async function unknown(endpointId: string): Promise<Failure> {
    await endpointService.get(endpointId)
    return new Failure('CAPTURE_UNKNOWN', `The endpoint '${endpointId}' has no capture.`)
  }

  return {
    start: async (endpointId, { messages, until: text }, by) => {
      const now = clock()
      const until = text === undefined ? now + DEFAULT_MS : readEnd(text, now)
      await endpointService.get(endpointId)
      // Messages that were answered before belong to the capture that this one replaces.
      await caughtUp()
      const capture = { endpointId, id: newId(), messages, until, startedAt: new Date(now).toISOString(), by }
      if (!(await callCaptures(() => store.put(capture)))) throw failures.unknown(endpointId)
      await callCaptures(reload)
      return viewOf({ ...capture, remaining: messages, isActive: true })
    },
    get: async (endpointId) => {
      await caughtUp()
      const stored = await callCaptures(() => store.get(endpointId))
      if (stored !== undefined) return viewOf(stored)
      await endpointService.get(endpointId)
      return null
    },
    end: async (endpointId) => {
      await caughtUp()
      if (!(await callCaptures(() => store.remove(endpointId)))) throw await unknown(endpointId)
      await callCaptures(reload)
    },
  }
}

const callCaptures = <T>(work: () => Promise<T>): Promise<T> => callStore('The store of captures', work)

function viewOf({ endpointId, isActive, messages, remaining, until, startedAt, by }: StoredCapture): CaptureView {
  return { endpointId, isActive, messages, remaining, until: new Date(until).toISOString(), startedAt, by }
}

/** Fails with CAPTURE_INVALID. */
function readEnd(text: string, now: number): number {
  const until = readTime(text, now)
  if (until !== undefined && until > now && until <= now + MAX_MS) return until
  throw new Failure('CAPTURE_INVALID', wrongEnd(now))
}

export const wrongEnd = (now: number): string =>
  `until must be a time after now and at most 24 hours ahead, such as "${new Date(now + MAX_MS).toISOString()}".`
