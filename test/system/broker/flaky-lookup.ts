/** A target of lookups that fails at random, and always for one key for a while. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '../../../src/core/json.ts'
import type { Random } from '../crash/random.ts'

export type FlakyLookup = Readonly<{
  /** The lookup, as a document has it: it sends the body of the message. */
  request: JsonObject
  close(): Promise<void>
}>

const SHARE = 0.05

/** In: bodies with a number `n`; `isAway` says for which numbers the target is away now. */
export async function startFlakyLookup(random: Random, isAway: (n: number) => boolean): Promise<FlakyLookup> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { n } = JSON.parse(String(Buffer.concat(chunks))) as { n: number }
    const status = isAway(n) || random.chance(SHARE) ? 503 : 200
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    request: {
      id: 'flaky',
      config: { method: 'POST', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` },
      forwardExistingRequestBody: true,
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
