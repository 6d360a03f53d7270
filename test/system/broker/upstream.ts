/** An HTTP upstream whose answers a test decides, and which remembers what it was sent. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Upstream = Readonly<{ url: string; bodies: string[]; most: () => number; close(): Promise<void> }>

/** `answer` gets each body, and how often that body came before; `most` is how many calls were under way at once. */
export async function startUpstream(
  answer: (body: string, earlier: number, response: ServerResponse) => void,
): Promise<Upstream> {
  const bodies: string[] = []
  const times = new Map<string, number>()
  let underWay = 0
  let most = 0
  const server = createServer(async (request, response) => {
    underWay += 1
    most = Math.max(most, underWay)
    response.once('close', () => {
      underWay -= 1
    })
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const earlier = times.get(body) ?? 0
    times.set(body, earlier + 1)
    bodies.push(body)
    answer(body, earlier, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    bodies,
    most: () => most,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
