/** Durable requests of messages over MLLP: the sender is acknowledged once they are stored. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { admission, codeOf, connectSender } from '../../support/inbound/mllp/sender.ts'
import { startService } from '../../support/service.ts'
import { freePort } from '../../support/services/free-ports.ts'
import { freshFolder } from '../../support/spawned-service.ts'

/** Nothing listens there, so what is sent there stays pending. */
const AWAY = { method: 'POST', url: 'http://127.0.0.1:9/admissions' }
const delivery = { schedule: ['24h'] }

const cases: readonly (readonly [mode: string, rest: string, accepted: string, refused: string])[] = [
  ['the original mode', 'P|2.5', 'AA', 'AE'],
  ['the enhanced mode', 'P|2.5|||AL|NE', 'CA', 'CE'],
]

for (const [mode, rest, accepted, refused] of cases) {
  test(`in ${mode}, a message is answered with ${accepted} once its deliveries are stored, with ${refused} if they cannot be`, async (t) => {
    const folder = freshFolder(t)
    const service = await startService({ DELIVERY_MAX_BYTES: '5000' }, folder)
    t.after(service.stop)
    const port = await freePort()
    await service.register({
      mllp: { port },
      endpoint: {},
      transformation: { input: 'HL7V2', output: 'JSON' },
      inputMapping: { 'requestBody.PID[0].3[0].1': 'patient', 'requestBody.NTE[0].3[0].1': 'note' },
      requests: {
        response: [
          { id: 'lab', config: AWAY, delivery: { ...delivery, key: 'requestBody.PID[0].3[0].1' } },
          { id: 'each', config: AWAY, delivery, forEach: { items: 'requestBody.PID' } },
        ],
      },
    })
    const sender = await connectSender(port)
    t.after(() => void sender.socket.destroy())
    const other = new DatabaseSync(`${folder}/test.db`)
    t.after(() => other.close())
    const stored = () => other.prepare('select request_id, order_key from deliveries order by id').all()

    const long = `${admission('a-1', { rest })}NTE|1||${'x'.repeat(5_000)}\r`
    assert.equal(codeOf(await sender.ask(long)), `${refused} a-1`)
    assert.deepEqual(stored(), [])
    assert.equal(codeOf(await sender.ask(admission('a-2', { rest }))), `${accepted} a-2`)
    assert.deepEqual(
      stored().map(({ request_id, order_key }) => [request_id, order_key]),
      [
        ['lab', 'a-2'],
        ['each', ''],
      ],
    )
    const { messages } = (await (await fetch(`${service.adminUrl}/messages?source=mllp`)).json()) as JsonObject
    assert.deepEqual(
      (messages as readonly JsonObject[]).map(({ outcome, code }) => [outcome, code]),
      [
        ['done', undefined],
        ['failed', 'DELIVERIES_FULL'],
      ],
    )
  })
}
