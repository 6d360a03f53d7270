/** The product of a tree, as its users start it: the service, and single commands. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { send } from './http-call.ts'
import type { StableText } from './stable-text.ts'

export type Environment = Readonly<Record<string, string>>

/** One that takes longer is stuck, and is stopped. */
const LIFETIME_MS = { service: 1_200_000, command: 60_000 }

/** No process outlives the recorder, however it ends. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGTERM')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

function start(tree: string, folder: string, args: readonly string[], env: Environment, timeout: number): ChildProcess {
  mkdirSync(folder, { recursive: true })
  const child = spawn(process.execPath, [join(tree, 'bin/crosswalk.js'), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, TZ: 'UTC', SERVER_PORT: '0', ADMIN_PORT: '0', ...env },
    timeout,
  })
  running.add(child)
  child.on('exit', () => running.delete(child))
  return child
}

export type Service = Readonly<{ message: string; admin: string; stop(): Promise<void> }>

/** Gives the origins of both ports, which have names in recordings from then on. */
export async function startService(
  tree: string,
  folder: string,
  stable: StableText,
  env: Environment = {},
): Promise<Service> {
  const child = start(tree, folder, [], env, LIFETIME_MS.service)
  let output = ''
  const ports = await new Promise<readonly string[]>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk
      const found = /"messagePort":(\d+),"adminPort":(\d+)/.exec(output)
      if (found !== null) resolve(found.slice(1))
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.on('exit', () => reject(new Error(`The service did not start: ${output}`)))
  })
  const [message, admin] = ports.map((port) => `http://127.0.0.1:${port}`) as [string, string]
  for (const [name, port] of [
    ['message port', ports[0]],
    ['admin port', ports[1]],
  ] as const)
    stable.name(String(port), name)
  return {
    message,
    admin,
    stop: async () => {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

export type Ended = Readonly<{ code: number | null; stdout: string; stderr: string }>

export async function runCommand(
  tree: string,
  folder: string,
  args: readonly string[],
  { env = {}, stdin = '' }: Readonly<{ env?: Environment; stdin?: string }> = {},
): Promise<Ended> {
  const child = start(tree, folder, args, env, LIFETIME_MS.command)
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  child.stdin?.end(stdin)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...output }
}

/** Repeats a call until its answer says so; gives up after five seconds, and then the recording shows it. */
export async function until(base: string, path: string, isThere: (body: string) => boolean, headers = {}) {
  for (let left = 100; ; left -= 1) {
    const answer = await send(base, { method: 'GET', path, headers })
    if (left === 0 || (answer.status === 200 && isThere(answer.body))) return answer
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
