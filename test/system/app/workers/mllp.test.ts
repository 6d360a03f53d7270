/** Several workers share the ports for MLLP, and report them as one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { admission, codeOf, connectSender, freePort } from '../../../support/inbound/mllp/sender.ts'
import { freshFolder, registerEndpoint, spawnService } from '../../../support/spawned-service.ts'
import { until } from '../../../support/until.ts'

const SENDERS = 40

test('each connection stays with a worker, whose messages are acknowledged', async (context) => {
  const port = await freePort()
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
  const senders = await Promise.all(Array.from({ length: SENDERS }, () => connectSender(port)))
  const answers = await Promise.all(senders.map((sender, index) => sender.ask(admission(String(index)))))
  assert.deepEqual(
    answers.map(codeOf),
    answers.map((_, index) => `AA ${index}`),
  )
  const ports = async (): Promise<readonly JsonObject[]> => {
    const health = (await (await fetch(`${service.adminUrl}/health/ready`)).json()) as JsonObject
    return health.mllpPorts as readonly JsonObject[]
  }
  const [status, ...others] = await ports()
  assert.deepEqual([status, others], [{ port, state: 'open', connections: SENDERS }, []])
  for (const { socket } of senders) socket.destroy()
  await until(ports, ([one]) => one?.connections === 0)
})
