/** A sender forgets what was acknowledged: after `kill -9`, each acknowledged message is in the message log. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { LONG } from '../../support/form.ts'
import { admission, connectSender, frame, type Sender } from '../../support/inbound/mllp/sender.ts'
import { freePort } from '../../support/services/free-ports.ts'
import { silent } from '../../support/silent.ts'
import { freshFolder, registerEndpoint, spawnService } from '../../support/spawned-service.ts'
import { until } from '../../support/until.ts'

const SENDERS = 50
/** Acknowledged messages after which the service is killed. */
const MESSAGES = LONG ? 10_000 : 1_000

/** Sends one message after the other, and the next before the last is acknowledged, until the connection ends. */
function sendOn(sender: Sender, name: number): void {
  let sent = 0
  const send = (): void => {
    while (!sender.socket.destroyed && sent < sender.answers.length + 3) {
      sender.socket.write(frame(admission(`${name}-${sent}`)))
      sent += 1
    }
  }
  sender.socket.on('data', send)
  send()
}

/** The end of the id of the message, which is the control id of its acknowledgement. */
const messageEnd = (answer: string): string => answer.split('|')[9] as string

for (const messageLog of ['metadata', 'all']) {
  test(`each acknowledged message is in the message log, MESSAGE_LOG=${messageLog}`, async (context) => {
    const folder = freshFolder(context)
    const port = await freePort()
    const url = join(folder, 'crosswalk.db')
    const env = { DATABASE_URL: `sqlite:${url}`, MESSAGE_LOG: messageLog }
    const service = await spawnService(folder, { env })
    await registerEndpoint(service, {
      endpoint: { pattern: '/in' },
      mllp: { port },
      transformation: { input: 'HL7V2', output: 'JSON' },
      inputMapping: { 'requestBody.MSH[0].10[0].1': 'id' },
    })
    const senders = await Promise.all(Array.from({ length: SENDERS }, () => connectSender(port)))
    senders.forEach(sendOn)
    await until(
      () => senders.reduce((sum, { answers }) => sum + answers.length, 0),
      (count) => count >= MESSAGES,
    )
    service.child.kill('SIGKILL')
    await service.ended
    await Promise.all(senders.map(({ closed }) => closed))
    const answers = senders.flatMap((sender) => sender.answers)
    assert.ok(answers.every((answer) => answer.includes('\rMSA|AA|')))
    const store = await openSqliteStore({ path: url, logger: silent })
    try {
      const records = await store.messages.find({}, answers.length * 2)
      const stored = new Set(records.map(({ id }) => id.slice(-20)))
      const missing = answers.map(messageEnd).filter((id) => !stored.has(id))
      assert.deepEqual(missing, [], `${missing.length} of ${answers.length} acknowledged messages are not stored`)
      context.diagnostic(`${answers.length} were acknowledged, ${records.length} stored`)
    } finally {
      await store.close()
    }
  })
}
