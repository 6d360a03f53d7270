/** Bodies that came whole while their message waited, for its turn or for what its sender may do. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createBodyReader } from '../../../../src/inbound/http/bodies.ts'
import { IncompleteBodies } from '../../../../src/inbound/incomplete-bodies.ts'

const readBody = createBodyReader({
  limitBytes: 10,
  incomplete: new IncompleteBodies({ limitBytes: 10, roomBytes: 100 }),
})

/** What a request with this head and body is read as once it is there whole; `leave`: its sender closes before that. */
async function readLate(sent: string, leave: boolean): Promise<string> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  try {
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${sent}`)
    const [request] = (await once(server, 'request')) as [IncomingMessage]
    while (!request.complete) await setImmediate()
    if (leave) {
      socket.destroy()
      while (!request.destroyed) await setImmediate()
    }
    let found = 'nothing'
    readBody(
      request,
      (fault) => {
        found = (fault as { code?: string }).code ?? String(fault)
      },
      (body) => {
        found = `${body}`
      },
    )
    for (let turn = 0; turn < 10; turn += 1) await setImmediate()
    return found
  } finally {
    socket.destroy()
    server.close()
  }
}

const cases: readonly (readonly [name: string, sent: string, found: string, leave?: boolean])[] = [
  ['is read', 'Content-Length: 5\r\n\r\nwhole', 'whole'],
  ['is read in its pieces', 'Transfer-Encoding: chunked\r\n\r\n2\r\nin\r\n4\r\n two\r\n0\r\n\r\n', 'in two'],
  ['is read where it is empty', 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n', ''],
  [
    'is refused where it is too large',
    'Transfer-Encoding: chunked\r\n\r\nb\r\neleven char\r\n0\r\n\r\n',
    'BODY_TOO_LARGE',
  ],
  ['is not read where its sender has left', 'Content-Length: 5\r\n\r\nwhole', 'nothing', true],
]
for (const [name, sent, found, leave = false] of cases) {
  test(`a body that came before it is read ${name}`, async () => assert.equal(await readLate(sent, leave), found))
}
