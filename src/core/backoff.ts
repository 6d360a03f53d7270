/** Exponential backoff, for whatever tries again after a failure. */

/** `firstMs`: the first pause; each further one is twice as long, up to `maxMs`. */
export type Backoff = Readonly<{ firstMs: number; maxMs: number }>

/** In: the pause before, 0 for none. Out: the next pause, in milliseconds. */
export const nextPauseMs = (lastMs: number, { firstMs, maxMs }: Backoff): number =>
  Math.min(Math.max(lastMs * 2, firstMs), maxMs)
