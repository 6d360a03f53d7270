/**
 * Produces the records of one topic, in order, with an idempotent client of its own: a topic that is missing or has
 * too few replicas holds up nobody else's.
 *
 * Only one batch is on its way at a time. The client keeps the sequence numbers that make it idempotent in one place
 * and clears them when a batch fails; with a second batch under way, a broker could take a record for the repetition
 * of another and acknowledge what it never wrote. Records that arrive meanwhile go together in the next batch, so
 * the pace comes from their number. After a fault the client is replaced, and with it its identity.
 */
import { compatibilityPartitioner, type MessageToProduce, Producer } from '@platformatic/kafka'
import type { BrokerRecord, RecordPlace } from '../../domain/ports.ts'
import { readVerdicts } from './acknowledged.ts'
import { clientOptions, type KafkaSettings } from './client-options.ts'
import { notAcknowledged, produceError, refusalOf } from './faults.ts'
import { ignoreErrors, within } from './patience.ts'

const BATCH_RECORDS = 500
const BATCH_BYTES = 512 * 1024
const CLOSE_MS = 2_000
/** A topic that nothing is sent to for this long costs no connection. */
const IDLE_MS = 60_000

export interface Lane {
  produce(record: BrokerRecord, timeoutMs: number): Promise<RecordPlace>
  close(): Promise<void>
}

type Waiting = Readonly<{
  record: BrokerRecord
  sizeBytes: number
  resolve(place: RecordPlace): void
  reject(error: unknown): void
  isSettled(): boolean
}>
type Placed = Readonly<{ entry: Waiting; message: MessageToProduce; partition: number; index: number }>

