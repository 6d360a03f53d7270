/** The port of the store of captures. A capture records the next messages of an endpoint with all bodies. */

export type NewCapture = Readonly<{
  endpointId: string
  /** Distinguishes it from other captures of the endpoint. */
  id: string
  /** How many messages it records at most. */
  messages: number
  /** When it ends at the latest, in milliseconds since the epoch. */
  until: number
  /** ISO 8601. */
  startedAt: string
  /** Who started it, as the audit log names callers. */
  by: string
}>

/** `isActive`: whether messages remain and `until` is not over, by the clock of the store. */
export type StoredCapture = NewCapture & Readonly<{ remaining: number; isActive: boolean }>

/**
 * At most one capture of each endpoint; it is deleted with its endpoint. Each call rejects with StoreUnavailable if the store
 * does not answer.
 */
export interface CaptureStore {
  /** Stores a capture in place of the one before. Resolves to false if there is no such endpoint. */
  put(capture: NewCapture): Promise<boolean>
  get(endpointId: string): Promise<StoredCapture | undefined>
  active(): Promise<readonly StoredCapture[]>
  /**
   * Takes places for up to `count` messages. Out: how many places the caller has, and how many remain; 0 of both if the
   * capture has ended or another one is in its place.
   */
  claim(
    capture: Pick<NewCapture, 'endpointId' | 'id'>,
    count: number,
  ): Promise<Readonly<{ claimed: number; remaining: number }>>
  /** Resolves to whether the endpoint had a capture. */
  remove(endpointId: string): Promise<boolean>
}
