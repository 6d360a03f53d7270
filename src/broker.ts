/** The broker, loaded when a document first names a topic: its client costs every start memory and time. */
import type { Consumers, ConsumersOptions } from './adapters/kafka/consumers.ts'
import type { KafkaProducer } from './adapters/kafka/producer.ts'
import type { Settings } from './settings.ts'

/** A producer that is loaded with the first record. */
export function openProducer(settings: Settings): KafkaProducer {
  let loaded: Promise<KafkaProducer> | undefined
  const load = async (): Promise<KafkaProducer> => {
    const { createKafkaProducer } = await import('./adapters/kafka/producer.ts')
    return createKafkaProducer(settings)
  }
  return {
    produce: async (record, timeoutMs) => {
      loaded ??= load()
      return (await loaded).produce(record, timeoutMs)
    },
    close: async () => (await loaded)?.close(),
  }
}

/** Consumers that are loaded with the first endpoint that names a topic. */
export function openConsumers(options: ConsumersOptions): Consumers {
  const { registry } = options
  let loaded: Promise<void> | undefined
  let consumers: Consumers | undefined
  const load = async (): Promise<void> => {
    const { startConsumers } = await import('./adapters/kafka/consumers.ts')
    consumers = startConsumers(options)
  }
  const follow = () => {
    if (loaded !== undefined) return
    if (registry.consuming().length > 0) loaded = load()
  }
  registry.watch(follow)
  follow()

  return {
    status: () => consumers?.status() ?? [],
    stop: async () => {
      loaded ??= Promise.resolve()
      await loaded
      await consumers?.stop()
    },
  }
}
