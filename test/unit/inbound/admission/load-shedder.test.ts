/** When requests have to wait, how many start in one round, and which are shed: on an event loop of the test's own. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EventLoop } from '../../../../src/inbound/admission/event-loop.ts'
import { createLoadShedder } from '../../../../src/inbound/admission/load-shedder.ts'
import fc from '../../../support/fast-check.ts'

/** As often the shedder looks at the lag. */
const BEAT_MS = 20
/** So long that no request waits too long. */
const FOREVER_MS = 1e9

/** The shedder on a loop that stands still until a test moves it. */
function open({ capacity = 1_000, waitMs = FOREVER_MS } = {}) {
  let [nowMs, cpuMs, busyShare] = [0, 0, 0]
  let next: (() => void)[] = []
  let beat: (() => void) | undefined
  const loop: EventLoop = {
    nowMs: () => nowMs,
    cpuMs: () => cpuMs,
    busyShare: () => busyShare,
    nextRound: (work) => void next.push(work),
    createTimer: (work) => () => {
      beat = work
    },
  }
  const subject = createLoadShedder({ capacity, waitMs }, loop)
  const started: number[] = []
  const refused: number[] = []
  let came = 0
  const work = (ms: number) => {
    nowMs += ms
    cpuMs += ms
  }
  return {
    subject,
    started,
    refused,
    work,
    /** Whether the shedder looks at the lag now. */
    isWatching: () => beat !== undefined,
    /** Requests that wait from now on, each of which works for `costMs` when it starts; they have numbers from 0. */
    wait: (count: number, costMs = 0) => {
      for (let each = 0; each < count; each += 1) {
        const request = came
        came += 1
        const start = () => {
          started.push(request)
          work(costMs)
        }
        subject.wait({ start, shed: () => void refused.push(request) })
      }
    },
    /** One round of the loop. Out: how many requests started in it. */
    round: () => {
      const due = next
      next = []
      const before = started.length
      for (const run of due) run()
      return started.length - before
    },
    /** The shedder's timer, `lateMs` too late; the loop was busy for `share` of the time. */
    beat: (lateMs = 0, share = 0) => {
      const run = beat
      beat = undefined
      nowMs += BEAT_MS + lateMs
      busyShare = share
      run?.()
    },
    /** Time in which others have the processor. */
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

describe('a request', () => {
  const beats = [
    { what: 'the loop is on time', lateMs: 0, share: 1, connections: 0, passes: true },
    { what: 'the loop is as late as it may be', lateMs: 20, share: 1, connections: 0, passes: true },
    { what: 'the loop lags', lateMs: 20.1, share: 0.5, connections: 0, passes: false },
    { what: 'connections come and the loop rests', lateMs: 0, share: 0.95, connections: 9, passes: true },
    { what: 'connections come and the loop never rests', lateMs: 0, share: 0.96, connections: 1, passes: false },
  ]
  for (const { what, lateMs, share, connections, passes } of beats) {
    test(`${passes ? 'starts at once' : 'has to wait'} where ${what}`, () => {
      const { subject, beat } = open()
      assert.equal(subject.passes(), true)
      for (let each = 0; each < connections; each += 1) subject.connected()
      beat(lateMs, share)
      assert.equal(subject.passes(), passes)
    })
  }

  test('has to wait until the loop was on time for a second', () => {
    const { subject, beat } = open()
    subject.passes()
    beat(100)
    for (let calm = 0; calm < 49; calm += 1) {
      beat()
      assert.equal(subject.passes(), false)
    }
    beat()
    assert.equal(subject.passes(), true)
  })

  for (const [what, disturb] of [
    ['another lag', (shedder) => shedder.beat(100)],
    [
      'requests that still wait',
      (shedder) => {
        shedder.wait(1)
        shedder.beat()
        while (shedder.subject.waiting > 0) shedder.round()
      },
    ],
  ] as const satisfies readonly (readonly [string, (shedder: ReturnType<typeof open>) => void])[]) {
    test(`has to wait for a second more after ${what}`, () => {
      const shedder = open()
      shedder.subject.passes()
      shedder.beat(100)
      for (let calm = 0; calm < 49; calm += 1) shedder.beat()
      disturb(shedder)
      for (let calm = 0; calm < 49; calm += 1) shedder.beat()
      assert.equal(shedder.subject.passes(), false)
      shedder.beat()
      assert.equal(shedder.subject.passes(), true)
    })
  }

  test('starts the timer, which ends when none comes any more', () => {
    const { subject, beat, isWatching, pass } = open()
    assert.equal(isWatching(), false)
    subject.passes()
    assert.equal(isWatching(), true)
    beat()
    assert.equal(isWatching(), true, 'one came since the last look')
    beat()
    assert.equal(isWatching(), false)
    // No request was waiting, so this is no lag.
    pass(10_000)
    assert.equal(subject.passes(), true)
    beat()
    assert.equal(subject.passes(), true)
  })
})

describe('in one round', () => {
  const loads = [
    { what: 'a hundredth of a millisecond', costMs: 0.01, sizes: [1, 2, 4, 8, 16, 32, 64, 128, 256, 256] },
    { what: 'a tenth of a millisecond', costMs: 0.1, sizes: [1, 2, 4, 8, 16, 32, 64, 128, 128] },
    { what: 'a millisecond', costMs: 1, sizes: [1, 2, 4, 8, 16, 16, 16] },
    { what: 'half a round', costMs: 10, sizes: [1, 1, 1] },
    { what: 'more than a round', costMs: 30, sizes: [1, 1, 1] },
  ]
  for (const { what, costMs, sizes } of loads) {
    test(`as many start as fit into 20 ms, where each takes ${what}`, () => {
      const shedder = open()
      shedder.wait(900, costMs)
      assert.equal(shedder.round(), 0, 'the first round looks whether more come')
      assert.deepEqual(
        sizes.map(() => shedder.round()),
        sizes,
      )
      assert.deepEqual(
        shedder.started,
        shedder.started.map((_, at) => at),
      )
    })
  }

  test('fewer start when they take longer than those before', () => {
    const shedder = open()
    shedder.wait(31, 1)
    shedder.wait(100, 3)
    shedder.round()
    assert.deepEqual(
      Array.from({ length: 9 }, () => shedder.round()),
      [1, 2, 4, 8, 16, 16, 8, 4, 4],
    )
  })

  test('as many start as fit into 2 ms once some were refused, the last to come first', () => {
    const shedder = open()
    shedder.wait(1_001, 0.1)
    assert.deepEqual(shedder.refused, [0])
    shedder.round()
    assert.deepEqual(
      Array.from({ length: 6 }, () => shedder.round()),
      [1, 2, 4, 8, 16, 16],
    )
    assert.deepEqual(shedder.started.slice(0, 3), [1_000, 999, 998])
  })

  test('a round that was not full says nothing of the next', () => {
    const shedder = open()
    shedder.wait(4, 1)
    for (const started of [0, 1, 2, 1]) assert.equal(shedder.round(), started)
    assert.equal(shedder.subject.waiting, 0)
    shedder.work(1_000)
    shedder.wait(9, 1)
    for (const started of [0, 4, 5]) assert.equal(shedder.round(), started)
  })
})

test('nothing starts while more come in each round, for 50 ms of work', () => {
  const shedder = open()
  shedder.wait(1)
  for (let worked = 0; worked < 50; worked += 10) {
    assert.equal(shedder.round(), 0)
    shedder.subject.connected()
    shedder.work(10)
  }
  assert.equal(shedder.round(), 1)
})

describe('of those who wait', () => {
  // One goes on in each round, and what it works is seen by the next.
  const works = [
    { what: 'no request is refused while others have the processor', costs: 20, costMs: 0, elseMs: 1_000, refused: 0 },
    { what: 'no request is refused for one message that holds it for long', costs: 2, costMs: 5_000, refused: 0 },
    { what: 'no request is refused after as much work as one may wait', costs: 6, costMs: 60, refused: 0 },
    { what: 'all the others are refused after more', costs: 7, costMs: 60, refused: 33 },
  ]
  for (const { what, costs, costMs, elseMs = 0, refused } of works) {
    test(what, () => {
      const shedder = open({ waitMs: 250 })
      shedder.wait(costs, costMs)
      shedder.wait(33)
      shedder.round()
      for (let round = 0; round < costs; round += 1) {
        shedder.pass(elseMs)
        shedder.round()
      }
      assert.equal(shedder.refused.length, refused)
    })
  }

  for (const [capacity, most] of [
    [1, 1_000],
    [1_000, 1_000],
    [1_500, 1_500],
  ] as const) {
    test(`${most} have room where ${capacity} messages may be under way; one more, and the oldest is refused`, () => {
      const { subject, refused, wait } = open({ capacity })
      wait(most)
      assert.deepEqual([subject.waiting, refused], [most, []])
      wait(1)
      assert.deepEqual([subject.waiting, refused], [most, [0]])
    })
  }

  test('each is reported once, whatever happens', () => {
    const event = fc.oneof(
      fc.record({ kind: fc.constant('wait' as const), count: fc.nat({ max: 400 }), ms: fc.nat({ max: 100 }) }),
      fc.record({ kind: fc.constantFrom('round', 'round', 'beat', 'work', 'connected'), ms: fc.nat({ max: 200 }) }),
    )
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), fc.nat({ max: 500 }), (events, waitMs) => {
        const shedder = open({ waitMs })
        const { subject } = shedder
        let came = 0
        for (const happens of events) {
          if ('count' in happens) {
            came += happens.count
            shedder.wait(happens.count, happens.ms)
          } else if (happens.kind === 'work') shedder.work(happens.ms)
          else if (happens.kind === 'connected') subject.connected()
          else if (happens.kind === 'beat') shedder.beat(happens.ms)
          else shedder.round()
          const reported = [...shedder.started, ...shedder.refused]
          assert.equal(new Set(reported).size, reported.length)
          assert.equal(reported.length + subject.waiting, came)
          assert.ok(subject.waiting <= 1_000)
        }
        for (let rounds = 0; subject.waiting > 0; rounds += 1) {
          assert.ok(rounds < 2_000, 'all are reported some time')
          shedder.round()
        }
      }),
    )
  })
})
