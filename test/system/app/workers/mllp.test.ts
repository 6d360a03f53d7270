/** Several workers share the ports for MLLP, and report them as one. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { admission, codeOf, connectSender } from '../../../support/inbound/mllp/sender.ts'
import { freePort } from '../../../support/services/free-ports.ts'
import { freshFolder, registerEndpoint, type SpawnedService, spawnService } from '../../../support/spawned-service.ts'
import { until } from '../../../support/until.ts'

const SENDERS = 40

const portsOf = async (service: SpawnedService): Promise<readonly JsonObject[]> => {
  const health = (await (await fetch(`${service.adminUrl}/health/ready`)).json()) as JsonObject
  return health.mllpPorts as readonly JsonObject[]
}

/** Two workers with an endpoint at a port. */
async function startOn(port: number, context: TestContext): Promise<SpawnedService> {
  const service = await spawnService(freshFolder(context), { env: { WORKERS: '2' } })
  context.after(() => {
    service.child.kill('SIGTERM')
    return service.ended
  })
  await registerEndpoint(service, {
    endpoint: {},
    mllp: { port },
    transformation: { input: 'HL7V2', output: 'JSON' },
    inputMapping: { 'requestBody.MSH[0].10[0].1': 'id' },
  })
  return service
}

test('each connection stays with a worker, whose messages are acknowledged', async (context) => {
  const port = await freePort()
  const service = await startOn(port, context)
  const senders = await Promise.all(Array.from({ length: SENDERS }, () => connectSender(port)))
  const answers = await Promise.all(senders.map((sender, index) => sender.ask(admission(String(index)))))
  assert.deepEqual(
    answers.map(codeOf),
    answers.map((_, index) => `AA ${index}`),
  )
  const ports = () => portsOf(service)
  const [status, ...others] = await ports()
  assert.deepEqual([status, others], [{ port, state: 'open', connections: SENDERS }, []])
  for (const { socket } of senders) socket.destroy()
  await until(ports, ([one]) => one?.connections === 0)
})

test('a port that is in use costs no worker, and is opened once it is free', async (context) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  context.after(() => other.close())
  const service = await startOn(port, context)
  const ports = () => portsOf(service)
  await until(ports, ([one]) => one?.state === 'failed')
  assert.match(String((await ports())[0]?.error), /is in use already/)
  other.close()
  await until(ports, ([one]) => one?.state === 'open')
  const sender = await connectSender(port)
  assert.equal(codeOf(await sender.ask(admission('1'))), 'AA 1')
  sender.socket.destroy()
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text()
  assert.match(metrics, /^crosswalk_workers_lost_total 0$/m)
})
