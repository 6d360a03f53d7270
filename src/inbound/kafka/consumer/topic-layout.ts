/**
 * The leader of each partition of a topic, and the topic's id: a topic that was deleted and created again keeps its name.
 * The client's own call fails as a whole if one partition has no leader, so its error is read as well.
 */
import type { Consumer } from '@platformatic/kafka'

export type TopicLayout = Readonly<{
  id: string
  /** Node id of the leader, by partition; -1 if there is none now. */
  leaders: readonly number[]
}>

/** The broker's response inside the client's error. */
type MetadataResponse = Readonly<{
  topics?: readonly Readonly<{
    name: string | null
    topicId: string
    errorCode: number
    partitions: readonly Readonly<{ partitionIndex: number; leaderId: number }>[]
  }>[]
}>

/** Rejects if the topic does not exist or no broker answers. */
export async function readLayout(client: Consumer, topic: string): Promise<TopicLayout> {
  try {
    const info = (await client.metadata({ topics: [topic], forceUpdate: true })).topics.get(topic)
    if (info === undefined) throw new Error('Unknown topic')
    return { id: info.id, leaders: info.partitions.map(({ leader }) => leader) }
  } catch (error) {
    const { response } = error as { response?: MetadataResponse }
    const known = response?.topics?.find(({ name, errorCode }) => name === topic && errorCode === 0)
    if (known === undefined) throw error
    const leaders: number[] = []
    for (const { partitionIndex, leaderId } of known.partitions) leaders[partitionIndex] = leaderId
    return { id: known.topicId, leaders }
  }
}
