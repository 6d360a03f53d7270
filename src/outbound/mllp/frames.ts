/**
 * Frames of MLLP (HL7 Transport Specification: MLLP, Release 1): a message between the byte 0x0B and the bytes 0x1C 0x0D.
 * For both ends of a connection.
 */

const START = 0x0b
const END = 0x1c
const CARRIAGE_RETURN = 0x0d
const LINE_FEED = 0x0a

const FIRST_CAPACITY_BYTES = 16 * 1024

/** `isWhole`: false for a frame that exceeds the limit, of which this is the start. */
export type Frame = Readonly<{ content: Uint8Array; isWhole: boolean }>

/**
 * Finds the frames in the bytes of a connection, wherever they are cut.
 *
 * A frame ends with 0x1C 0x0D, but some senders leave out the 0x0D, and would wait for ever for an answer to a frame that waits
 * for it. A 0x0B within a frame belongs to it, because texts contain vertical tabs. But where a byte follows that is
 * in no frame, the 0x1C stands in a text, and the frame is broken: `brokenFrame` has its start, and nothing more is read.
 *
 * A frame whose 0x1C is the last byte that has arrived is given at once, or held if it `isHolding`: then the next byte decides, or
 * who reads takes it.
 */
export class FrameReader {
  /** The bytes between frames up to now, without line ends: where no frame arrived, the sender does not speak MLLP. */
  skippedBytes = 0
  /** What arrived of a frame with a 0x1C in it. */
  brokenFrame: Uint8Array | undefined
  private readonly limitBytes: number
  private readonly maxSkippedBytes: number
  private readonly isHolding: boolean
  /** Whether the sender ends its frames with 0x0D; undefined until that is known. */
  private sendsReturn: boolean | undefined
  private held: Frame | undefined
  private state: 'between' | 'within' | 'beyond the limit' = 'between'
  /** One growing buffer, not a list of chunks: a frame of one byte a chunk would take a hundred times its size. */
  private kept: Uint8Array = NO_BYTES
  private keptBytes = 0

  /** `limitBytes`: the longest content of a frame. `maxSkippedBytes`: after more of them, nothing more is read. */
  constructor(limitBytes: number, { maxSkippedBytes = Number.POSITIVE_INFINITY, isHolding = false } = {}) {
    this.limitBytes = limitBytes
    this.maxSkippedBytes = maxSkippedBytes
    this.isHolding = isHolding
  }

  /** The bytes that follow are not those of a sender of MLLP. */
  get isLost(): boolean {
    return this.brokenFrame !== undefined || this.skippedBytes > this.maxSkippedBytes
  }

  /** Part of a frame has arrived, and its end has not. */
  get isWithinFrame(): boolean {
    return this.state !== 'between' || this.held !== undefined
  }

  /** A frame is held that may be whole: this sender is not known to end its frames with 0x0D. */
  get mayBeWhole(): boolean {
    return this.held !== undefined && this.sendsReturn !== true
  }

  /** The memory that the part of a frame takes. */
  get heldBytes(): number {
    return this.kept.length + (this.held?.content.length ?? 0)
  }

  /** The frame that is held: nothing followed. Its sender is taken for one that leaves out the 0x0D, and no frame is held until one arrives. */
  takeHeld(): Frame | undefined {
    const { held } = this
    this.held = undefined
    this.sendsReturn = false
    return held
  }

  /**
   * In: the next bytes of the connection; the frames may be views of them. Out: the frames that end in them, in order. A
   * frame beyond the limit is among them as soon as it exceeds it; the rest of it is skipped.
   */
  read(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = []
    const [first] = chunk
    if (this.held !== undefined && first !== undefined) {
      if (first === CARRIAGE_RETURN) this.sendsReturn = true
      if (mayFollow(first)) frames.push(this.held)
      else this.brokenFrame = this.held.content
      this.held = undefined
    }
    let at = 0
    while (at < chunk.length) {
      if (this.state === 'between') {
        const start = chunk.indexOf(START, at)
        this.skip(chunk.subarray(at, start < 0 || this.brokenFrame !== undefined ? chunk.length : start))
        if (start < 0 || this.isLost) break
        this.state = 'within'
        at = start + 1
        continue
      }
      const end = chunk.indexOf(END, at)
      if (this.state === 'within') {
        const frame = this.add(chunk.subarray(at, end < 0 ? chunk.length : end), end >= 0)
        const next = chunk[end + 1]
        if (frame?.isWhole && next === CARRIAGE_RETURN) this.sendsReturn = true
        if (frame?.isWhole && next === undefined && this.isHolding && this.sendsReturn !== false) this.held = frame
        else if (frame?.isWhole && !mayFollow(next)) this.brokenFrame = frame.content
        else if (frame !== undefined) frames.push(frame)
      }
      if (end < 0) break
      this.state = 'between'
      at = end + 1
    }
    return frames
  }

  private add(bytes: Uint8Array, isEnd: boolean): Frame | undefined {
    const sizeBytes = this.keptBytes + bytes.length
    if (sizeBytes > this.limitBytes) {
      const content = this.take(bytes.subarray(0, this.limitBytes - this.keptBytes))
      this.state = 'beyond the limit'
      return { content, isWhole: false }
    }
    if (isEnd) return { content: this.take(bytes), isWhole: true }
    this.keep(bytes)
    return undefined
  }

  /** The content kept and these bytes, the last ones of it. */
  private take(bytes: Uint8Array): Uint8Array {
    if (this.keptBytes === 0) return bytes
    this.keep(bytes)
    const content = this.kept.subarray(0, this.keptBytes)
    this.kept = NO_BYTES
    this.keptBytes = 0
    return content
  }

  private keep(bytes: Uint8Array): void {
    const sizeBytes = this.keptBytes + bytes.length
    if (sizeBytes > this.kept.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_CAPACITY_BYTES, sizeBytes * 2))
      larger.set(this.kept.subarray(0, this.keptBytes))
      this.kept = larger
    }
    this.kept.set(bytes, this.keptBytes)
    this.keptBytes = sizeBytes
  }

  private skip(bytes: Uint8Array): void {
    // It belongs to a frame that was taken without it.
    if (bytes[0] === CARRIAGE_RETURN && this.sendsReturn === false) this.sendsReturn = undefined
    for (const byte of bytes) if (byte !== CARRIAGE_RETURN && byte !== LINE_FEED) this.skippedBytes += 1
  }
}

/** Of a byte behind 0x1C; undefined if none has arrived. */
const mayFollow = (byte: number | undefined): boolean =>
  byte === undefined || byte === CARRIAGE_RETURN || byte === LINE_FEED || byte === START

const NO_BYTES = new Uint8Array(0)

/** True if the content can be a frame: its receiver would take a 0x1C in it for its end, and what follows for a message. */
export const fitsFrame = (content: Uint8Array): boolean => !content.includes(END)

/** In: content that fits a frame. Out: the bytes to send. */
export function writeFrame(content: Uint8Array): Uint8Array {
  const frame = Buffer.allocUnsafe(content.length + 3)
  frame[0] = START
  frame.set(content, 1)
  frame[content.length + 1] = END
  frame[content.length + 2] = CARRIAGE_RETURN
  return frame
}
