import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CircuitOpen, OutboundError } from '../../../../src/core/ports/http-client-port.ts'
import {
  type Circuit,
  closedCircuit,
  enter,
  isOpen,
  openForMs,
  recordFailure,
  recordNothing,
  recordSuccess,
  type Trouble,
} from '../../../../src/outbound/circuit.ts'
import { createHttpConnections } from '../../../../src/outbound/http/http-connections.ts'
import { Upstreams } from '../../../../src/outbound/http/upstreams.ts'
import fc from '../../../support/fast-check.ts'
import { until } from '../../../support/until.ts'
import { get, OK, onRequests, startClient, startHttp, startTcp, text, untilKept } from './upstream.ts'

const RULES = { failures: 5, pauseMs: 100, maxPauseMs: 350 }
const TROUBLE: Trouble = { status: 502, why: 'connection refused', retryAfterMs: undefined }

describe('a circuit', () => {
  const openAt = (now: number, trouble = TROUBLE): Circuit => {
    const circuit = closedCircuit()
    for (let failed = 0; failed < 5; failed++) recordFailure(circuit, 'through', trouble, now, RULES)
    return circuit
  }

  test('opens at the fifth failure in a row, and not after a success between them', () => {
    const circuit = closedCircuit()
    const fail = () => recordFailure(circuit, 'through', TROUBLE, 0, RULES)
    assert.deepEqual([fail(), fail(), fail(), fail()], [false, false, false, false])
    recordSuccess(circuit, 'through')
    assert.deepEqual([fail(), fail(), fail(), fail(), fail(), fail()], [false, false, false, false, true, false])
    assert.equal(enter(circuit, 99, RULES), undefined)
  })

  test('lets one probe through at a time; each that fails doubles the pause, up to its most', () => {
    const circuit = openAt(0)
    let now = 0
    for (const pauseMs of [100, 200, 350, 350]) {
      assert.equal(openForMs(circuit, now), pauseMs)
      assert.equal(enter(circuit, now + pauseMs - 1, RULES), undefined)
      now += pauseMs
      assert.deepEqual([enter(circuit, now, RULES), enter(circuit, now, RULES)], ['probe', undefined])
      assert.equal(recordFailure(circuit, 'probe', TROUBLE, now, RULES), false)
    }
    assert.equal(enter(circuit, now + 350, RULES), 'probe')
    assert.equal(recordSuccess(circuit, 'probe'), true)
    assert.deepEqual(circuit, closedCircuit())
  })

  test('lets another probe through after one without a result', () => {
    const circuit = openAt(0)
    assert.equal(enter(circuit, 100, RULES), 'probe')
    recordNothing(circuit, 'probe')
    assert.equal(enter(circuit, 100, RULES), 'probe')
  })

  test('counts as closed after a long time without a call, until the first failure', () => {
    const circuit = openAt(0)
    assert.deepEqual([isOpen(circuit, 450, RULES), isOpen(circuit, 451, RULES)], [true, false])
    assert.deepEqual([enter(circuit, 451, RULES), enter(circuit, 451, RULES)], ['through', 'through'])
    assert.equal(recordFailure(circuit, 'through', TROUBLE, 451, RULES), true)
    assert.equal(openForMs(circuit, 451), 100)
  })

  test('is neither closed nor held open by what was sent before it opened', () => {
    const circuit = openAt(0)
    assert.equal(recordSuccess(circuit, 'through'), false)
    assert.equal(recordFailure(circuit, 'through', TROUBLE, 50, RULES), false)
    assert.equal(openForMs(circuit, 50), 50)
  })

  test('stays open as long as Retry-After asks, up to a minute', () => {
    for (const [retryAfterMs, expect] of [
      [50, 100],
      [7_000, 7_000],
      [86_400_000, 60_000],
    ] as const)
      assert.equal(openForMs(openAt(0, { ...TROUBLE, retryAfterMs }), 0), expect)
  })

  test('whatever happens: is closed only after something went well, and has one probe under way at most', () => {
    const step = fc.record({ afterMs: fc.nat(500), what: fc.constantFrom('well', 'wrong', 'nothing', 'late') })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const circuit = closedCircuit()
        let now = 1
        for (const { afterMs, what } of steps) {
          now += afterMs
          const wasOpen = circuit.probeAt !== 0
          const pass = what === 'late' ? 'through' : enter(circuit, now, RULES)
          if (pass === undefined) {
            assert.ok(wasOpen && now < circuit.probeAt)
            continue
          }
          if (pass === 'probe') assert.equal(enter(circuit, now, RULES), undefined)
          if (what === 'well') recordSuccess(circuit, pass)
          else if (what === 'nothing') recordNothing(circuit, pass)
          else recordFailure(circuit, pass, TROUBLE, now, RULES)
          assert.equal(circuit.probing, false)
          if (circuit.probeAt === 0) assert.ok(!wasOpen || what === 'well' || pass === 'through')
          else assert.ok(openForMs(circuit, now) <= RULES.maxPauseMs)
        }
      }),
    )
  })
})

