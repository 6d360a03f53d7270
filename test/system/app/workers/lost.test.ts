/** A worker that dies is replaced, the others go on, and nothing that was acknowledged is lost. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { capturesOf } from '../../../support/records/message-log/captures.ts'
import { endpointDocument } from '../../../support/service.ts'
import { type Caller, type Crew, isAlive, startCrew, until } from './crew.ts'

/** Keeps the number that a message brings, and answers with the one before. */
const counting = (index: number): JsonObject => ({
  name: `counting ${index}`,
  endpoint: { pattern: `/counting/${index}` },
  inputMapping: { 'state.requestBody.n': { key: 'before', default: 0 } },
  state: { extract: { requestBody: { n: 'n' } } },
})

type Health = Readonly<{ workers: Readonly<{ configured: number; running: number; lost: number }> }>

const health = async (crew: Crew): Promise<Health> => {
  const answer = await crew.admin('GET', '/health/ready').catch(() => undefined)
  return (answer?.body ?? { workers: {} }) as Health
}

const replaced = (crew: Crew, lost: number) =>
  until(`${lost} lost workers are replaced`, async () => {
    const { workers } = await health(crew)
    return workers.lost === lost && workers.running === workers.configured
  })

/** Calls on new connections until one works: the worker of the one before may be dead. */
async function patient(crew: Crew, work: (caller: Caller) => Promise<boolean>): Promise<void> {
  for (;;) {
    const caller = crew.connect()
    try {
      if (await work(caller)) return
    } catch {
      // The answer is not there, so whether it was done is open.
    } finally {
      caller.end()
    }
  }
}

describe('a worker that is killed under load', () => {
  test('loses no state and no endpoint that was acknowledged, and is counted', async (t) => {
    const streams = 4
    const crew = await startCrew(t)
    for (let index = 0; index < streams; index += 1) await crew.register(counting(index))
    const acknowledged = new Array<number>(streams).fill(0)
    const registered: string[] = []
    let kills = 0
    let over = false

    /** One after the other, so that the stored one is known: the last acknowledged or one that was tried after it. */
    const keep = async (index: number) => {
      let n = 0
      while (!over)
        await patient(crew, async (caller) => {
          while (!over) {
            n += 1
            const { status, body } = await caller.call('POST', `/counting/${index}`, { n })
            assert.ok((body.before as number) >= (acknowledged[index] as number), `${body.before} is not the newest`)
            if (status === 200) acknowledged[index] = n
          }
          return true
        })
    }
    const change = async () => {
      for (let count = 0; !over; count += 1) {
        const name = `made ${count}`
        const document = endpointDocument({ name, endpoint: { pattern: `/made/${count}` } })
        const made = await crew.call('POST', '/endpoints', document).catch(() => undefined)
        if (made?.status === 201) registered.push(name)
      }
    }
    const work = Promise.all([...acknowledged.keys()].map(keep).concat(change()))
    for (; kills < 4; kills += 1) {
      const sum = () => acknowledged.reduce((all, n) => all + n, 0)
      const before = sum()
      await until('messages flow', () => sum() > before + 40)
      const pids = crew.workerPids()
      process.kill(pids[kills % pids.length] as number, 'SIGKILL')
      await replaced(crew, kills + 1)
    }
    over = true
    await work
    for (const [index, n] of acknowledged.entries()) {
      const { body } = await crew.call('POST', `/counting/${index}`, { n: 0 })
      assert.ok((body.before as number) >= n, `${body.before} was kept after ${n} was acknowledged`)
    }
    const names = new Set(
      ((await crew.call('GET', '/endpoints')).body as unknown as { name: string }[]).map(({ name }) => name),
    )
    assert.deepEqual(
      registered.filter((name) => !names.has(name)),
      [],
    )
    assert.match((await crew.admin('GET', '/metrics')).body.text as string, /^crosswalk_workers_lost_total 4$/m)
    assert.equal(crew.output.stdout.match(/"signal":"SIGKILL".*"msg":"A worker is lost/g)?.length, 4)
  })

  test('which has the admin port leaves it to another one', async (t) => {
    const crew = await startCrew(t)
    for (let lost = 1; lost <= 3; lost += 1) {
      // One of them has it; when all were killed, that one was among them.
      for (const pid of crew.workerPids()) {
        process.kill(pid, 'SIGKILL')
        await until('the admin port answers', async () => (await health(crew)).workers.running >= 1)
      }
      await replaced(crew, lost * 2)
    }
    assert.equal((await crew.call('GET', '/uptime')).status, 200)
  })
})

test('when all workers are killed at once the service comes back on its ports', async (t) => {
  const crew = await startCrew(t)
  await crew.register(counting(0))
  for (const pid of crew.workerPids()) process.kill(pid, 'SIGKILL')
  await replaced(crew, 2)
  assert.equal((await crew.call('POST', '/counting/0', { n: 1 })).status, 200)
})

test('a worker that dies in a loop is waited with longer each time', async (t) => {
  const crew = await startCrew(t)
  const spared = crew.workerPids()[0] as number
  const killed = new Set<number>()
  for (let count = 0; count < 4; count += 1) {
    let pid: number | undefined
    await until('another worker comes', () => {
      pid = crew.workerPids().find((one) => one !== spared && !killed.has(one))
      return pid !== undefined
    })
    killed.add(pid as unknown as number)
    process.kill(pid as unknown as number, 'SIGKILL')
    const status = await crew.call('GET', '/uptime').catch(() => undefined)
    assert.ok(status === undefined || status.status === 200)
  }
  const pauses = () =>
    [...crew.output.stdout.matchAll(/"pauseMs":(\d+),"msg":"A worker is lost/g)].map(([, ms]) => Number(ms))
  await until('four are lost', () => pauses().length === 4)
  assert.deepEqual(pauses(), [0, 1_000, 2_000, 4_000])
})

test('kill -9 of the primary takes the workers along, and loses nothing that was acknowledged', async (t) => {
  const crew = await startCrew(t)
  await crew.register(counting(0))
  const pids = crew.workerPids()
  let acknowledged = 0
  const work = (async () => {
    const caller = crew.connect()
    for (;;) {
      const { status } = await caller.call('POST', '/counting/0', { n: acknowledged + 1 })
      if (status === 200) acknowledged += 1
    }
  })()
  await until('messages flow', () => acknowledged > 20)
  crew.child.kill('SIGKILL')
  await assert.rejects(work)
  await until('the workers end', () => !pids.some(isAlive))
  const next = await startCrew(t, { folder: crew.folder })
  const { body } = await next.call('POST', '/counting/0', { n: 0 })
  assert.ok((body.before as number) >= acknowledged, `${body.before} was kept after ${acknowledged} was acknowledged`)
})

test('a worker that replaces a lost one knows the capture', async (t) => {
  const crew = await startCrew(t, { env: { MESSAGE_LOG: 'off' } })
  const { _id } = await crew.register({ name: 'captured', endpoint: { pattern: '/captured' } })
  await crew.register({ name: 'another', endpoint: { pattern: '/another' } })
  const { start, captured } = capturesOf(crew.adminUrl).on(_id)
  await start({ messages: 10 })
  const [lost] = crew.workerPids()
  assert.ok(lost !== undefined)
  process.kill(lost, 'SIGKILL')
  await until('a new worker', () => crew.workerPids().length === 2 && !crew.workerPids().includes(lost))
  const callers = await crew.connectToEach('/another')
  for (const { call } of callers) assert.equal((await call('POST', '/captured', { n: 1 })).status, 200)
  assert.equal((await captured()).length, callers.length)
  for (const caller of callers) caller.end()
})
