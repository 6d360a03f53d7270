/** Keeps a consumer for each endpoint in force that names a topic, as endpoints come, change and go. */
import type { ConsumerStatus } from '../../domain/ports.ts'
import type { Compiled } from '../../registry/compiled.ts'
import type { Registry } from '../../registry/registry.ts'
import { type ConsumerOptions, type EndpointConsumer, startConsumer } from './consumer.ts'

export interface Consumers {
  status(): readonly ConsumerStatus[]
  /** Resolves when all records under way are done and committed. */
  stop(): Promise<void>
}

export type ConsumersOptions = Readonly<{ registry: Pick<Registry, 'get' | 'consuming' | 'watch'> }> &
  Pick<ConsumerOptions, 'settings' | 'intake' | 'producer' | 'logger'>

/** Starts a consumer for what is in force now, and follows every change from then on. */
export function startConsumers({ registry, ...shared }: ConsumersOptions): Consumers {
  const running = new Map<string, EndpointConsumer>()
  /** Endpoints whose former consumer is still leaving the group: a new one joins it after that. */
  const leaving = new Map<string, Promise<void>>()
  /** As each running one was last told of it. */
  const known = new Map<string, Compiled | undefined>()
  let stopped = false

  const stopOne = (id: string, consumer: EndpointConsumer): void => {
    running.delete(id)
    const left: Promise<void> = Promise.all([leaving.get(id), consumer.stop()]).then(() => {
      if (leaving.get(id) !== left) return
      leaving.delete(id)
      follow()
    })
    leaving.set(id, left)
  }
  const follow = (): void => {
    if (stopped) return
    const consuming = registry.consuming()
    const topics = new Map(consuming.map(({ document, endpoint }) => [document._id, endpoint.kafkaConsumerTopic]))
    for (const [id, consumer] of [...running]) {
      if (topics.get(id) !== consumer.topic) stopOne(id, consumer)
      else if (known.get(id) !== registry.get(id)) consumer.changed()
    }
    for (const [endpointId, topic] of topics) {
      if (topic === undefined || running.has(endpointId) || leaving.has(endpointId)) continue
      running.set(endpointId, startConsumer({ ...shared, endpointId, topic, get: () => registry.get(endpointId) }))
    }
    known.clear()
    for (const id of running.keys()) known.set(id, registry.get(id))
  }
  registry.watch(follow)
  follow()

  return {
    status: () => [...running.values()].map((consumer) => consumer.status()),
    stop: async () => {
      stopped = true
      await Promise.all([...leaving.values(), ...[...running.values()].map((consumer) => consumer.stop())])
      running.clear()
    },
  }
}
