/** The isolated processes of a service: what ends them, and that nothing else does. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { createLogger } from '../../../src/observe/log/logger.ts'
import { createSandbox } from '../../../src/sandbox/process-sandbox.ts'
import { json, type Service, startService } from '../../support/service.ts'
import { DIRECT, freshFolder, spawnService } from '../../support/spawned-service.ts'
import { until as poll } from '../../support/until.ts'

// Children are found in /proc.
const skip = process.platform !== 'linux'

const ISOLATED = { ISOLATION: 'process', ISOLATION_PROCESSES: '1' }

/** Of a process in /proc: what stands after its name; empty where it is gone. */
function statOf(pid: string | number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}

const childrenOf = (parent: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && statOf(name)[1] === `${parent}`)
    .map(Number)

const isolatedBelow = (parent: number): number[] =>
  childrenOf(parent).filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('isolated-process'))

/** One that has ended and was not yet asked for is no process any more. */
const alive = (pid: number): boolean => !['Z', 'X', undefined].includes(statOf(pid)[0])

const until = (is: () => boolean | Promise<boolean>): Promise<boolean> => poll(is, (isSo) => isSo)

async function withService(env: Record<string, string>, work: (service: Service) => Promise<void>): Promise<void> {
  const service = await startService({ ...ISOLATED, ...env })
  try {
    await work(service)
  } finally {
    await service.stop()
  }
}

const transform = (pattern: string, x: string): JsonObject => ({
  endpoint: { pattern },
  inputTransforms: { x },
  inputMapping: { 'transforms.x': 'x' },
})

async function ended(service: Service): Promise<Record<string, number>> {
  const text = await (await fetch(`${service.adminUrl}/metrics`)).text()
  const counts: Record<string, number> = {}
  for (const [, cause = '', value] of text.matchAll(/crosswalk_isolation_ended_total\{.*cause="(\w+)"\} (\d+)/g)) {
    counts[cause] = (counts[cause] ?? 0) + Number(value)
  }
  return counts
}

