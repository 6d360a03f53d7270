/** The service as users start it: default settings but for free ports, and an empty database of its own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '../src/domain/json.ts'
import { type Command, onCoreOf } from './cores.ts'
import { type ServerProcess, startServer } from './server-process.ts'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const launcher = fileURLToPath(new URL('../bin/crosswalk.js', import.meta.url))

/** As `npm start` does: with whichever Node.js this machine has, which then starts the one that the service needs. */
export const BY_LAUNCHER: Command = ['node', launcher]

/** Without the launcher. */
export const DIRECTLY: Command = [process.execPath, main]

/** Resolves when it listens; stopping it removes its database, where `env` does not name another one. */
export async function startCrosswalk(
  command: Command,
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-bench-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const server = await startServer(command, folder, { SERVER_PORT: '0', ADMIN_PORT: '0', ...env })
    return { ...server, stop: () => server.stop().finally(remove) }
  } catch (thrown) {
    remove()
    throw thrown
  }
}

export const startCrosswalkOnItsCore = (env: Readonly<Record<string, string>> = {}): Promise<ServerProcess> =>
  startCrosswalk(onCoreOf('server', BY_LAUNCHER), env)

/** Registers an endpoint as its users do; gives the URL of its route. Fails where the document is refused. */
export async function register(
  { origin }: ServerProcess,
  document: JsonObject & Readonly<{ endpoint: Readonly<{ pattern: string }> }>,
): Promise<string> {
  const answer = await fetch(`${origin}/endpoints`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(document),
  })
  if (answer.status !== 201) throw new Error(`The document was refused: ${await answer.text()}`)
  await answer.arrayBuffer()
  return origin + document.endpoint.pattern
}
