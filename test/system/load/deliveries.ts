/** Messages to an endpoint that sends each on to an upstream, which counts them: what was acknowledged must have arrived once. */
import { setTimeout as pause } from 'node:timers/promises'
import { startUpstream } from '../../support/service.ts'
import { registerAt } from './bundled-service.ts'

export type DeliveryReport = Readonly<{
  sent: number
  acknowledged: number
  /** Acknowledged and not received exactly once. */
  lost: readonly string[]
  /** Answers that were neither an acknowledgement nor a refusal. */
  wrong: readonly string[]
}>

export interface Deliveries extends AsyncDisposable {
  stop(): Promise<DeliveryReport>
}

const EVERY_MS = 50

export async function startDeliveries(url: string): Promise<Deliveries> {
  const arrived = new Map<string, number>()
  const upstream = await startUpstream(({ url: path }) => {
    arrived.set(path, (arrived.get(path) ?? 0) + 1)
    upstream.received.length = 0
    return {}
  })
  const params = { url: { id: { path: 'payload.id' } } }
  await registerAt(url, {
    name: 'deliveries',
    endpoint: { pattern: '/deliveries' },
    transformation: { input: 'JSON', output: 'JSON' },
    inputMapping: { 'requestBody.id': 'id' },
    requests: { response: [{ id: 'store', config: { method: 'PUT', url: `${upstream.url}/:id`, params } }] },
  })
  const acknowledged: string[] = []
  const wrong: string[] = []
  let isOver = false
  let sent = 0
  const send = async (id: string): Promise<void> => {
    const headers = { 'content-type': 'application/json' }
    const reply = await fetch(`${url}/deliveries`, { method: 'POST', headers, body: JSON.stringify({ id }) })
    const text = await reply.text()
    if (reply.status === 200) acknowledged.push(id)
    else wrong.push(`${reply.status} ${text.slice(0, 200)}`)
  }
  const run = async (): Promise<void> => {
    while (!isOver) {
      sent += 1
      await send(`m${sent}`).catch((thrown: Error) => void wrong.push(thrown.message))
      await pause(EVERY_MS)
    }
  }
  const running = run()
  const finish = async (): Promise<void> => {
    isOver = true
    await running
  }
  return {
    stop: async () => {
      await finish()
      const lost = acknowledged.filter((id) => arrived.get(`/${id}`) !== 1)
      return { sent, acknowledged: acknowledged.length, lost, wrong }
    },
    [Symbol.asyncDispose]: async () => {
      await finish()
      await upstream.stop()
    },
  }
}
