/**
 * The client of one transactional id: it writes records and an offset of a group in one transaction, one transaction at a
 * time. After a failure the client is replaced, since its sequence numbers may differ from those of the broker.
 */
import { type MessageToProduce, type ProduceResult, Producer } from '@platformatic/kafka'
import { resultWithin, within } from '../../core/within.ts'
import { clientOptions, ignoreErrors, type KafkaSettings } from './kafka-client.ts'
import { isProtocolError } from './kafka-errors.ts'

export type OpenTransaction = Awaited<ReturnType<Producer['beginTransaction']>>

const CLOSE_MS = 2_000
/** The broker refuses the next transaction for some milliseconds after each one (CONCURRENT_TRANSACTIONS). */
const MIN_RETRY_MS = 5
const MAX_RETRY_MS = 200
const RETRIES = 30

/**
 * Starts as a new producer: the broker aborts what a former one with the same id left open, and refuses that one from then
 * on.
 */
const REPLACES_OTHERS = { producerId: -1n, producerEpoch: -1 }

/** No transaction can follow until the partition is assigned again. */
export class TransactionLost extends Error {
  /** It is not known whether the transaction was committed; otherwise it was not. */
  readonly isUncertain: boolean

  constructor(message: string, isUncertain: boolean, cause: unknown) {
    super(message, { cause })
    this.isUncertain = isUncertain
  }
}

const LOST = ['PRODUCER_FENCED', 'INVALID_PRODUCER_EPOCH', 'INVALID_PRODUCER_ID_MAPPING', 'INVALID_TXN_STATE']

export interface TransactionClient {
  /**
   * Aborts what is open of this transactional id, and fences the producer that opened it. Rejects with the client's errors.
   */
  start(): Promise<void>
  /** The number of partitions of each topic; a missing one is created if the broker allows it. */
  partitionCounts(topics: readonly string[]): Promise<ReadonlyMap<string, number>>
  /**
   * Writes the messages, lets `addOffset` add an offset, and commits. Rejects with TransactionLost; with another error, the
   * transaction is aborted.
   */
  write(
    messages: MessageToProduce[],
    addOffset: (transaction: OpenTransaction) => Promise<void>,
  ): Promise<NonNullable<ProduceResult['offsets']>>
  close(): Promise<void>
}

export function openTransactionClient(settings: KafkaSettings, transactionalId: string): TransactionClient {
  const timeoutMs = settings.kafkaRequestTimeoutMs
  // The broker aborts a transaction that is open for longer, so nothing is lost by not waiting for it.
  const unfinished = () => new TransactionLost(`a transaction was not finished within ${timeoutMs} ms`, true, undefined)
  const unread = () => new TransactionLost(`the topics were not described within ${timeoutMs} ms`, false, undefined)
  let client: Producer | undefined
  let started: OpenTransaction | undefined
  let identity = REPLACES_OTHERS

  const open = (): Producer => {
    if (client !== undefined) return client
    client = new Producer({
      ...clientOptions(settings),
      transactionalId,
      idempotent: true,
      autocreateTopics: true,
      retries: RETRIES,
      retryDelay: (_client, _operation, attempt) => Math.min(MIN_RETRY_MS * attempt, MAX_RETRY_MS),
    })
    ignoreErrors(client)
    return client
  }
  const discard = async (aborting?: OpenTransaction): Promise<void> => {
    const old = client
    client = undefined
    started = undefined
    // The next producer would abort it as well, but readers wait until then.
    if (aborting !== undefined) await within(CLOSE_MS, aborting.abort())
    if (old !== undefined) await within(CLOSE_MS, old.close(true))
  }
  const start = async (): Promise<OpenTransaction> => {
    const producer = open()
    try {
      const transaction = await producer.beginTransaction(identity)
      // A client that replaces this one names its identity: so it is refused where another instance has the id by now.
      identity = {
        producerId: producer.producerId ?? identity.producerId,
        producerEpoch: producer.producerEpoch ?? identity.producerEpoch,
      }
      return transaction
    } catch (error) {
      await discard()
      throw asLost(error)
    }
  }
  const write: TransactionClient['write'] = async (messages, addOffset) => {
    const transaction = started ?? (await start())
    started = undefined
    try {
      const { offsets = [] } = messages.length === 0 ? {} : await transaction.send({ messages, autocreateTopics: true })
      await addOffset(transaction)
      await commit(transaction)
      return offsets
    } catch (error) {
      await discard(error instanceof TransactionLost ? undefined : transaction)
      throw asLost(error)
    }
  }
  return {
    start: async () => {
      started = await resultWithin(timeoutMs, start(), unfinished)
    },
    partitionCounts: async (topics) => {
      const metadata = open().metadata({ topics: [...topics], autocreateTopics: true })
      const { topics: found } = await resultWithin(timeoutMs, metadata, unread)
      return new Map([...found].map(([topic, { partitionsCount }]) => [topic, partitionsCount]))
    },
    write: (messages, addOffset) => resultWithin(timeoutMs, write(messages, addOffset), unfinished),
    close: () => discard(started),
  }
}

/** After an error the broker may have committed all the same. */
async function commit(transaction: OpenTransaction): Promise<void> {
  try {
    await transaction.commit()
  } catch (error) {
    throw new TransactionLost('the broker did not confirm the end of a transaction', true, error)
  }
}

const asLost = (error: unknown): unknown =>
  !(error instanceof TransactionLost) && LOST.some((id) => isProtocolError(error, id))
    ? new TransactionLost('another instance has the partition, or a transaction took too long', false, error)
    : error
