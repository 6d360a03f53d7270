/** The service as `npm start` runs it, bundle and flags, but without the launcher: its process is the one that is started. */
import { entry, FLAGS } from '../../../bin/entry.js'
import { type SpawnedService, spawnService } from '../../support/spawned-service.ts'

export type BundledService = SpawnedService & Readonly<{ pid: number }>

/** `inspected`: with an inspector on a free port, of which it reports on standard error. */
export async function startBundled(
  folder: string,
  lifetimeMs: number,
  env: Readonly<Record<string, string>> = {},
  inspected = false,
): Promise<BundledService> {
  const flags = [...FLAGS, ...(inspected ? ['--inspect=127.0.0.1:0'] : [])]
  const service = await spawnService(folder, {
    command: [process.execPath, ...flags, entry()],
    env: { MALLOC_ARENA_MAX: '1', ...env },
    lifetimeMs,
  })
  return { ...service, pid: service.child.pid as number }
}

/** Registers a document; gives its id. Fails where it is refused. */
export async function registerAt(url: string, document: object): Promise<string> {
  const answer = await fetch(`${url}/endpoints`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(document),
  })
  const text = await answer.text()
  if (answer.status !== 201) throw new Error(`The document was refused: ${text}`)
  return JSON.parse(text)._id
}
