/** What the servers written by hand have in common beside the work itself. */
import type { Server } from 'node:net'
import type { Ask } from '../workloads/workload.ts'

/** Sends GET requests by undici, over as many connections as there may be calls at once. Other servers do not load undici. */
export async function askBy(origin: string): Promise<Ask> {
  const { Agent, request } = await import('undici')
  const dispatcher = new Agent({ connections: 320 })
  return async (path) => (await request(origin + path, { dispatcher })).body.json()
}

/** For work that asks for nothing. */
export const askNothing: Ask = async (path) => {
  throw new Error(`Nothing was to ask for ${path}.`)
}

/** Reports the port on standard output, and ends the process on SIGTERM. */
export function reportPort(server: Server): void {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port.')
  process.stdout.write(`${JSON.stringify({ messagePort: address.port })}\n`)
  process.on('SIGTERM', () => process.exit(0))
}
