/**
 * Standard output for the log: lines that come close together are written together, since each write is a call of the
 * system that takes as long as a part of a message.
 */
import sonicBoom from 'sonic-boom'

/** How long a line waits at most for others, and how many characters of them are enough. */
const WAIT_MS = 250
const ENOUGH = 16_384

export type LogOutput = Readonly<{
  write(line: string): void
  /** Writes all that waits, at once. */
  flush(): void
}>

/**
 * The first line after a pause is written at once; those that follow within 250 ms go together, in order. What waits is
 * written whenever the process ends by itself, a fault that nothing caught included; only SIGKILL takes it along.
 */
export function openStandardOutput(): LogOutput {
  // Synchronous, so that the last lines before an end of any kind are written.
  const output = new sonicBoom.SonicBoom({ fd: 1, sync: true })
  // A reader that went away, a full disk: without a listener each would end the process.
  output.on('error', () => {})
  return collectLines((text) => void output.write(text))
}

export function collectLines(write: (text: string) => void): LogOutput {
  let waiting = ''
  let timer: NodeJS.Timeout | undefined

  const flush = (): void => {
    const text = waiting
    waiting = ''
    if (text !== '') write(text)
  }
  const onTime = (): void => {
    timer = undefined
    if (waiting === '') return
    startTimer()
    flush()
  }
  const startTimer = (): void => {
    timer = setTimeout(onTime, WAIT_MS)
    timer.unref()
  }
  process.on('exit', flush)
  return {
    flush,
    write: (line) => {
      waiting += line
      if (timer === undefined) {
        startTimer()
        flush()
      } else if (waiting.length >= ENOUGH) flush()
    },
  }
}