const circuit = { failures: 3, pauseMs: 60_000, maxPauseMs: 60_000 }
const refused = (status: number, why: RegExp) => (error: unknown) => {
  assert.ok(error instanceof CircuitOpen, String(error))
  assert.equal(error.status, status)
  assert.match(error.message, why)
  assert.ok(error.retryAfterMs > 50_000 && error.retryAfterMs <= 60_000)
  return true
}

describe('an origin', () => {
  const failing = [
    ['answers 503', 503, 503, /last 3 attempts .* failed \(status 503\)/],
    ['answers 502', 502, 502, /status 502/],
    ['closes the connection', 'close', 502, /connection closed before/],
    ['does not answer', 'silence', 504, /no answer in time/],
  ] as const
  for (const [name, answer, status, why] of failing) {
    test(`that ${name} opens the circuit after three failures`, async (t) => {
      let seen = 0
      const upstream = await startHttp(t, (_request, response) => {
        seen += 1
        if (answer === 'close') response.destroy()
        else if (answer !== 'silence') response.writeHead(answer).end()
      })
      const client = startClient(t, { circuit })
      const timeoutMs = answer === 'silence' ? 100 : 60_000
      const call = () => client.send(get(`${upstream.url}/path?q=secret`, { timeoutMs }))
      for (let failed = 0; failed < 3; failed++) await call().catch(() => undefined)
      await assert.rejects(call(), refused(status, why))
      await assert.rejects(call(), refused(status, /^GET http:\/\/127\.0\.0\.1:\d+\/path was not sent: [^?]*$/))
      // What gives up soon may do so before its request arrives.
      if (answer !== 'silence') assert.equal(seen, 3)
      assert.deepEqual(client.health(), { open: [upstream.url], opened: 1, refused: 2, retries: 0, retriesWithheld: 0 })
    })
  }

  test('that answers another status is not', async (t) => {
    for (const status of [400, 429, 500, 501, 599]) {
      const upstream = await startHttp(t, (_request, response) => response.writeHead(status).end())
      const client = startClient(t, { circuit })
      for (let call = 0; call < 5; call++) assert.equal((await client.send(get(upstream.url))).status, status)
      assert.deepEqual(client.health().open, [])
    }
  })

  test('whose answers are too large, or that gets what cannot be sent, is not', async (t) => {
    const upstream = await startHttp(t, (_request, response) => response.end('x'.repeat(100_000)))
    const client = startClient(t, { circuit })
    for (let call = 0; call < 5; call++) {
      await assert.rejects(client.send(get(upstream.url)), { fault: 'too-large' })
      await assert.rejects(client.send(get(upstream.url, { headers: { a: 'b\r\nc' } })), { fault: 'unreachable' })
    }
    assert.deepEqual(client.health().open, [])
  })

  test('that has not answered a call when it is stopped is not, and a stopped probe proves nothing', async (t) => {
    let answer: 'silence' | 503 | 200 = 'silence'
    let seen = 0
    const upstream = await startHttp(t, (_request, response) => {
      seen += 1
      if (answer !== 'silence') response.writeHead(answer).end()
    })
    const client = startClient(t, { circuit: { failures: 3, pauseMs: 1, maxPauseMs: 60_000 } })
    const stopped = async () => {
      const before = seen
      const stopping = new AbortController()
      const ended = assert.rejects(client.send(get(upstream.url, { signal: stopping.signal, patient: true })))
      await until(
        () => seen,
        (count) => count > before,
      )
      stopping.abort()
      await ended
    }
    for (let call = 0; call < 4; call++) await stopped()
    assert.equal(client.health().opened, 0)
    answer = 503
    for (let call = 0; call < 3; call++) await client.send(get(upstream.url))
    answer = 'silence'
    await stopped()
    assert.deepEqual(client.health().open, [upstream.url])
    answer = 200
    assert.equal((await client.send(get(upstream.url, { patient: true }))).status, 200)
  })

  test('whose circuit is open keeps no other origin from being called', async (t) => {
    const failing = await startHttp(t, (_request, response) => response.destroy())
    const fine = await startHttp(t, (_request, response) => response.end('ok'))
    const client = startClient(t, { circuit })
    for (let call = 0; call < 4; call++) await client.send(get(failing.url)).catch(() => undefined)
    await assert.rejects(client.send(get(failing.url)), CircuitOpen)
    assert.equal(text((await client.send(get(fine.url))).body), 'ok')
  })

  test('gets one probe, whose answer closes the circuit, and the log has both changes', async (t) => {
    const lines: [string, object][] = []
    const say = (level: string) => (fields: object) => void lines.push([level, fields])
    let isWell = false
    let seen = 0
    const held: (() => void)[] = []
    const upstream = await startHttp(t, (_request, response) => {
      seen += 1
      if (isWell) held.push(() => response.end('ok'))
      else response.writeHead(502).end()
    })
    const client = startClient(t, {
      circuit: { failures: 3, pauseMs: 1, maxPauseMs: 60_000 },
      logger: { warn: say('warn'), info: say('info') },
    })
    for (let call = 0; call < 3; call++) await client.send(get(upstream.url, { originName: '${env:HOST}' }))
    isWell = true
    let probe: Promise<unknown> | undefined
    while (held.length === 0) {
      // Until the pause is over it is refused, and right after that it waits at the upstream.
      probe = client.send(get(upstream.url))
      await Promise.race([probe.catch(() => undefined), new Promise(setImmediate)])
      await new Promise(setImmediate)
      if (seen === 4) while (held.length === 0) await new Promise(setImmediate)
    }
    await assert.rejects(client.send(get(upstream.url)), CircuitOpen)
    for (const answer of held) answer()
    await probe
    isWell = false
    assert.equal((await client.send(get(upstream.url))).status, 502)
    assert.equal(seen, 5)
    const [opened, closed, ...rest] = lines
    assert.deepEqual(opened, ['warn', { origin: '${env:HOST}', failures: 3, why: 'status 502', pauseMs: 1 }])
    assert.equal(closed?.[0], 'info')
    assert.deepEqual(rest, [])
  })

  test('whose circuit is open is called by a retry that waits for it', async (t) => {
    const statuses = [503, 503, 503, 200]
    const upstream = await startHttp(t, (_request, response) => response.writeHead(statuses.shift() ?? 500).end())
    const client = startClient(t, { circuit: { failures: 2, pauseMs: 20, maxPauseMs: 20 } })
    assert.equal((await client.send(get(upstream.url, { retries: 5 }))).status, 200)
    assert.deepEqual(client.health().open, [])
  })

  test('whose circuit is open is waited for by patient requests', async (t) => {
    let status = 503
    const upstream = await startHttp(t, (_request, response) => response.writeHead(status).end())
    const client = startClient(t, { circuit: { failures: 2, pauseMs: 20, maxPauseMs: 10_000 } })
    for (let failed = 0; failed < 2; failed++) await client.send(get(upstream.url))
    status = 200
    const calls = Array.from({ length: 10 }, () => client.send(get(upstream.url, { patient: true, timeoutMs: 5_000 })))
    await assert.rejects(client.send(get(upstream.url)), CircuitOpen)
    assert.deepEqual(new Set((await Promise.all(calls)).map((answer) => answer.status)), new Set([200]))
    assert.deepEqual(client.health().open, [])
  })

  test('whose circuit is open for longer than the timeout is not waited for', async (t) => {
    const upstream = await startHttp(t, (_request, response) => response.writeHead(503).end())
    const client = startClient(t, { circuit })
    for (let failed = 0; failed < 3; failed++) await client.send(get(upstream.url))
    await assert.rejects(client.send(get(upstream.url, { patient: true, timeoutMs: 5_000 })), CircuitOpen)
  })

  test('whose kept connections were closed while idle is not held to fail', async (t) => {
    const upstream = await startTcp(t, (socket) =>
      onRequests(socket, (index) => {
        if (index === 0) return OK
        socket.destroy()
        return undefined
      }),
    )
    const client = startClient(t, { circuit: { ...circuit, failures: 1 } })
    for (let round = 0; round < 10; round++) {
      await client.send(get(upstream.url, { method: 'POST', body: 'b' })).catch((error) => {
        assert.ok(error instanceof OutboundError && error.fault === 'unreachable', String(error))
      })
      await untilKept()
    }
    assert.equal(client.health().opened, 0)
  })
})

test('of many origins, those that fail are remembered longest', () => {
  const upstreams = new Upstreams({
    connections: createHttpConnections(1_000),
    connectionsPerOrigin: 1,
    answerLimitBytes: 1,
    clock: Date.now,
    circuit,
    maxOrigins: 3,
  })
  const of = (origin: string) => upstreams.of(origin, { ...get(origin), retries: 0 })
  const failing = of('http://failing')
  failing.failures = 4
  for (let other = 0; other < 10; other++) of(`http://${other}`)
  assert.equal(of('http://failing'), failing)
  for (const origin of ['http://8', 'http://9']) of(origin).failures = 1
  of('http://new')
  assert.notEqual(of('http://failing'), failing)
})
