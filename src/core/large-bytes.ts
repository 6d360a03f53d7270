/** Bytes of which there may be hundreds of megabytes, without holding up messages. */
import { createPause } from './slice.ts'

/** Takes less than a millisecond to copy. */
export const SLICE_BYTES = 1_048_576

/**
 * Zeros, which other threads can use too. The garbage collector does not count them: other buffers of tens of megabytes make it
 * visit all objects, which holds up messages for 10 ms and more.
 */
export const sharedBuffer = (bytes: number): Buffer => Buffer.from(new SharedArrayBuffer(bytes))

/** At once, hundreds of megabytes would hold up messages for a tenth of a second and more. */
export async function copyInSlices(from: Uint8Array | Uint32Array, to: Uint8Array, at: number): Promise<void> {
  const source = new Uint8Array(from.buffer, from.byteOffset, from.byteLength)
  const pause = createPause()
  for (let start = 0; start < source.length; start += SLICE_BYTES) {
    to.set(source.subarray(start, start + SLICE_BYTES), at + start)
    await pause()
  }
}
