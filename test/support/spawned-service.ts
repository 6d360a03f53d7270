/** The service as a process of its own, for what only a process shows: its output, its signals and its end. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { entry, FLAGS } from '../../bin/entry.js'
import type { JsonObject } from '../../src/core/json.ts'
import { endpointDocument, json } from './endpoint-document.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * A program and its first arguments: the service as its launcher starts it, on the Node.js that runs this, or the launcher on
 * the machine's own. Both take the bundle while it is newer than the source.
 */
export const DIRECT = [process.execPath, ...FLAGS, entry()] as const
export const LAUNCHED = ['node', join(root, 'bin/crosswalk.js')] as const

/** No test takes as long, on a machine however busy. */
const LIFETIME_MS = 240_000

/** Kept from run to run: it halves the time that a start takes. */
const NODE_COMPILE_CACHE = process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'crosswalk-compile-cache')

export type Ended = Readonly<{ code: number | null; signal: NodeJS.Signals | null }>

export type Program = Readonly<{
  child: ChildProcess
  /** Standard output and standard error so far. */
  output: Readonly<{ stdout: string; stderr: string }>
  ended: Promise<Ended>
}>

export type SpawnedService = Program & Readonly<{ url: string; adminUrl: string }>

type Options = Readonly<{
  command?: readonly [program: string, ...args: string[]]
  args?: readonly string[]
  env?: Readonly<Record<string, string>>
  /** A process that lives longer is killed: no test may leave one behind. */
  lifetimeMs?: number
}>

/** Starts the service in a folder, where its database is; free ports unless `env` names some. */
export function startProgram(
  folder: string,
  { command = DIRECT, args = [], env = {}, lifetimeMs = LIFETIME_MS }: Options = {},
): Program {
  const [program, ...first] = command
  const child = spawn(program, [...first, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE, SERVER_PORT: '0', ADMIN_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: lifetimeMs,
    killSignal: 'SIGKILL',
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  return { child, output, ended: once(child, 'close').then(([code, signal]) => ({ code, signal })) }
}

/** Starts the service and waits until it listens; fails where it ends before. */
export async function spawnService(folder: string, options: Options = {}): Promise<SpawnedService> {
  const program = startProgram(folder, options)
  const { stdout } = program.child
  const listening = new Promise<void>((resolve) => {
    const look = () => {
      if (portsIn(program.output.stdout) === undefined) return
      // From then on, to look at all that was said for each thing that is said would take longer than the service does.
      stdout?.off('data', look)
      resolve()
    }
    stdout?.on('data', look)
  })
  await Promise.race([listening, program.ended])
  const ports = portsIn(program.output.stdout)
  if (ports === undefined) throw new Error(`the service did not start: ${program.output.stderr}`)
  const [url, adminUrl] = ports.map((port) => `http://127.0.0.1:${port}`) as [string, string]
  return { ...program, url, adminUrl }
}

/** The ports of the message and the admin listener, as the log reports them. */
function portsIn(stdout: string): readonly string[] | undefined {
  return /"messagePort":(\d+),"adminPort":(\d+).*\n/.exec(stdout)?.slice(1)
}

/** Registers an endpoint with these fields. */
export async function registerEndpoint({ url }: Pick<SpawnedService, 'url'>, fields: JsonObject): Promise<void> {
  const reply = await fetch(`${url}/endpoints`, json('POST', endpointDocument(fields)))
  assert.equal(reply.status, 201, await reply.text())
}

/** A new folder that goes when the test does. */
export function freshFolder(test: { after(work: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-process-'))
  test.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
