/** Which messages are being repeated, and were a moment ago: by hand and by plans alike, so that nothing is done twice. */

/** Records of what succeeded may not be in the log yet; `succeeded` has the id of the replay by that of the message. */
export type Claims = Readonly<{ underWay: Set<string>; succeeded: Map<string, string> }>

export const createClaims = (): Claims => ({ underWay: new Set(), succeeded: new Map() })

/** Remembered longer than any record takes on its way into the log. */
const SUCCEEDED_KEPT = 100_000

export function rememberSuccess({ succeeded }: Claims, id: string, replayId: string): void {
  succeeded.set(id, replayId)
  const [oldest] = succeeded.size > SUCCEEDED_KEPT ? succeeded.keys() : []
  if (oldest !== undefined) succeeded.delete(oldest)
}
