/** Bounds the memory of all bodies that have arrived in part, through whichever door. */

/** `bytes`: the memory that it takes. `giveUp`: called if others need this memory; it does not call `release`. */
export type IncompleteBody = { bytes: number; giveUp(): void }

type Room = Readonly<{
  /** The largest body. */
  limitBytes: number
  /** The most that all incomplete bodies may take; two of the largest have room at least. */
  roomBytes: number
}>

export class IncompleteBodies {
  readonly #maxBytes: number
  /** The first is the one that has received nothing for longest. */
  readonly #bodies = new Set<IncompleteBody>()
  #held = 0

  constructor({ limitBytes, roomBytes }: Room) {
    this.#maxBytes = Math.max(roomBytes, 2 * limitBytes)
  }

  /** Something of the body has arrived, which now takes `bytes`. */
  hold(body: IncompleteBody, bytes: number): void {
    this.#bodies.delete(body)
    this.#bodies.add(body)
    this.#held += bytes - body.bytes
    body.bytes = bytes
    for (const idle of this.#bodies) {
      if (this.#held <= this.#maxBytes) return
      this.release(idle)
      idle.giveUp()
    }
  }

  /** The body is whole, or not waited for any more. */
  release(body: IncompleteBody): void {
    if (!this.#bodies.delete(body)) return
    this.#held -= body.bytes
    body.bytes = 0
  }
}
