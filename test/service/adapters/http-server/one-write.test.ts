/** Several messages that a caller sends in one write. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type Service, startService, startUpstream, type Upstream } from '../../../support/service.ts'

describe('in one write', () => {
  let service: Service
  let upstream: Upstream

  before(async () => {
    upstream = await startUpstream(() => ({}))
    service = await startService()
    await service.register({ endpoint: { pattern: '/in' } })
    await service.register({
      endpoint: { pattern: '/on' },
      requests: { response: [{ id: 'on', config: { method: 'POST', url: `${upstream.url}/on` } }] },
    })
  })
  after(async () => {
    await service.stop()
    await upstream.stop()
  })

  const messageOf = (path: string, n: number, header = ''): string => {
    const body = JSON.stringify({ n })
    return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${header}Content-Length: ${body.length}\r\n\r\n${body}`
  }
  const open = (): { socket: Socket; whole: Promise<string> } => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    return { socket, whole: once(socket, 'close').then(() => text) }
  }
  const statusesOf = (text: string) => text.match(/HTTP\/1\.1 \d+/g)

  test('messages are answered in their order, the last of them too', async () => {
    const { socket, whole } = open()
    const last = messageOf('/in', 3, 'Connection: close\r\n')
    socket.write(messageOf('/in', 1) + messageOf('/in', 2) + last)
    const text = await whole
    assert.deepEqual(statusesOf(text), Array(3).fill('HTTP/1.1 200'))
    assert.deepEqual(text.match(/\{"n":\d\}/g), ['{"n":1}', '{"n":2}', '{"n":3}'])
  })

  test('a message is not done behind one whose answer ends the connection', async () => {
    const { socket, whole } = open()
    // No endpoint takes it, so its body stays unread.
    socket.write(messageOf('/nowhere', 1) + messageOf('/on', 2))
    assert.deepEqual(statusesOf(await whole), ['HTTP/1.1 404'])
    // What was begun before would have been sent on before.
    const later = open()
    later.socket.write(messageOf('/on', 3, 'Connection: close\r\n'))
    await later.whole
    assert.deepEqual(
      upstream.received.map(({ body }) => body),
      ['{"n":3}'],
    )
  })
})
