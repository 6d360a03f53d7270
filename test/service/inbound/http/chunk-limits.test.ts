/** What a reader of a request sees of a body whose chunks are too many, whenever and however it reads. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createBodyReader } from '../../../../src/inbound/http/bodies.ts'
import { limitChunks } from '../../../../src/inbound/http/chunk-limits.ts'
import { IncompleteBodies } from '../../../../src/inbound/incomplete-bodies.ts'
import { connectTo } from '../../../support/raw-exchange.ts'

const readBody = createBodyReader({
  limitBytes: 1_000_000,
  incomplete: new IncompleteBodies({ limitBytes: 1_000_000, roomBytes: 1_000_000 }),
})
const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\n'
const chunked = (count: number) => `${HEAD}Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`

let warnings = 0
const warn = () => {
  warnings += 1
}

/** Gives the requests of one connection as they come; `arrived` sees each before its body. */
async function withConnection(
  arrived: (request: IncomingMessage) => void,
  use: (socket: Socket, next: () => Promise<IncomingMessage>) => Promise<void>,
): Promise<void> {
  const server = createServer()
  const requests: IncomingMessage[] = []
  server.on('request', (request) => {
    arrived(request)
    requests.push(request)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = await connectTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const next = async () => {
    while (requests[0] === undefined) await setImmediate()
    return requests.shift() as IncomingMessage
  }
  try {
    await use(socket, next)
  } finally {
    socket.destroy()
    server.close()
  }
}

const limited = (request: IncomingMessage) => limitChunks(request, warn)

/** As on a Node.js with another listener. */
const unknown = (request: IncomingMessage) => {
  const { parser } = request.socket as Socket & { parser: Record<string, unknown> }
  for (const [slot, listener] of Object.entries(parser)) {
    if (typeof listener === 'function' && listener.name === 'parserOnBody') parser[slot] = listener.bind(parser)
  }
  limitChunks(request, warn)
}

const readWith = (request: IncomingMessage): Promise<string> =>
  new Promise((resolve) =>
    readBody(
      request,
      (fault) => resolve((fault as { code?: string }).code ?? `${fault}`),
      (body) => resolve(`${body?.length} bytes`),
    ),
  )

const readAll = (request: IncomingMessage): Promise<unknown> => buffer(request).catch(({ code }) => code)

for (const [name, arrived] of [
  ['whose listener is known', limited],
  ['whose listener is not known', unknown],
] as const) {
  test(`with a parser ${name}, such a body is refused to every reader`, async () => {
    const before = warnings
    await withConnection(arrived, async (socket, next) => {
      socket.write(chunked(6_000))
      const late = await next()
      while (late.errored === null) await setImmediate()
      for (let turn = 0; turn < 5; turn += 1) await setImmediate()
      assert.deepEqual([late.complete, late.readableEnded, late.read()], [false, false, null])
      assert.equal(await readWith(late), 'REQUEST_MALFORMED')
      assert.equal(await readAll(late), 'REQUEST_MALFORMED')
    })
    for (const read of [readWith, readAll]) {
      let found: Promise<unknown> | undefined
      const readAtOnce = (request: IncomingMessage) => {
        arrived(request)
        found = read(request)
      }
      await withConnection(readAtOnce, async (socket, next) => {
        socket.write(chunked(6_000))
        await next()
        assert.equal(await found, 'REQUEST_MALFORMED')
      })
    }
    assert.equal(warnings - before, arrived === unknown ? 1 : 0)
  })
}

test('a body with a length may come byte by byte, also after a chunked one', async () => {
  await withConnection(limited, async (socket, next) => {
    socket.setNoDelay(true)
    socket.write(chunked(10))
    await next()
    socket.write(`${HEAD}Content-Length: 5010\r\n\r\n`)
    const request = await next()
    const length = buffer(request)
    for (let sent = 0; sent < 5_010; sent += 1) {
      await new Promise((resolve) => socket.write('x', resolve))
      while (request.socket.bytesRead < socket.bytesWritten) await setImmediate()
    }
    assert.equal((await length).length, 5_010)
  })
})
