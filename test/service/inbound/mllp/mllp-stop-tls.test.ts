/** MLLP with services of their own: TLS, a stop with messages under way, and a message log that does not store. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { admission, codeOf, connectSender, frame } from '../../../support/inbound/mllp/sender.ts'
import { readTestSettings, startService, startUpstream } from '../../../support/service.ts'
import { freePort } from '../../../support/services/free-ports.ts'
import { until } from '../../../support/until.ts'

const document = (port: number, fields: JsonObject = {}): JsonObject => ({
  endpoint: { pattern: '/in' },
  mllp: { port },
  transformation: { input: 'HL7V2', output: 'JSON' },
  inputMapping: { 'requestBody.MSH[0].10[0].1': 'id' },
  ...fields,
})

test('a stop answers the messages under way, takes no further one, and closes the connections', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const upstream = await startUpstream(async () => {
    await released
    return {}
  })
  const service = await startService()
  const port = await freePort()
  const requests = { response: { id: 'to', config: { method: 'POST', url: upstream.url } } }
  await service.register(document(port, { requests }))
  const idle = await connectSender(port)
  const senders = await Promise.all([1, 2, 3].map(() => connectSender(port)))
  for (const { socket } of senders) socket.write(Buffer.concat([frame(admission('first')), frame(admission('second'))]))
  await until(
    () => upstream.received.length,
    (length) => length === 3,
  )
  const stopped = service.stop()
  await idle.closed
  release()
  await stopped
  for (const sender of senders) {
    await sender.closed
    assert.deepEqual(sender.codes, ['AA first'])
  }
  await upstream.stop()
})

test('with "messageLog": "off", a message is acknowledged although it is not stored', async () => {
  const service = await startService()
  const port = await freePort()
  await service.register(document(port, { messageLog: 'off' }))
  const sender = await connectSender(port)
  assert.equal(codeOf(await sender.ask(admission('1'))), 'AA 1')
  sender.socket.destroy()
  await service.stop()
})

describe('over TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-mllp-'))
  const file = (name: string): string => join(folder, name)
  before(() => {
    for (const name of ['server', 'client']) {
      const request =
        'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -addext subjectAltName=DNS:localhost'
      const files = ['-subj', `/CN=${name}`, '-keyout', file(`${name}.key`), '-out', file(`${name}.pem`)]
      execFileSync('openssl', [...request.split(' '), ...files], { stdio: 'ignore' })
    }
  })
  after(() => rmSync(folder, { recursive: true }))
  const read = (name: string): string => readFileSync(file(name), 'utf8')

  for (const mutual of [false, true]) {
    test(mutual ? 'a sender has a certificate' : 'a sender needs no certificate', async () => {
      const service = await startService({
        MLLP_TLS_CERT_FILE: file('server.pem'),
        MLLP_TLS_KEY_FILE: file('server.key'),
        ...(mutual ? { MLLP_TLS_CA_FILE: file('client.pem') } : {}),
      })
      const port = await freePort()
      await service.register(document(port))
      const trusted = { ca: read('server.pem'), servername: 'localhost' }
      const sender = await connectSender(port, { ...trusted, cert: read('client.pem'), key: read('client.key') })
      assert.equal(codeOf(await sender.ask(admission('1'))), 'AA 1')
      sender.socket.end(frame(admission('2')))
      await sender.closed
      assert.deepEqual(sender.codes, ['AA 1', 'AA 2'])
      if (mutual) {
        const stranger = await connectSender(port, trusted).catch(() => undefined)
        stranger?.socket.write(frame(admission('3')))
        await stranger?.closed
        assert.deepEqual(stranger?.answers ?? [], [])
      }
      const plain = await connectSender(port)
      plain.socket.write(frame(admission('4')))
      await plain.closed
      assert.deepEqual(plain.answers, [])
      await service.stop()
    })
  }

  test('a certificate without its key is a fault of the settings', () => {
    assert.throws(
      () => readTestSettings({ MLLP_TLS_CERT_FILE: file('server.pem') }),
      /MLLP_TLS_CERT_FILE and MLLP_TLS_KEY_FILE belong together/,
    )
  })
})
