import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** A free port, for a server that cannot report the port that it has chosen. */
export async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return String(port)
}