/** Connects when the first record is produced. */
export function openLane(settings: KafkaSettings, topic: string): Lane {
  let waiting: Waiting[] = []
  let client: Producer | undefined
  let pumping: Promise<void> | undefined
  let idle: NodeJS.Timeout | undefined
  let roundRobin = 0

  const open = (): Producer => {
    if (client !== undefined) return client
    client = new Producer({
      ...clientOptions(settings),
      idempotent: true,
      autocreateTopics: true,
      retries: 3,
      retryDelay: 200,
    })
    // Calls report their own faults; without a listener the event would end the process.
    ignoreErrors(client)
    return client
  }
  const discard = async (): Promise<void> => {
    const old = client
    client = undefined
    if (old !== undefined) await within(CLOSE_MS, old.close(true))
  }

  const place = async (batch: readonly Waiting[]): Promise<Placed[]> => {
    const metadata = await open().metadata({ topics: [topic], autocreateTopics: true })
    const partitions = metadata.topics.get(topic)?.partitionsCount ?? 1
    const counts = new Map<number, number>()
    return batch.map((entry) => {
      const message = toMessage(entry.record)
      const hash = message.key === undefined ? roundRobin++ : compatibilityPartitioner(message, message.key)
      const partition = hash % partitions
      const index = counts.get(partition) ?? 0
      counts.set(partition, index + 1)
      return { entry, message: { ...message, partition }, partition, index }
    })
  }
  const acknowledge = ({ entry, partition, index }: Placed, base: bigint) =>
    entry.resolve({ topic, partition, offset: Number(base) + index })

  const deliver = async (entries: readonly Waiting[]): Promise<void> => {
    const batch = entries.filter((entry) => !entry.isSettled())
    if (batch.length === 0) return
    let placed: Placed[] = []
    try {
      placed = await place(batch)
      const { offsets = [] } = await open().send({ messages: placed.map(({ message }) => message) })
      for (const one of placed) {
        const base = offsets.find(({ partition }) => partition === one.partition)
        if (base !== undefined) acknowledge(one, base.offset)
        else one.entry.reject(notAcknowledged('unreachable', topic, 'it said nothing about this record'))
      }
    } catch (error) {
      void discard()
      if (placed.length === 0) for (const { reject } of batch) reject(produceError(topic, error))
      else await tellEach(placed, error)
    }
  }
  /** Tells each record of a batch that failed what became of its own partition. */
  const tellEach = async (placed: readonly Placed[], error: unknown): Promise<void> => {
    const { offsets, errors } = readVerdicts(error)
    const isRefused = ({ partition }: Placed) => refusalOf(errors.get(partition)) !== undefined
    const unwritten: Placed[] = []
    for (const one of placed) {
      const base = offsets.get(one.partition)
      if (base === undefined) unwritten.push(one)
      else acknowledge(one, base)
    }
    if (!unwritten.some(isRefused)) {
      for (const { entry, partition } of unwritten) entry.reject(produceError(topic, errors.get(partition) ?? error))
      return
    }
    // One record that is refused must not fail those that happened to travel with it: not those of its partition, of
    // which the broker takes all or none, nor those of others, for which the client then tries nothing again.
    const refused = unwritten.filter(isRefused)
    const others = unwritten.filter((one) => !isRefused(one))
    if (others.length > 0) await deliver(others.map(({ entry }) => entry))
    for (const one of refused) {
      if (refused.some((other) => isBeside(one, other))) await deliver([one.entry])
      else one.entry.reject(produceError(topic, errors.get(one.partition)))
    }
  }

  const pump = async (): Promise<void> => {
    while (waiting.length > 0) {
      const { batch, rest } = takeBatch(waiting)
      waiting = rest
      await deliver(batch)
    }
    pumping = undefined
    idle = setTimeout(discard, IDLE_MS).unref()
  }

  return {
    produce: (record, timeoutMs) =>
      new Promise<RecordPlace>((resolve, reject) => {
        let settled = false
        const settle =
          <T>(done: (value: T) => void) =>
          (value: T) => {
            if (settled) return
            settled = true
            clearTimeout(timer)
            done(value)
          }
        const entry: Waiting = {
          record,
          sizeBytes: sizeOf(record),
          resolve: settle(resolve),
          reject: settle(reject),
          isSettled: () => settled,
        }
        const timer = setTimeout(
          () => entry.reject(notAcknowledged('timeout', topic, `nothing came back within ${timeoutMs} ms`)),
          timeoutMs,
        )
        waiting.push(entry)
        clearTimeout(idle)
        // In the next turn, so that what arrives in this one travels together.
        pumping ??= new Promise<void>((next) => setImmediate(next)).then(pump)
      }),
    close: async () => {
      await within(CLOSE_MS, pumping ?? Promise.resolve())
      clearTimeout(idle)
      await discard()
    },
  }
}

const isBeside = (one: Placed, other: Placed): boolean => one !== other && one.partition === other.partition

/** As many of those that wait as go together, in order. */
function takeBatch(waiting: readonly Waiting[]): { batch: Waiting[]; rest: Waiting[] } {
  const alive = waiting.filter((entry) => !entry.isSettled())
  let bytes = 0
  const end = alive.findIndex(({ sizeBytes }, index) => {
    bytes += sizeBytes
    return index === BATCH_RECORDS || (index > 0 && bytes > BATCH_BYTES)
  })
  return end === -1 ? { batch: alive, rest: [] } : { batch: alive.slice(0, end), rest: alive.slice(end) }
}

const bytesOf = (content: string | Uint8Array): Buffer =>
  typeof content === 'string'
    ? Buffer.from(content)
    : Buffer.from(content.buffer, content.byteOffset, content.byteLength)

const sizeOf = ({ key, value }: BrokerRecord): number => (key?.length ?? 0) + (value?.length ?? 0)

function toMessage({ topic, key, value, headers }: BrokerRecord): MessageToProduce {
  const message: MessageToProduce = { topic }
  if (key !== null) message.key = bytesOf(key)
  if (value !== null) message.value = bytesOf(value)
  // By identity of the names, so that one which stands several times stays so. The client writes null as no value.
  message.headers = new Map(
    headers.map(([name, text]) => [bytesOf(name), text === null ? null : bytesOf(text)] as [Buffer, Buffer]),
  )
  return message
}
