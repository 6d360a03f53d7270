/** Numbers as bytes of ASCII, for lines that every message has: what is never a string leaves nothing to collect. */

/** The most digits that a number has here. */
export const MOST_DIGITS = 16

/** Writes a whole number of 0 or more; gives where it ends. Others are written as 0, as no time is less. */
export function writeDigits(buffer: Uint8Array, at: number, value: number): number {
  let rest = value > 0 ? Math.min(Math.floor(value), Number.MAX_SAFE_INTEGER) : 0
  let end = at + 1
  for (let above = rest; above >= 10; above = Math.floor(above / 10)) end += 1
  for (let place = end - 1; place >= at; place -= 1) {
    const tens = Math.floor(rest / 10)
    buffer[place] = 0x30 + (rest - tens * 10)
    rest = tens
  }
  return end
}

/** Writes milliseconds with three digits behind the point. */
export function writeMilliseconds(buffer: Uint8Array, at: number, ms: number): number {
  const microseconds = Math.round(ms * 1000)
  const end = writeDigits(buffer, at, microseconds / 1000)
  const rest = microseconds > 0 ? microseconds % 1000 : 0
  buffer[end] = 0x2e
  buffer[end + 1] = 0x30 + Math.floor(rest / 100)
  buffer[end + 2] = 0x30 + Math.floor((rest % 100) / 10)
  buffer[end + 3] = 0x30 + (rest % 10)
  return end + 4
}
