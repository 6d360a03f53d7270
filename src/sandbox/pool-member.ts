/** One member of a pool, seen from the service: an isolated process, or a thread that takes its place. */
import { type IsolationResponse, unframe } from './isolation-protocol.ts'

/** What ended a process: the service, the process itself (out of memory, or a crash), or another process. */
export type EndedBy = 'service' | 'itself' | 'others'

export type PoolMember = Readonly<{
  pid: number | undefined
  /** Takes one request at a time; the response goes to `onResponse`. */
  send(request: Buffer): void
  /** Its processor time so far; undefined if the system does not report it. */
  cpuMs(): number | undefined
  /** From now on it runs only when other processes are idle. */
  lowerPriority(): void
  kill(): void
}>

export type PoolMemberEvents = Readonly<{
  onReady(): void
  onResponse(response: IsolationResponse): void
  /** Called once, as the last event. */
  onEnd(endedBy: EndedBy): void
}>

/** Represents a process that could not be started: it is never ready, so it gets no request. */
export const NEVER_STARTED: PoolMember = {
  pid: undefined,
  send: () => {},
  cpuMs: () => undefined,
  lowerPriority: () => {},
  kill: () => {},
}

/**
 * Reports the responses of a member to its pool. In: chunks of its output. Calls `onBroken` if they are none of the protocol;
 * the member must be ended then.
 */
export function readMember(events: PoolMemberEvents, onBroken: () => void): (chunk: Buffer) => void {
  const take = unframe((value) => {
    if (value === 'ready') events.onReady()
    else events.onResponse(value as IsolationResponse)
  })
  return (chunk) => {
    try {
      take(chunk)
    } catch {
      onBroken()
    }
  }
}
