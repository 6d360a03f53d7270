/**
 * One connection of a sender: takes its messages one at a time and in order, and answers each before it reads on, so that a
 * sender is never faster than the service.
 */
import type { Socket } from 'node:net'
import { type Frame, FrameReader, writeFrame } from '../../outbound/mllp/frames.ts'
import type { IncompleteBodies, IncompleteBody } from '../incomplete-bodies.ts'

export type ConnectionOptions = Readonly<{
  /** Of the content of a frame. */
  limitBytes: number
  incomplete: IncompleteBodies
  /** How long a frame may take to arrive, and its answer to be read. */
  frameTimeoutMs: number
  /** How long the first frame may take to arrive, whatever `idleTimeoutMs` says. */
  firstFrameTimeoutMs: number
  /** How long nothing may arrive; 0: for ever. */
  idleTimeoutMs: number
  /** Processes the message of a frame; resolves to the answers, and never rejects. */
  take: (frame: Frame) => Promise<readonly Uint8Array[]>
  /** Answers what arrived of a broken frame. */
  refuse: (content: Uint8Array) => readonly Uint8Array[]
  /** Called once if the sender does not speak MLLP. */
  onForeign: () => void
  /** A bug of the service; the connection is closed. */
  onBug: (bug: unknown) => void
}>

export class MllpConnection {
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>
  /** With `allowHalfOpen`: some senders end their side before they read. */
  readonly #socket: Socket
  readonly #options: ConnectionOptions
  readonly #reader: FrameReader
  /** Frames that arrived and are not taken yet. */
  #frames: Frame[] = []
  #isBusy = false
  #isStopping = false
  /** The sender has ended its side; it may still read. */
  #isOneSided = false
  /** The part of a frame that has arrived. */
  readonly #partial: IncompleteBody
  /** Runs until a first frame has arrived. */
  readonly #firstFrameTimer: NodeJS.Timeout
  /** Runs while a frame arrives. */
  #frameTimer: NodeJS.Timeout | undefined
  /** Runs while a frame is held that may be whole. */
  #heldTimer: NodeJS.Timeout | undefined

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket
    this.#options = options
    this.#reader = new FrameReader(options.limitBytes, { maxSkippedBytes: 0, isHolding: true })
    this.#partial = { bytes: 0, giveUp: () => socket.destroy() }
    this.#firstFrameTimer = setTimeout(() => socket.destroy(), options.firstFrameTimeoutMs)
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        clearTimeout(this.#firstFrameTimer)
        clearTimeout(this.#frameTimer)
        clearTimeout(this.#heldTimer)
        options.incomplete.release(this.#partial)
        resolve()
      })
    })
    socket.setNoDelay(true)
    socket.setKeepAlive(true, 60_000)
    socket.setTimeout(options.idleTimeoutMs, () => {
      if (!this.#isBusy) socket.destroy()
    })
    // The close that follows ends the connection; messages under way continue.
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('end', () => {
      this.#isOneSided = true
      this.#watchHeld()
      if (!this.#isBusy) this.#end()
    })
  }

  /** Answers the message under way, takes no further one, and ends the connection. */
  stop(): void {
    this.#isStopping = true
    this.#frames = []
    this.#watchHeld()
    if (!this.#isBusy) this.#end()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #receive(chunk: Buffer): void {
    if (this.#isStopping) return
    this.#takeArrived(this.#reader.read(chunk))
  }

  #takeArrived(frames: readonly Frame[]): void {
    this.#frames.push(...frames)
    const { heldBytes } = this.#reader
    if (heldBytes > 0) this.#options.incomplete.hold(this.#partial, heldBytes)
    else this.#options.incomplete.release(this.#partial)
    if (this.#frames.length > 0) clearTimeout(this.#firstFrameTimer)
    if (this.#frames.length === 0 && !this.#reader.isLost) this.#watchFrame()
    else if (!this.#isBusy) this.#takeAll().catch((bug) => this.#giveUp(bug))
  }

  async #takeAll(): Promise<void> {
    this.#isBusy = true
    this.#socket.pause()
    this.#watchFrame()
    for (let frame = this.#frames.shift(); frame !== undefined; frame = this.#frames.shift()) {
      // A sender that is gone sends again what it got no answer to.
      if (this.#socket.destroyed) return
      const answers = await this.#options.take(frame)
      for (const answer of answers) await this.#write(writeFrame(answer))
    }
    if (this.#reader.isLost) await this.#endForeign()
    this.#isBusy = false
    // The time of processing is not the sender's.
    this.#socket.setTimeout(this.#options.idleTimeoutMs)
    if (this.#isStopping || this.#isOneSided) this.#end()
    else this.#socket.resume()
    this.#watchFrame()
  }

  /** What follows is not taken: a frame may be made of it by a web page, whose requests begin with bytes of the browser's. */
  async #endForeign(): Promise<void> {
    const { brokenFrame } = this.#reader
    this.#options.onForeign()
    const answers = brokenFrame === undefined ? [] : this.#options.refuse(brokenFrame)
    for (const answer of answers) await this.#write(writeFrame(answer))
    this.#isStopping = true
  }

  #giveUp(bug: unknown): void {
    this.#options.onBug(bug)
    this.#socket.destroy()
  }

  /** Resolves when the answer can be followed by another one. */
  async #write(frame: Uint8Array): Promise<void> {
    const socket = this.#socket
    if (socket.destroyed || !socket.writable || socket.write(frame)) return
    const timer = setTimeout(() => socket.destroy(), this.#options.frameTimeoutMs)
    await new Promise<void>((resolve) => {
      socket.once('drain', resolve)
      socket.once('close', resolve)
    })
    clearTimeout(timer)
  }

  /** A sender that begins a frame must end it; while the connection isn't read, it cannot. */
  #watchFrame(): void {
    this.#watchHeld()
    if (this.#reader.isWithinFrame && !this.#isBusy && !this.#socket.destroyed) {
      this.#frameTimer ??= setTimeout(() => this.#socket.destroy(), this.#options.frameTimeoutMs)
      return
    }
    clearTimeout(this.#frameTimer)
    this.#frameTimer = undefined
  }

  /**
   * A frame whose 0x1C was the last byte to arrive is whole if nothing follows for a while, unless its sender ends its frames
   * with 0x0D, or is gone.
   */
  #watchHeld(): void {
    clearTimeout(this.#heldTimer)
    if (!this.#reader.mayBeWhole || this.#isBusy || this.#isStopping || this.#isOneSided) return
    this.#heldTimer = setTimeout(
      () => {
        const frame = this.#reader.takeHeld()
        if (frame !== undefined) this.#takeArrived([frame])
      },
      Math.min(HELD_MS, this.#options.frameTimeoutMs / 2),
    )
  }

  #end(): void {
    this.#socket.end()
    this.#socket.resume()
    // A sender that does not read, or does not end its side, is not waited for.
    const timer = setTimeout(() => this.#socket.destroy(), END_MS)
    timer.unref()
    void this.closed.then(() => clearTimeout(timer))
  }
}

/** Longer than a 0x0D takes that a sender writes by itself: its system may first wait for the receipt of what it sent before. */
const HELD_MS = 200

/** How long an ended connection waits for the sender to end its side. */
const END_MS = 1_000
