/**
 * Which broker leads each partition of a topic, and which topic it is: one that was deleted and made anew has the same
 * name. The client's own answer is all or nothing, so that one partition without a leader would hide all the others.
 */
import type { Consumer } from '@platformatic/kafka'

export type TopicLayout = Readonly<{
  id: string
  /** By partition; -1 where there is none now. */
  leaders: readonly number[]
}>

/** What the client has in its error where the broker answered and a part of that is amiss. */
type Response = Readonly<{
  topics?: readonly Readonly<{
    name: string | null
    topicId: string
    errorCode: number
    partitions: readonly Readonly<{ partitionIndex: number; leaderId: number }>[]
  }>[]
}>

/** Rejects where the topic does not exist, or no broker answers. */
export async function readLayout(client: Consumer, topic: string): Promise<TopicLayout> {
  try {
    const info = (await client.metadata({ topics: [topic], forceUpdate: true })).topics.get(topic)
    if (info === undefined) throw new Error('Unknown topic')
    return { id: info.id, leaders: info.partitions.map(({ leader }) => leader) }
  } catch (error) {
    const { response } = error as { response?: Response }
    const known = response?.topics?.find(({ name, errorCode }) => name === topic && errorCode === 0)
    if (known === undefined) throw error
    const leaders: number[] = []
    for (const { partitionIndex, leaderId } of known.partitions) leaders[partitionIndex] = leaderId
    return { id: known.topicId, leaders }
  }
}
