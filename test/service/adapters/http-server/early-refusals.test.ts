/** Callers who are refused before their body has arrived, who ask before they send it, and who close their sending side. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { connectTo, exchange, readToEnd, requestText, statusesIn } from '../../../support/raw-exchange.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

const MIB = 1_048_576
const JSON_TYPE = 'content-type: application/json'

let service: Service
let upstream: Upstream
let release = (): void => {}

before(async () => {
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  upstream = await startUpstream(async () => {
    await held
    return { found: true }
  })
  service = await startService()
  const secret = `\${env:CROSSWALK_SECRET_${process.pid}}`
  await service.register({ endpoint: { pattern: '/in' } })
  await service.register({ endpoint: { pattern: '/closed' }, auth: { apiKey: { keys: [secret] } } })
  await service.register({
    endpoint: { pattern: '/held' },
    requests: { lookup: [{ id: 'up', config: { url: upstream.url } }] },
    inputMapping: { 'lookupRequests.up.data.found': 'found' },
  })
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

const baseOf = (port: 'message' | 'admin') => (port === 'message' ? service.url : service.adminUrl)

/** Sends all of a body before it reads anything, as simple clients do. */
async function upload(base: string, head: string, body: (socket: Socket) => Promise<void>): Promise<string> {
  const socket = await connectTo(base)
  socket.on('error', () => {})
  socket.pause()
  socket.write(head)
  await body(socket)
  return readToEnd(socket.resume())
}

const PIECE = Buffer.alloc(65_536, ' ')
const send = async (socket: Socket, bytes: number, framed: boolean): Promise<void> => {
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += PIECE.length) {
    const piece = framed ? Buffer.concat([Buffer.from('10000\r\n'), PIECE, Buffer.from('\r\n')]) : PIECE
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
  }
}

describe('the answer to an upload that is refused early', () => {
  const cases: readonly {
    name: string
    port: 'message' | 'admin'
    line: string
    headers?: readonly string[]
    status: number
  }[] = [
    { name: 'no endpoint', port: 'message', line: 'POST /nobody', status: 404 },
    { name: 'another method', port: 'message', line: 'PUT /in', status: 405 },
    { name: 'no credentials', port: 'message', line: 'POST /closed', status: 401 },
    { name: 'a body that is too large', port: 'message', line: 'POST /in', status: 413 },
    { name: 'a broken URL', port: 'message', line: 'POST /%zz', status: 400 },
    { name: 'two hosts', port: 'message', line: 'POST /in', headers: ['host: b'], status: 400 },
    { name: 'an unknown expectation', port: 'message', line: 'POST /in', headers: ['expect: x'], status: 417 },
    { name: 'two lengths', port: 'message', line: 'POST /in', headers: ['content-length: 1, 2'], status: 400 },
    {
      name: 'headers that are too large',
      port: 'message',
      line: 'POST /in',
      headers: [`x: ${'x'.repeat(20_000)}`],
      status: 431,
    },
    { name: 'a document that is too large', port: 'message', line: 'POST /endpoints', status: 413 },
    { name: 'a document that is too large', port: 'admin', line: 'POST /endpoints', status: 413 },
    { name: 'an unknown path', port: 'admin', line: 'POST /nobody', status: 404 },
    { name: 'another method', port: 'admin', line: 'PUT /endpoints', status: 405 },
    { name: 'a proxy', port: 'admin', line: 'POST /endpoints', headers: ['via: 1.1 x'], status: 403 },
    { name: 'another origin', port: 'admin', line: 'POST /endpoints', headers: ['origin: http://x'], status: 403 },
  ]
  for (const { name, port, line, headers = [], status } of cases) {
    for (const framed of [false, true]) {
      if (framed && name === 'two lengths') continue
      test(`is read: ${name} on the ${port} port${framed ? ', in chunks' : ''}`, async () => {
        const length = framed ? 'transfer-encoding: chunked' : `content-length: ${8 * MIB}`
        const head = `${line} HTTP/1.1\r\n${['host: localhost', JSON_TYPE, length, ...headers].join('\r\n')}\r\n\r\n`
        const answers = await Promise.all(
          Array.from({ length: 8 }, () =>
            upload(baseOf(port), head, async (socket) => {
              await send(socket, 8 * MIB, framed)
              if (framed) socket.write('0\r\n\r\n')
            }),
          ),
        )
        assert.deepEqual(answers.map(statusesIn), Array(8).fill([status]))
        for (const answer of answers) assert.match(answer, /\}$/)
      })
    }
  }

  test('ends a connection whose caller sends without end', async () => {
    const socket = await connectTo(service.url)
    const received = readToEnd(socket)
    socket.write(`POST /nobody HTTP/1.1\r\nhost: a\r\n${JSON_TYPE}\r\ntransfer-encoding: chunked\r\n\r\n`)
    await send(socket, 2_048 * MIB, true)
    assert.deepEqual(statusesIn(await received), [404])
    assert.ok(socket.bytesWritten < 512 * MIB, `${socket.bytesWritten} bytes were read`)
  })

  test('is the last on its connection: a request behind it is not processed', async () => {
    const messages = async () => {
      const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text()
      return /^crosswalk_messages_total\{.*outcome="done".*$/m.exec(metrics)?.[0]
    }
    const before = await messages()
    for (const base of [service.url, service.adminUrl]) {
      const socket = await connectTo(base)
      const received = readToEnd(socket)
      socket.write(requestText('POST /nobody', [JSON_TYPE, `content-length: ${2 * MIB}`]))
      await until(
        async () => socket.bytesRead,
        (bytes) => bytes > 0,
      )
      socket.write(Buffer.alloc(2 * MIB, ' '))
      socket.write(requestText('POST /in', [JSON_TYPE, 'content-length: 2'], '{}'))
      socket.write(requestText('POST /endpoints', [JSON_TYPE, 'content-length: 2'], '{}'))
      assert.deepEqual(statusesIn(await received), [404])
    }
    assert.equal(await messages(), before)
  })
})

