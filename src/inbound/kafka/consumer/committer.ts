/** A client that commits offsets with metadata and reads them. The client's own calls commit no metadata, and drop what they read. */
import { type Callback, type CommitOptionsPartition, Consumer, kGetApi } from '@platformatic/kafka'
import { clientOptions, ignoreErrors, type KafkaSettings } from '../../../outbound/kafka/kafka-client.ts'

type Api = Readonly<{ version: number }> & ((...args: unknown[]) => void)
type MetadataOf = (topic: string, partition: number) => string

/** The parts of the requests and responses of https://kafka.apache.org/protocol that have metadata. */
type CommitTopic = Readonly<{ name: string; partitions: readonly Readonly<{ partitionIndex: number }>[] }>
type FetchedTopic = Readonly<{
  name: string
  partitions: readonly Readonly<{ partitionIndex: number; metadata: string | null }>[]
}>
type FetchedOffsets = Readonly<{ groups?: readonly Readonly<{ topics: readonly FetchedTopic[] }>[] }>

/** Wraps the requests of the client, so that finding the coordinator, connections and errors stay its own. */
class Committer extends Consumer {
  #metadataOf: MetadataOf = () => ''
  readonly #fetched = new Map<string, string>()

  /** Commits the offsets. One call at a time. */
  async commitWith(offsets: readonly CommitOptionsPartition[], metadataOf: MetadataOf): Promise<void> {
    this.#metadataOf = metadataOf
    await this.commit({ offsets: [...offsets] })
  }

  /** The metadata that `listCommittedOffsets` has read last; empty without any. */
  metadataOf(topic: string, partition: number): string {
    return this.#fetched.get(`${partition} ${topic}`) ?? ''
  }

  override [kGetApi](name: string, callback: Callback<never>): void {
    super[kGetApi](name, (error, api) => {
      const found = api as Api | undefined
      if (error !== null || found === undefined) callback(error)
      else if (name === 'OffsetCommit') callback(null, this.#committing(found) as never)
      else if (name === 'OffsetFetch') callback(null, this.#fetching(found) as never)
      else callback(null, api as never)
    })
  }

  #committing(api: Api): Api {
    const call = (...args: unknown[]) => {
      const callback = args.pop()
      const topics = args.pop() as readonly CommitTopic[]
      const described = topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map((one) => ({
          ...one,
          committedMetadata: this.#metadataOf(name, one.partitionIndex) || null,
        })),
      }))
      api(...args, described, callback)
    }
    return Object.assign(call, { version: api.version })
  }

  #fetching(api: Api): Api {
    const call = (...args: unknown[]) => {
      const callback = args.pop() as Callback<FetchedOffsets>
      api(...args, (error: Error | null, response?: FetchedOffsets) => {
        // Brokers of before Kafka 3.0 answer for one group, without a list.
        const groups = response?.groups ?? (response === undefined ? [] : [response as { topics?: FetchedTopic[] }])
        for (const { name, partitions } of groups.flatMap(({ topics = [] }) => topics)) {
          for (const { partitionIndex, metadata } of partitions) {
            this.#fetched.set(`${partitionIndex} ${name}`, metadata ?? '')
          }
        }
        callback(error, response)
      })
    }
    return Object.assign(call, { version: api.version })
  }
}

/** A client of the group that never joins it, without retries. Its calls reject with their own errors. */
export function openCommitter(settings: KafkaSettings, groupId: string): Committer {
  const client = new Committer({ ...clientOptions(settings), groupId, autocommit: false, retries: 0 })
  ignoreErrors(client)
  return client
}
