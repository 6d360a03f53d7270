/** A service of several workers, as a process of its own, and callers whose connections reach each of them. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { endpointDocument, type StoredEndpoint } from '../../../support/service.ts'
import { type SpawnedService, spawnService } from '../../../support/spawned-service.ts'
import { assertSound } from '../../../support/store/folder.ts'
import { until as poll } from '../../../support/until.ts'

export type Answer = Readonly<{
  status: number
  body: JsonObject
  etag: string
  /** Reports the worker that answered a message from the others. */
  worker: string
}>

export type Caller = Readonly<{
  /** Over one connection for as long as both sides keep it. Rejects as the socket does. */
  call(method: string, path: string, body?: Json, headers?: Readonly<Record<string, string>>): Promise<Answer>
  end(): void
}>

export type Crew = SpawnedService &
  Readonly<{
    folder: string
    /** Of the message port. */
    connect(): Caller
    /** One connection to each worker, by an endpoint that answers to anything. */
    connectToEach(path: string): Promise<readonly Caller[]>
    /** Over a connection of its own, so that calls reach all workers. */
    call: Caller['call']
    admin: Caller['call']
    register(document: JsonObject): Promise<StoredEndpoint>
    workerPids(): number[]
  }>

type Options = Readonly<{
  workers?: number
  env?: Readonly<Record<string, string>>
  folder?: string
  command?: readonly [string, ...string[]]
  /** Its exit code. */
  endsWith?: number
}>

/** Ends with the test, cleanly unless it was killed; its file must be sound then. */
export async function startCrew(
  test: Readonly<{ after(work: () => Promise<void>): void }>,
  { workers = 2, env = {}, folder, command, endsWith = 0 }: Options = {},
): Promise<Crew> {
  const home = folder ?? lastingFolder()
  const service = await spawnService(home, {
    env: { WORKERS: `${workers}`, ...env },
    lifetimeMs: 300_000,
    ...(command === undefined ? {} : { command }),
  })
  test.after(async () => {
    service.child.kill('SIGTERM')
    const { code, signal } = await service.ended
    assert.ok(code === endsWith || signal === 'SIGKILL', `${code} ${signal} ${service.output.stdout}`)
    if (env.DATABASE_URL === undefined) assertSound(join(home, 'data/crosswalk.db'))
  })
  const alone =
    (base: string): Caller['call'] =>
    async (method, path, body, headers) => {
      const caller = connectTo(base)
      try {
        return await caller.call(method, path, body, headers)
      } finally {
        caller.end()
      }
    }
  const call = alone(service.url)
  return {
    ...service,
    folder: home,
    connect: () => connectTo(service.url),
    connectToEach: async (path) => {
      const found = new Map<string, Caller>()
      while (found.size < workers) {
        const caller = connectTo(service.url)
        const { worker } = await caller.call('POST', path, {})
        if (found.has(worker)) caller.end()
        else found.set(worker, caller)
      }
      return [...found.values()]
    },
    call,
    admin: alone(service.adminUrl),
    register: async (document) => {
      const { status, body } = await call('POST', '/endpoints', endpointDocument(document))
      assert.equal(status, 201, JSON.stringify(body))
      return body as StoredEndpoint
    },
    workerPids: () => childrenOf(service.child.pid as number),
  }
}

const lasting: string[] = []
// One listener for all of them: node warns of more than ten.
process.on('exit', () => {
  for (const folder of lasting) rmSync(folder, { recursive: true, force: true })
})

/** Goes with this process: what is in it is looked at when the test has ended. */
function lastingFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-workers-'))
  lasting.push(folder)
  return folder
}

/** Linux, proc_pid_task_children(5). */
export const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .flatMap((text) => Number(text) || [])

export function isAlive(pid: number): boolean {
  try {
    // One that has ended and was not waited for yet is a zombie.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

function connectTo(base: string): Caller {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    end: () => agent.destroy(),
    call: (method, path, body, headers = {}) =>
      new Promise((resolve, reject) => {
        const type = body === undefined ? {} : { 'content-type': 'application/json' }
        const outgoing = request(`${base}${path}`, { method, agent, headers: { ...type, ...headers } })
        outgoing.on('error', reject)
        outgoing.setTimeout(20_000, () => outgoing.destroy(new Error(`no answer to ${method} ${base}${path} in 20 s`)))
        outgoing.on('response', async (response) => {
          try {
            let text = ''
            for await (const part of response) text += part
            resolve({
              status: response.statusCode as number,
              body: text !== '' && /json/.test(String(response.headers['content-type'])) ? JSON.parse(text) : { text },
              etag: String(response.headers.etag),
              worker: String(response.headers['x-crosswalk-message-id']).slice(-8),
            })
          } catch (thrown) {
            reject(thrown)
          }
        })
        outgoing.end(body === undefined ? undefined : JSON.stringify(body))
      }),
  }
}

/** Resolves once `holds`. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  await poll(holds, (isSo) => isSo).catch((thrown: Error) => {
    throw new Error(what, { cause: thrown })
  })
}
