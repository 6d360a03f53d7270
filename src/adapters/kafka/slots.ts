/**
 * Bounds how many records of an endpoint are begun and not yet committed. A gate on top holds back new ones while the
 * group is being rebuilt: whoever gets a partition then begins where we stopped.
 */
export interface Slots {
  /** Resolves to true when a record may begin; to false when all is over. Free of a promise where it may at once. */
  take(): boolean | Promise<boolean>
  give(count: number): void
  hold(): void
  release(): void
  /** Turns away everyone who waits, and who comes later. */
  end(): void
  readonly taken: number
}

export function createSlots(limit: number): Slots {
  let taken = 0
  let held = false
  let ended = false
  const waiting: ((granted: boolean) => void)[] = []

  const grant = () => {
    while (!held && taken < limit && waiting.length > 0) {
      taken += 1
      waiting.shift()?.(true)
    }
  }
  return {
    take: () => {
      if (ended) return false
      if (!held && taken < limit && waiting.length === 0) {
        taken += 1
        return true
      }
      return new Promise((resolve) => waiting.push(resolve))
    },
    give: (count) => {
      taken -= count
      grant()
    },
    hold: () => {
      held = true
    },
    release: () => {
      held = false
      grant()
    },
    end: () => {
      ended = true
      for (const turnAway of waiting.splice(0)) turnAway(false)
    },
    get taken() {
      return taken
    },
  }
}
