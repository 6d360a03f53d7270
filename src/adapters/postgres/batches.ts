/**
 * Calls that wait at the same time share one write, and so one wait for the disk of the server: while one batch is
 * written, what arrives is the next.
 */
export type Batches<Item> = Readonly<{
  /** Resolves when the item is written. Items are written in the order of the calls. */
  add(item: Item): Promise<void>
  /** Resolves when every item that waits is written or refused. */
  idle(): Promise<void>
}>

export type BatchOptions<Item> = Readonly<{
  /** Writes all of them or none. */
  write(items: readonly Item[]): Promise<void>
  /** Whether a failed batch may hold items that can be written by themselves. */
  mayDivide(thrown: unknown): boolean
  sizeOf(item: Item): number
  /** Of the sizes of a batch; one item alone may be larger. */
  limit: number
}>

type Waiting<Item> = Readonly<{ item: Item; resolve(): void; reject(reason: unknown): void }>

export function createBatches<Item>({ write, mayDivide, sizeOf, limit }: BatchOptions<Item>): Batches<Item> {
  const queue: Waiting<Item>[] = []
  let running: Promise<void> | undefined

  function take(): Waiting<Item>[] {
    let size = 0
    const tooMany = queue.findIndex(({ item }) => {
      size += sizeOf(item)
      return size > limit
    })
    return queue.splice(0, tooMany === -1 ? queue.length : Math.max(tooMany, 1))
  }

  async function writeBatch(batch: readonly Waiting<Item>[]): Promise<void> {
    try {
      await write(batch.map(({ item }) => item))
      for (const { resolve } of batch) resolve()
    } catch (thrown) {
      if (batch.length > 1 && mayDivide(thrown)) for (const one of batch) await writeBatch([one])
      else for (const { reject } of batch) reject(thrown)
    }
  }

  async function writeAll(): Promise<void> {
    // What else arrives in this turn of the event loop belongs to the first batch.
    await new Promise((resolve) => setImmediate(resolve))
    while (queue.length > 0) await writeBatch(take())
    running = undefined
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject })
        running ??= writeAll()
      }),
    idle: async () => {
      await running
    },
  }
}
