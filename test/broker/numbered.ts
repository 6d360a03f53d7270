/** Records with numbers, so that the test can judge what came out: each once, twice, or never, and in which order. */
import { body } from './broker.ts'

export type Made = Readonly<{ n: number; partition: number; offset: number }>

/** The part of a document that writes, for each record consumed, where it stood; one source partition in one partition. */
export const tracing = (out: string) => ({
  inputMapping: {
    'requestBody.n': 'n',
    'requestHeaders.kafka-partition': { key: 'partition', transform: { function: 'numberify' } },
    'requestHeaders.kafka-offset': { key: 'offset', transform: { function: 'numberify' } },
  },
  requests: { response: { id: 'out', kafkaProducerTopic: out, key: { path: 'requestHeaders.kafka-partition' } } },
})

/** Records from..to-1, dealt out over the partitions. */
export const numbered = (from: number, to: number, partitions: number) =>
  Array.from({ length: to - from }, (_, index) => ({
    ...body({ n: from + index }),
    partition: (from + index) % partitions,
  }))

export const readMade = (records: readonly { value: Buffer | null }[]): Made[] =>
  records.map(({ value }) => JSON.parse(String(value)) as Made)

export type Account = Readonly<{ lost: number; duplicates: number; outOfOrder: number }>

/** What became of `count` records. Order is that of first deliveries, within each partition. */
export function account(made: readonly Made[], count: number): Account {
  const seen = new Set<number>()
  const last = new Map<number, number>()
  let outOfOrder = 0
  for (const { n, partition, offset } of made) {
    if (seen.has(n)) continue
    seen.add(n)
    if (offset < (last.get(partition) ?? -1)) outOfOrder += 1
    last.set(partition, Math.max(offset, last.get(partition) ?? -1))
  }
  return { lost: count - seen.size, duplicates: made.length - seen.size, outOfOrder }
}
