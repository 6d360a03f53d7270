/** A pool whose members stop, answer late or send nonsense: each call has its outcome, and no other call suffers. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newCpuQuota } from '../../../src/sandbox/cpu-quota.ts'
import {
  frame,
  type IsolationRequest,
  type IsolationResponse,
  unframe,
} from '../../../src/sandbox/isolation-protocol.ts'
import { type PoolMemberEvents, readMember } from '../../../src/sandbox/pool-member.ts'
import { type CallOutcome, ProcessPool, type ProgramOwner } from '../../../src/sandbox/process-pool.ts'
import { silent } from '../../support/silent.ts'
import { until } from '../../support/until.ts'

type Member = Readonly<{ events: PoolMemberEvents; received: IsolationRequest[]; killed: () => boolean }>

const RESPONSE: IsolationResponse = { kind: 'done', cpuMs: 1, value: { ok: true, value: null } }

/** A pool of one member at a time; the test plays the members. */
function poolOfOne() {
  const members: Member[] = []
  const pool = new ProcessPool('slow', {
    processes: 1,
    kind: 'thread',
    idleMs: 60_000,
    logger: silent,
    startMember: (events) => {
      const received: IsolationRequest[] = []
      let isKilled = false
      members.push({ events, received, killed: () => isKilled })
      return {
        pid: undefined,
        send: unframe((request) => received.push(request as IsolationRequest)),
        cpuMs: () => undefined,
        lowerPriority: () => {},
        kill: () => {
          isKilled = true
        },
      }
    },
  })
  const program = { endpoint: 'one', expressions: [] }
  const owner: ProgramOwner = { id: 1, program, size: 10, quota: newCpuQuota() }
  const submit = (limitMs = 60_000): Promise<CallOutcome> =>
    new Promise((finish) => {
      const task = { kind: 'validate', place: 'inputValidation', data: null } as const
      pool.submit({
        owner,
        task,
        limitMs,
        translate: () => (_table, _column, code) => code.toUpperCase(),
        deadlineAt: Date.now() + 60_000,
        isRetry: false,
        deadlineTimer: undefined,
        finish,
      })
    })
  return { pool, members, submit, member: (at: number) => members[at] as Member }
}

describe('a pool', () => {
  it('starts a member when a call needs one, and one in place of a member that stopped', async () => {
    const { pool, members, submit, member } = poolOfOne()
    assert.equal(members.length, 0)
    const [first, second] = [submit(), submit()]
    assert.equal(members.length, 1)
    member(0).events.onReady()
    member(0).events.onEnd('itself')
    assert.deepEqual(await first, { ended: 'memory' })
    member(1).events.onReady()
    member(1).events.onResponse(RESPONSE)
    assert.deepEqual(await second, { response: RESPONSE })
    assert.deepEqual(pool.counts(), { processes: 1, waiting: 0, ended: { time: 0, memory: 1, others: 0 } })
    pool.close()
  })

  it('repeats a call once if something else ended its member', async () => {
    const { pool, submit, member } = poolOfOne()
    const outcome = submit()
    for (const at of [0, 1]) {
      member(at).events.onReady()
      member(at).events.onEnd('others')
    }
    assert.deepEqual(await outcome, { ended: 'memory' })
    pool.close()
  })

  it('gives no call to a member that it stops, though that still answers', async () => {
    const { pool, submit, member } = poolOfOne()
    const late = submit(1)
    member(0).events.onReady()
    await until(member(0).killed, (isKilled) => isKilled)
    const next = submit()
    member(0).events.onResponse(RESPONSE)
    assert.deepEqual(await late, { response: RESPONSE })
    assert.equal(member(0).received.length, 1)
    member(0).events.onEnd('service')
    member(1).events.onReady()
    assert.equal(member(1).received.length, 1)
    member(1).events.onResponse(RESPONSE)
    assert.deepEqual(await next, { response: RESPONSE })
    pool.close()
  })

  it('refuses the calls of a service that stops, and kills its members', async () => {
    const { pool, submit, member } = poolOfOne()
    const [running, waiting] = [submit(), submit()]
    member(0).events.onReady()
    pool.close()
    assert.equal(member(0).killed(), true)
    member(0).events.onEnd('service')
    assert.deepEqual([await running, await waiting], [{ refused: 'deadline' }, { refused: 'deadline' }])
  })

  it('ends a member that asks for a code of a table without a call, or too often', async () => {
    const { pool, submit, member } = poolOfOne()
    const running = submit()
    const lookup = { kind: 'lookup', of: 'x', table: 't', column: undefined, code: 'a', mustFind: false } as const
    const ask = () => {
      let isBroken = false
      const read = readMember(member(0).events, () => {
        isBroken = true
      })
      read(frame(lookup))
      return isBroken
    }
    assert.equal(ask(), true, 'before its call')
    member(0).events.onReady()
    assert.equal(ask(), false)
    assert.deepEqual(member(0).received.at(-1), { kind: 'found', text: 'A' })
    let asked = 1
    while (!ask()) asked += 1
    assert.equal(asked, 10_000)
    pool.close()
    member(0).events.onEnd('service')
    await running
  })

  it('reads responses, and reports bytes that are none', () => {
    const responses: unknown[] = []
    let broken = 0
    const events = {
      onReady: () => responses.push('ready'),
      onLookup: () => {},
      onResponse: (one: unknown) => responses.push(one),
      onEnd: () => {},
    }
    const read = readMember(events, () => {
      broken += 1
    })
    read(frame('ready'))
    read(frame(RESPONSE))
    assert.deepEqual([responses, broken], [['ready', RESPONSE], 0])
    read(Buffer.from([255, 255, 255, 255, 1]))
    assert.equal(broken, 1)
  })
})
