/**
 * The group commit of PostgreSQL: calls that are queued at the same time share one write, and so one flush of the server.
 * The calls that arrive while a batch is written are the next batch.
 */
export type Batches<Item> = Readonly<{
  /** Resolves when the item is written. Items are written in the order of the calls. */
  add(item: Item): Promise<void>
  /** Resolves when every queued item is written or rejected. */
  idle(): Promise<void>
}>

export type BatchOptions<Item> = Readonly<{
  /** Writes all of them or none. */
  write(items: readonly Item[]): Promise<void>
  /** Whether the items of a failed batch are written one by one. */
  mayDivide(thrown: unknown): boolean
  sizeOf(item: Item): number
  /** The most that the sizes of a batch add up to; a single item may be larger. */
  limit: number
}>

type QueuedItem<Item> = Readonly<{ item: Item; resolve(): void; reject(reason: unknown): void }>

export function createBatches<Item>({ write, mayDivide, sizeOf, limit }: BatchOptions<Item>): Batches<Item> {
  const queue: QueuedItem<Item>[] = []
  let running: Promise<void> | undefined

  function take(): QueuedItem<Item>[] {
    let size = 0
    const tooMany = queue.findIndex(({ item }) => {
      size += sizeOf(item)
      return size > limit
    })
    return queue.splice(0, tooMany === -1 ? queue.length : Math.max(tooMany, 1))
  }

  async function writeBatch(batch: readonly QueuedItem<Item>[]): Promise<void> {
    try {
      await write(batch.map(({ item }) => item))
      for (const { resolve } of batch) resolve()
    } catch (thrown) {
      if (batch.length > 1 && mayDivide(thrown)) for (const one of batch) await writeBatch([one])
      else for (const { reject } of batch) reject(thrown)
    }
  }

  async function writeAll(): Promise<void> {
    // Calls of the same turn of the event loop belong to the first batch.
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
