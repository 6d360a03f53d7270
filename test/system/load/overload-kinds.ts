/** What bounds a service under load: an upstream that takes few calls at once, or the processor. */
import { startUpstream } from '../../support/service.ts'

export type OverloadKind = Readonly<{
  name: string
  document: object
  /** Whose messages are all under way at once where the service is just busy. */
  connections: number
  stop(): Promise<void>
}>

const common = { endpoint: { pattern: '/busy' }, transformation: { input: 'JSON', output: 'JSON' } }

const PLACES = 10
const SERVICE_MS = 50

/** An upstream that works on ten calls at once, each for 50 ms; the endpoint says so. */
export async function boundByUpstream(): Promise<OverloadKind> {
  let busy = 0
  const waiting: (() => void)[] = []
  const upstream = await startUpstream(async () => {
    if (busy === PLACES) await new Promise<void>((resolve) => waiting.push(resolve))
    else busy += 1
    await new Promise((resolve) => setTimeout(resolve, SERVICE_MS))
    const next = waiting.shift()
    if (next === undefined) busy -= 1
    else next()
    upstream.received.length = 0
    return { found: true }
  })
  return {
    name: 'upstream',
    document: {
      name: 'busy',
      ...common,
      limits: { concurrency: PLACES },
      requests: { lookup: [{ id: 'up', config: { url: upstream.url } }] },
    },
    connections: PLACES,
    stop: upstream.stop,
  }
}

/** An expression that takes some milliseconds; nothing is set for the endpoint. */
export async function boundByProcessor(steps: number): Promise<OverloadKind> {
  return {
    name: `processor, ${steps} steps`,
    document: {
      name: 'busy',
      ...common,
      inputTransforms: { sum: `$sum([1..${steps}].($ * $))` },
      inputMapping: { 'transforms.sum': 'sum' },
    },
    connections: 2,
    stop: async () => undefined,
  }
}