describe('a caller who expects 100 Continue', () => {
  const refused: readonly { port: 'message' | 'admin'; line: string; headers?: readonly string[]; status: number }[] = [
    { port: 'message', line: 'POST /in', status: 413 },
    { port: 'message', line: 'POST /nobody', status: 404 },
    { port: 'message', line: 'POST /closed', status: 401 },
    { port: 'message', line: 'POST /endpoints', status: 413 },
    { port: 'admin', line: 'POST /endpoints', status: 413 },
    { port: 'admin', line: 'POST /endpoints', headers: ['via: 1.1 x'], status: 403 },
    { port: 'admin', line: 'POST /endpoints', headers: ['origin: http://x'], status: 403 },
    { port: 'admin', line: 'POST /nobody', status: 404 },
    { port: 'admin', line: 'PUT /endpoints', status: 405 },
  ]
  for (const { port, line, headers = [], status } of refused) {
    test(`gets ${status} for ${line} on the ${port} port, and is not asked for the body`, async () => {
      const text = requestText(line, [JSON_TYPE, 'expect: 100-continue', `content-length: ${8 * MIB}`, ...headers])
      assert.deepEqual(statusesIn(await exchange(baseOf(port), text)), [status])
    })
  }

  test('is asked for a body that is read', async () => {
    for (const port of ['message', 'admin'] as const) {
      const paths = port === 'message' ? ['/in', '/endpoints'] : ['/endpoints']
      for (const path of paths) {
        const socket = await connectTo(baseOf(port))
        const received = readToEnd(socket)
        socket.write(requestText(`POST ${path}`, [JSON_TYPE, 'Expect: 100-Continue', 'content-length: 2']))
        await once(socket, 'data')
        socket.write('{}')
        assert.deepEqual(statusesIn(await received), [100, path === '/in' ? 200 : 400])
      }
    }
  })
})

describe('a caller who closes its sending side', () => {
  const text = (path: string) =>
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${JSON_TYPE}\r\ncontent-length: 2\r\n\r\n{}`

  test('gets the answer to a message', async () => {
    const received = await exchange(service.url, text('/in'), 'end')
    assert.deepEqual(statusesIn(received), [200])
  })

  test('gets the answer that takes its time', async () => {
    const received = exchange(service.url, text('/held'), 'end')
    await until(
      async () => upstream.received.length,
      (count) => count > 0,
    )
    release()
    const answer = await received
    assert.deepEqual(statusesIn(answer), [200])
    assert.match(answer, /\{"found":true\}$/)
  })

  test('gets all answers', async () => {
    const received = await exchange(service.url, text('/in').repeat(3), 'end')
    assert.equal(received.match(/HTTP\/1\.1 200 /g)?.length, 3)
  })

  test('gets the answer to a management call', async () => {
    for (const base of [service.url, service.adminUrl]) {
      assert.deepEqual(statusesIn(await exchange(base, text('/endpoints'), 'end')), [400])
      assert.deepEqual(
        statusesIn(await exchange(base, 'GET /uptime HTTP/1.1\r\nhost: localhost\r\n\r\n', 'end')),
        [200],
      )
    }
  })

  test('in the middle of a body gets a refusal', async () => {
    const received = await exchange(service.url, text('/in').replace('length: 2', 'length: 3'), 'end')
    assert.deepEqual(statusesIn(received), [400])
  })

  test('leaves a stream of events', async () => {
    const hub = async () => {
      const socket = await connectTo(service.adminUrl)
      socket.write('GET /events HTTP/1.1\r\nhost: localhost\r\n\r\n')
      await once(socket, 'data')
      return socket
    }
    const socket = await hub()
    const closed = readToEnd(socket)
    socket.end()
    await closed
    assert.equal((await service.fetch('/in', json('POST', {}))).status, 200)
  })
})
