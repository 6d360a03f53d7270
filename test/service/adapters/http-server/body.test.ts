/** Bodies that came whole while their message waited, for its turn or for what its sender may do. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createBodyReader } from '../../../../src/adapters/http-server/messages/body-reader.ts'

const readBody = createBodyReader({ limitBytes: 10, roomBytes: 100 })

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

describe('a body that came before it is read', () => {
  const cases = [
    { name: 'is read', sent: 'Content-Length: 5\r\n\r\nwhole', leave: false, found: 'whole' },
    {
      name: 'is read in its pieces',
      sent: 'Transfer-Encoding: chunked\r\n\r\n2\r\nin\r\n4\r\n two\r\n0\r\n\r\n',
      leave: false,
      found: 'in two',
    },
    { name: 'is read where it is empty', sent: 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n', leave: false, found: '' },
    {
      name: 'is refused where it is too large',
      sent: 'Transfer-Encoding: chunked\r\n\r\nb\r\neleven char\r\n0\r\n\r\n',
      leave: false,
      found: 'BODY_TOO_LARGE',
    },
    {
      name: 'is not read where its sender has left',
      sent: 'Content-Length: 5\r\n\r\nwhole',
      leave: true,
      found: 'nothing',
    },
  ]
  for (const { name, sent, leave, found } of cases) {
    test(name, async () => {
      assert.equal(await readLate(sent, leave), found)
    })
  }
})
