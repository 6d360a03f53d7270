/** Records with numbers, so that the test can judge what came out: each once, twice, or never, and in which order. */
import { body } from '../../support/broker/broker.ts'

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

/** Records from..to-1, dealt out over the partitions; with `keys`, a multiple of the partitions, also over so many keys. */
export const numbered = (from: number, to: number, partitions: number, keys?: number) =>
  Array.from({ length: to - from }, (_, index) => ({
    ...body({ n: from + index }),
    partition: (from + index) % partitions,
    ...(keys === undefined ? {} : { key: Buffer.from(`key ${(from + index) % keys}`) }),
  }))

export const readMade = (records: readonly { value: Buffer | null }[]): Made[] =>
  records.map(({ value }) => JSON.parse(String(value)) as Made)

export type Deliveries = Readonly<{ lost: number; duplicates: number; outOfOrder: number }>

/** What became of `count` records. Order is that of first deliveries, within each partition, or each of so many keys. */
export function countDeliveries(made: readonly Made[], count: number, keys?: number): Deliveries {
  const seen = new Set<number>()
  const last = new Map<number, number>()
  let outOfOrder = 0
  for (const { n, partition, offset } of made) {
    if (seen.has(n)) continue
    seen.add(n)
    const line = keys === undefined ? partition : n % keys
    if (offset < (last.get(line) ?? -1)) outOfOrder += 1
    last.set(line, Math.max(offset, last.get(line) ?? -1))
  }
  return { lost: count - seen.size, duplicates: made.length - seen.size, outOfOrder }
}
