/** Several workers start as one, and stop as one. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { describe, test } from 'node:test'
import { callUntilRefused } from '../../../support/call-until-refused.ts'
import { readEvents } from '../../../support/observe/events/event-reader.ts'
import { startUpstream } from '../../../support/service.ts'
import { freshFolder, LAUNCHED, startProgram } from '../../../support/spawned-service.ts'
import { isAlive, startCrew, until } from './crew.ts'

describe('a start of several workers', () => {
  for (const [name, setting] of [
    ['message', 'SERVER_PORT'],
    ['admin', 'ADMIN_PORT'],
  ] as const) {
    test(`is refused with one line where the ${name} port is in use`, async (t) => {
      const taken = createServer().listen(0, '127.0.0.1')
      t.after(() => void taken.close())
      await once(taken, 'listening')
      const port = `${(taken.address() as AddressInfo).port}`
      const { output, ended } = startProgram(freshFolder(t), { env: { WORKERS: '2', [setting]: port } })
      assert.deepEqual(await ended, { code: 1, signal: null })
      assert.match(output.stderr, new RegExp(`^crosswalk: Port ${port} is in use already; [^\\n]* ${setting}\\.\\n$`))
    })
  }

  test('says once where it listens; a second service on its file is refused', async (t) => {
    const crew = await startCrew(t, { workers: 3 })
    assert.equal(crew.output.stdout.match(/"messagePort":\d+/g)?.length, 1)
    assert.match(crew.output.stdout, /"workers":3/)
    for (const WORKERS of ['1', '2']) {
      const second = startProgram(crew.folder, { env: { WORKERS } })
      assert.deepEqual(await second.ended, { code: 1, signal: null })
      assert.match(second.output.stderr, /^crosswalk: The database \S+ is in use by a running service; .*\n$/)
    }
    // The lock is the service's: it stays when a worker goes.
    process.kill(crew.workerPids()[0] as number, 'SIGKILL')
    await until('a worker is lost', () => crew.output.stdout.includes('A worker is lost'))
    const third = startProgram(crew.folder)
    assert.deepEqual(await third.ended, { code: 1, signal: null })
  })
})

test('one worker is the service itself: no other process, and nothing said of workers', async (t) => {
  const crew = await startCrew(t, { workers: 1 })
  assert.deepEqual(crew.workerPids(), [])
  assert.equal('workers' in (await crew.admin('GET', '/health/ready')).body, false)
  assert.doesNotMatch((await crew.admin('GET', '/metrics')).body.text as string, /crosswalk_workers/)
  assert.doesNotMatch(crew.output.stdout, /workers/)
})

describe('a signal to stop several workers', () => {
  for (const command of [undefined, LAUNCHED]) {
    test(`lets messages finish on all of them${command ? ', by the launcher' : ''}`, async (t) => {
      const released = Promise.withResolvers<void>()
      let held = 0
      const upstream = await startUpstream(async () => {
        held += 1
        await released.promise
        return {}
      })
      t.after(upstream.stop)
      const crew = await startCrew(t, command === undefined ? {} : { command })
      const lookup = [{ id: 'up', config: { url: upstream.url } }]
      await crew.register({ name: 'Held', endpoint: { pattern: '/held' }, requests: { lookup } })
      await crew.register({ name: 'Quick', endpoint: { pattern: '/quick' } })
      const callers = await crew.connectToEach('/quick')
      const answers = callers.map((caller) => caller.call('POST', '/held', {}))
      await until('both have a message', () => held === 2)
      crew.child.kill('SIGTERM')
      await until('it stops', () => crew.output.stdout.includes('Stopping'))
      // Supervisors signal every process of the group.
      if (command === undefined) for (const pid of crew.workerPids()) process.kill(pid, 'SIGTERM')
      const ready = () => crew.admin('GET', '/health/ready')
      await until('readiness is off', async () => (await ready()).status === 503)
      assert.equal((await ready()).body.stopping, true)
      released.resolve()
      for (const { status } of await Promise.all(answers)) assert.equal(status, 200)
      assert.deepEqual(await crew.ended, { code: 0, signal: null })
      assert.equal(crew.output.stderr, '')
      assert.equal(crew.output.stdout.match(/"msg":"Stopped"/g)?.length, 1)
      assert.doesNotMatch(crew.output.stdout, /A worker/)
    })
  }

  test('a stream of a worker ends when the service stops', async (t) => {
    const crew = await startCrew(t)
    const reader = await readEvents(`${crew.adminUrl}/events`)
    await reader.first(({ type }) => type === 'open')
    crew.child.kill('SIGTERM')
    await Promise.all([crew.ended, reader.ended])
    assert.equal(reader.events.at(-1)?.data.reason, 'stopping')
  })

  test('SIGINT twice does not wait, and leaves no worker', async (t) => {
    const upstream = await startUpstream(() => new Promise(() => undefined))
    t.after(upstream.stop)
    const crew = await startCrew(t, { endsWith: 1 })
    const lookup = [{ id: 'up', config: { url: upstream.url } }]
    await crew.register({ name: 'Held', endpoint: { pattern: '/held' }, requests: { lookup } })
    const pids = crew.workerPids()
    const lost = assert.rejects(crew.call('POST', '/held', {}))
    const inFlight = async () => (await crew.admin('GET', '/health/ready')).body.messagesInFlight
    await until('it has the message', async () => (await inFlight()) === 1)
    crew.child.kill('SIGINT')
    await until('it stops', () => crew.output.stdout.includes('Stopping'))
    crew.child.kill('SIGINT')
    assert.deepEqual(await crew.ended, { code: 1, signal: null })
    await lost
    await until('the workers end', () => !pids.some(isAlive))
  })

  const rounds = 4
  test(`under load answers every message that was begun, ${rounds} times`, async (t) => {
    for (let round = 0; round < rounds; round += 1) {
      const crew = await startCrew(t, { env: { LOG_MESSAGES: 'all' } })
      await crew.register({ name: 'Load', endpoint: { pattern: '/load' } })
      const agent = round % 2 === 0 && new Agent({ keepAlive: true, maxSockets: 6 })
      let answered = 0
      const enough = Promise.withResolvers<void>()
      const callers = Array.from({ length: 6 }, () =>
        callUntilRefused(`${crew.url}/load`, agent, () => ++answered === 100 && enough.resolve()),
      )
      await Promise.race([enough.promise, ...callers])
      crew.child.kill('SIGTERM')
      // The port is closed by the primary, a moment after the last worker has left it: who comes then is not heard.
      for (const end of await Promise.all(callers)) assert.match(end, /^(503 1|ECONNREFUSED|ECONNRESET)$/)
      if (agent) agent.destroy()
      assert.deepEqual(await crew.ended, { code: 0, signal: null })
      assert.equal(crew.output.stdout.match(/"msg":"The message is done"/g)?.length, answered)
    }
  })
})
