/** The service as users start it: default settings but for free ports, and an empty database of its own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { EndpointDocument } from '../workloads/workload.ts'
import { onCores, type Role } from './cores.ts'
import { type ServerProcess, startServer } from './server-process.ts'

const launcher = fileURLToPath(new URL('../../bin/crosswalk.js', import.meta.url))

/**
 * Starts it as `npm start` does: with whichever Node.js this machine has, which then starts the one that the service
 * needs. Resolves when it listens: when it says so, or with SERVER_PORT in `env`, when it answers there. Stopping it removes its database, where `env` does not name another one.
 * `program` is another checkout's bin/crosswalk.js.
 */
export async function startCrosswalk(
  role: Role,
  env: Readonly<Record<string, string>> = {},
  program = launcher,
): Promise<ServerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-bench-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const port = env.SERVER_PORT
    const options = {
      env: { SERVER_PORT: '0', ADMIN_PORT: '0', ...env },
      ...(port === undefined ? {} : { answersAt: { port, path: '/uptime' } }),
    }
    const server = await startServer(onCores(role, ['node', program]), folder, options)
    return { ...server, stop: () => server.stop().finally(remove) }
  } catch (thrown) {
    remove()
    throw thrown
  }
}

/** Registers an endpoint as its users do; gives the URL of its route. Fails where the document is refused. */
export async function register({ origin }: ServerProcess, document: EndpointDocument): Promise<string> {
  const answer = await fetch(`${origin}/endpoints`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(document),
  })
  if (answer.status !== 201) throw new Error(`The document was refused: ${await answer.text()}`)
  await answer.arrayBuffer()
  return origin + document.endpoint.pattern
}