describe('isolated processes', { skip, concurrency: false }, () => {
  test('one that needs too much memory is ended and replaced, and its message reports why', () =>
    withService({ ISOLATION_MEMORY_MB: '32', EXPRESSION_TIMEOUT_MS: '20000' }, async (service) => {
      const many = '$map([1..100], function($n){ [1..20000].{"n": $, "of": $n} })'
      await service.register(transform('/greedy', many))
      await service.register(transform('/modest', 'requestBody.a + 1'))
      const greedy = await service.fetch('/greedy', json('POST', {}))
      const { code, path, error } = greedy.json()
      assert.deepEqual([greedy.status, code, path], [500, 'TRANSFORM_FAILED', 'inputTransforms.x'])
      assert.match(String(error), /needs more memory than ISOLATION_MEMORY_MB/)
      assert.deepEqual((await service.fetch('/modest', json('POST', { a: 1 }))).json(), { x: 2 })
      assert.deepEqual(await ended(service), { time: 0, memory: 1, others: 0 })
      const reported = service.log.find(({ message }) => message === 'An isolated process was ended')
      assert.equal(reported?.fields.cause, 'memory')
    }))

  test('one that was killed from outside costs no message', () =>
    withService({ EXPRESSION_TIMEOUT_MS: '30000' }, async (service) => {
      await service.register(transform('/long', '($f := function($n){ $n = 0 ? 1 : $f($n - 1) }; $f(2000))'))
      await service.fetch('/long', json('POST', {}))
      const answers = Array.from({ length: 20 }, () => service.fetch('/long', json('POST', {})))
      const before = isolatedBelow(process.pid)
      assert.equal(before.length, 2)
      for (const pid of before) process.kill(pid, 'SIGKILL')
      for (const answer of await Promise.all(answers)) assert.deepEqual([answer.status, answer.json()], [200, { x: 1 }])
      assert.deepEqual(await ended(service), { time: 0, memory: 0, others: 2 })
      const after = isolatedBelow(process.pid)
      assert.equal(after.filter((pid) => before.includes(pid)).length, 0)
    }))

  test('a message that is late is answered so at its deadline', () =>
    withService({ MESSAGE_TIMEOUT_MS: '1000', EXPRESSION_TIMEOUT_MS: '60000' }, async (service) => {
      await service.register(transform('/endless', '($f := function(){ $f() }; $f())'))
      await service.register(transform('/warm', '1'))
      await until(async () => (await service.fetch('/warm', json('POST', {}))).status === 200)
      const answer = await service.fetch('/endless', json('POST', {}))
      assert.equal(answer.json().code, 'DEADLINE_EXCEEDED')
      assert.equal((await ended(service)).time, 1)
    }))

  test('endpoints that were stored come into force with the service', async (t) => {
    const folder = freshFolder(t)
    const first = await startService(ISOLATED, folder)
    await first.register({ ...transform('/kept', 'requestBody.a * 2'), inputValidation: { required: ['a'] } })
    await first.stop()
    const second = await startService(ISOLATED, folder)
    t.after(() => second.stop())
    assert.deepEqual((await second.fetch('/kept', json('POST', { a: 4 }))).json(), { x: 8 })
    assert.equal((await second.fetch('/kept', json('POST', {}))).json().code, 'VALIDATION_FAILED')
  })

  test('a service of its own process waits for them at its start', async (t) => {
    const folder = freshFolder(t)
    const document = { name: 'x', transformation: { input: 'JSON', output: 'JSON' }, ...transform('/x', '1') }
    const first = await spawnService(folder, { env: ISOLATED })
    assert.equal((await fetch(`${first.adminUrl}/endpoints`, json('POST', document))).status, 201)
    first.child.kill('SIGTERM')
    await first.ended
    const second = await spawnService(folder, { env: ISOLATED })
    t.after(() => second.child.kill('SIGKILL'))
    const answer = await fetch(`${second.url}/x`, json('POST', {}))
    assert.deepEqual([answer.status, await answer.json()], [200, { x: 1 }])
  })

  test('a service that has no descriptors left to start one goes on, and starts it later', async (t) => {
    const command = ['sh', '-c', 'ulimit -n 80; exec "$0" "$@"', ...DIRECT] as const
    const service = await spawnService(freshFolder(t), { command, env: ISOLATED })
    t.after(() => service.child.kill('SIGKILL'))
    const pid = service.child.pid as number
    const document = { name: 'x', transformation: { input: 'JSON', output: 'JSON' }, ...transform('/x', '1') }
    assert.equal((await fetch(`${service.adminUrl}/endpoints`, json('POST', document))).status, 201)

    const port = Number(new URL(service.url).port)
    const sockets = Array.from({ length: 200 }, () => connect(port, '127.0.0.1').on('error', () => {}))
    await until(() => readdirSync(`/proc/${pid}/fd`).length >= 79)
    for (const child of isolatedBelow(pid)) process.kill(child, 'SIGKILL')
    // Each place is reported twice: once as it was killed, once as nothing could be started in it.
    await until(() => service.output.stdout.split('An isolated process was ended').length > 4 || !alive(pid))
    for (const socket of sockets) socket.destroy()
    const answer = await fetch(`${service.url}/x`, json('POST', {}))
    assert.deepEqual([answer.status, await answer.json()], [200, { x: 1 }])
  })

  test('all of them end with a service that is killed, also of WORKERS', async (t) => {
    const service = await spawnService(freshFolder(t), { env: { ...ISOLATED, WORKERS: '2' } })
    const primary = service.child.pid as number
    const register = await fetch(
      `${service.url}/endpoints`,
      json('POST', { name: 'x', transformation: { input: 'JSON', output: 'JSON' }, ...transform('/x', '1') }),
    )
    assert.equal(register.status, 201)
    const answer = await fetch(`${service.url}/x`, json('POST', {}))
    assert.deepEqual(await answer.json(), { x: 1 })
    const isolated = () => childrenOf(primary).flatMap(isolatedBelow)
    await until(() => isolated().length >= 4)
    const pids = isolated()
    process.kill(primary, 'SIGKILL')
    await until(() => !pids.some(alive))
  })
})

test('a program that no process has the time to compile is not held to have faults', async (t) => {
  const limits = { timeoutMs: 1_000, maxDepth: 100, maxSequence: 100 }
  const programOptions = { limits, schema: { acceptNull: false, coerceTypes: false } }
  const logger = createLogger({ logLevel: 'silent', enableLogging: false })
  const sandbox = createSandbox({ processes: 0, memoryMb: 256, programOptions, compileMs: 20, logger })
  t.after(() => sandbox.close())
  const program = { endpoint: 'x', expressions: [['x', '1'] as const] }
  await assert.rejects(sandbox.compile(program), { code: 'OVERLOADED', status: 503 })
})
