/** Keeps one consumer for each active endpoint that names a topic, as endpoints are created, changed and deleted. */
import type { ConsumerStatus } from '../../core/ports/consumer-state.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import type { Registry } from '../../endpoints/endpoint-registry.ts'
import {
  consumesAs,
  type EndpointConsumer,
  type EndpointConsumerOptions,
  startEndpointConsumer,
} from './endpoint-consumer.ts'
import { createFetchBudget } from './fetch-demand.ts'
import { isExactlyOnce, orderOf } from './order/record-chains.ts'

export interface EndpointConsumers {
  status(): readonly ConsumerStatus[]
  /** Resolves when all records under way are done and committed. */
  stop(): Promise<void>
}

export type EndpointConsumersOptions = Readonly<{ registry: Pick<Registry, 'get' | 'consuming' | 'watch'> }> &
  Pick<EndpointConsumerOptions, 'consumer' | 'settings' | 'intake' | 'producer' | 'logger'>

/** Starts a consumer for each active endpoint with a topic, and follows every change from then on. */
export function startEndpointConsumers({ registry, ...shared }: EndpointConsumersOptions): EndpointConsumers {
  const budget = createFetchBudget(shared.settings.maxBufferedBytes)
  const running = new Map<string, EndpointConsumer>()
  /** Endpoints whose former consumer is leaving its group; a new one joins it after that. */
  const leaving = new Map<string, Promise<void>>()
  /** The version of each endpoint that its consumer was last notified of. */
  const known = new Map<string, CompiledEndpoint | undefined>()
  let isStopped = false

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
    if (isStopped) return
    const consuming = registry.consuming()
    const wanted = new Map(consuming.map(({ document, endpoint }) => [document._id, endpoint]))
    for (const [id, consumer] of [...running]) {
      const endpoint = wanted.get(id)
      if (endpoint === undefined || !consumesAs(endpoint, consumer)) stopOne(id, consumer)
      else if (known.get(id) !== registry.get(id)) consumer.wake()
    }
    for (const [endpointId, endpoint] of wanted) {
      const { kafkaConsumerTopic: topic } = endpoint
      if (topic === undefined || running.has(endpointId) || leaving.has(endpointId)) continue
      const get = () => registry.get(endpointId)
      const [order, exactlyOnce] = [orderOf(endpoint), isExactlyOnce(endpoint)]
      running.set(endpointId, startEndpointConsumer({ ...shared, budget, endpointId, topic, order, exactlyOnce, get }))
    }
    known.clear()
    for (const id of running.keys()) known.set(id, registry.get(id))
  }
  registry.watch(follow)
  follow()

  return {
    status: () => [...running.values()].map((consumer) => consumer.status()),
    stop: async () => {
      isStopped = true
      await Promise.all([...leaving.values(), ...[...running.values()].map((consumer) => consumer.stop())])
      running.clear()
    },
  }
}
