/** The recorded messages that callers have read by dry runs in the last hour: an editor may make a dry run at each key. */
const MAX_READS = 1_000
const REMEMBERED_MS = 3_600_000

export class RecentReads {
  readonly #times = new Map<string, number>()

  /** True if the caller has not read this message in the last hour. The oldest reads are forgotten first. */
  isFirst(who: string, messageId: string): boolean {
    const key = JSON.stringify([who, messageId])
    const now = performance.now()
    const at = this.#times.get(key)
    if (at !== undefined && now - at < REMEMBERED_MS) return false
    this.#times.delete(key)
    this.#times.set(key, now)
    const [oldest] = this.#times.keys()
    if (this.#times.size > MAX_READS && oldest !== undefined) this.#times.delete(oldest)
    return true
  }
}
