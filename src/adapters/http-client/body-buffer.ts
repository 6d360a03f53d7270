/**
 * Collects a body as it streams in, up to a limit. One growing buffer, not a list of chunks: an upstream that sends
 * a byte a chunk would otherwise cost a hundred times what it sends.
 */
export type BodyBuffer = Readonly<{
  /** Adds a chunk; false where the body is now over the limit and should be given up. */
  append(chunk: Uint8Array): boolean
  take(): Uint8Array
}>

const FIRST_CAPACITY_BYTES = 16 * 1024

export function createBodyBuffer(limitBytes: number): BodyBuffer {
  let store: Uint8Array = new Uint8Array(0)
  let sizeBytes = 0
  return {
    append(chunk) {
      if (sizeBytes + chunk.length > limitBytes) return false
      if (sizeBytes === 0) {
        // Most answers are a single chunk, which then needs no copy; it is never written to, having no room left.
        store = chunk
        sizeBytes = chunk.length
        return true
      }
      if (sizeBytes + chunk.length > store.length) store = grown(store, sizeBytes, chunk.length)
      store.set(chunk, sizeBytes)
      sizeBytes += chunk.length
      return true
    },
    take: () => (sizeBytes === store.length ? store : store.subarray(0, sizeBytes)),
  }
}

function grown(store: Uint8Array, sizeBytes: number, moreBytes: number): Uint8Array {
  const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_CAPACITY_BYTES, (sizeBytes + moreBytes) * 2))
  larger.set(store.subarray(0, sizeBytes))
  return larger
}
