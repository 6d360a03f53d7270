/** Writes a time as ISO 8601. Many messages arrive within a millisecond, and writing one takes a tenth of a message. */
export function createIsoTime(): (timeMs: number) => string {
  let lastMs = Number.NaN
  let text = ''
  return (timeMs) => {
    if (timeMs !== lastMs) {
      text = new Date(timeMs).toISOString()
      lastMs = timeMs
    }
    return text
  }
}
