import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'
import { describeSandboxes } from '../contracts/sandboxes.ts'

describeSandboxes(({ env }) => {
  let service: Service
  let upstream: Upstream
  before(async () => {
    // Only what is about time may depend on how busy the machine is.
    service = await startService({ ...env, EXPRESSION_TIMEOUT_MS: '20000' })
    upstream = await startUpstream(() => ({ id: 7, rows: [{ n: 1 }, { n: 2 }] }))
  })
  after(async () => {
    await service.stop()
    await upstream.stop()
  })

  let routes = 0

  /** Registers an endpoint that answers its transforms, and gives its path. */
  async function registerTransforms(inputTransforms: JsonObject, more: JsonObject = {}): Promise<string> {
    routes += 1
    const pattern = `/transforms-${routes}`
    const lookup = [{ id: 'p', config: { url: upstream.url } }]
    await service.register({
      endpoint: { pattern: `${pattern}/:who` },
      constants: { unit: { name: 'kg', factor: 2 } },
      requests: { lookup },
      inputTransforms,
      inputMapping: { transforms: 'out' },
      ...more,
    })
    return `${pattern}/jane?page=2`
  }

  describe('an expression', () => {
    const cases: { name: string; inputTransforms: JsonObject; expect: JsonObject }[] = [
      {
        name: 'sees the ones before it',
        inputTransforms: { a: '1', b: 'transforms.a + 1', c: 'transforms.(a + b)' },
        expect: { a: 1, b: 2, c: 3 },
      },
      {
        name: 'is evaluated in the order written, whatever its name',
        inputTransforms: { z: '[1, 2]', a: '$sum(transforms.z)' },
        expect: { z: [1, 2], a: 3 },
      },
      { name: 'reads the body', inputTransforms: { a: '$sum(requestBody.lines.n)' }, expect: { a: 3 } },
      {
        name: 'reads a constant that is an object',
        inputTransforms: { a: 'constants.unit' },
        expect: { a: { name: 'kg', factor: 2 } },
      },
      { name: 'reads within a constant', inputTransforms: { a: 'constants.unit.factor * 3' }, expect: { a: 6 } },
      { name: 'reads a header', inputTransforms: { a: 'requestHeaders.`x-sender`' }, expect: { a: 'lab' } },
      { name: 'reads the query', inputTransforms: { a: 'query.page' }, expect: { a: '2' } },
      { name: 'reads a URL parameter', inputTransforms: { a: 'urlParams.who' }, expect: { a: 'jane' } },
      { name: 'reads a lookup', inputTransforms: { a: 'lookupRequests.p.data.rows.n' }, expect: { a: [1, 2] } },
      {
        name: 'reads the timestamps',
        inputTransforms: { a: '$type(timestamps.lookupRequests.p.requestDuration.milliseconds)' },
        expect: { a: 'number' },
      },
      {
        name: 'adds nothing where it finds nothing',
        inputTransforms: { a: 'requestBody.none', b: '1' },
        expect: { b: 1 },
      },
      {
        name: 'may give null, false and an empty text',
        inputTransforms: { a: 'null', b: 'false', c: '""' },
        expect: { a: null, b: false, c: '' },
      },
      {
        name: 'may give the transforms before it',
        inputTransforms: { a: '1', b: 'transforms' },
        expect: { a: 1, b: { a: 1 } },
      },
    ]
    for (const { name, inputTransforms, expect } of cases) {
      it(name, async () => {
        const path = await registerTransforms(inputTransforms)
        const body = { lines: [{ n: 1 }, { n: 2 }] }
        const reply = await service.fetch(path, json('POST', body, { 'X-Sender': 'lab' }))
        assert.equal(reply.status, 200, reply.text)
        assert.deepEqual(reply.json(), { out: expect })
      })
    }

    it('reads the state', async () => {
      const state = { extract: { requestBody: { last: 'n' } } }
      const path = await registerTransforms({ a: 'state.requestBody.last' }, { state })
      await service.fetch(path, json('POST', { n: 41 }))
      const reply = await service.fetch(path, json('POST', {}))
      assert.deepEqual(reply.json(), { out: { a: 41 } })
    })

    it('reports the time of the message, not of the registration', async () => {
      const path = await registerTransforms({ iso: '$now()', ms: '$millis()' })
      for (let message = 0; message < 3; message++) {
        const before = Date.now()
        const { out } = (await service.fetch(path, json('POST', {}))).json<{ out: { iso: string; ms: number } }>()
        const times = [before, out.ms, Date.now()]
        assert.deepEqual(times, times.toSorted())
        assert.ok(Date.parse(out.iso) >= before, `${out.iso} is before the message`)
      }
    })

    it('changes nothing that the mapping sees', async () => {
      const inputTransforms = { a: 'requestBody ~> |$|{"n": 2, "added": true}|', b: '$append(requestBody.list, 3)' }
      const path = await registerTransforms(inputTransforms, {
        inputMapping: { requestBody: 'body', transforms: 'out' },
      })
      const reply = await service.fetch(path, json('POST', { n: 1, list: [1, 2] }))
      assert.deepEqual(reply.json(), {
        body: { n: 1, list: [1, 2] },
        out: { a: { n: 2, added: true, list: [1, 2] }, b: [1, 2, 3] },
      })
    })
  })

  describe('an expression that fails', () => {
    const cases = [
      { name: 'on a value', expression: 'requestBody.secret + 1', says: /number/ },
      { name: 'by its own words', expression: '$error("No weight given")', says: /No weight given/ },
      {
        name: 'on calls that nest too deep',
        expression: '($f := function($n) { 1 + $f($n) }; $f(1))',
        says: /steps under way at once/,
      },
      { name: 'on a list without end', expression: '$count([1..10000000])', says: /list/ },
      { name: 'on a text without end', expression: '$pad("", 100000000)', says: /text/ },
    ]
    for (const { name, expression, says } of cases) {
      it(`is named: ${name}`, async () => {
        const path = await registerTransforms({ fine: '1', a: expression, after: '2' })
        const failing = service.fetch(path, json('POST', { secret: 'hunter2' }))
        const [failed, other] = await Promise.all([failing, service.fetch('/uptime')])
        const { error, ...rest } = failed.json<{ error: string; messageId: string }>()
        assert.equal(failed.status, 500)
        assert.deepEqual(rest, {
          code: 'TRANSFORM_FAILED',
          stage: 'transform',
          path: 'inputTransforms.a',
          messageId: rest.messageId,
        })
        assert.match(error, /"inputTransforms\.a"/)
        assert.match(error, says)
        assert.doesNotMatch(error, /hunter2/)
        assert.equal(other.status, 200)
      })
    }

    it('is named, on endless calls of itself, and leaves other endpoints and the next messages alone', async (test) => {
      const hasty = await startService({ ...env, EXPRESSION_TIMEOUT_MS: '1000' })
      test.after(() => hasty.stop())
      const [endless, simple] = ['/endless', '/simple']
      const inputMapping = { transforms: 'out' }
      const a = 'requestBody.loop ? ($f := function($n) { $f($n + 1) }; $f(1)) : 1'
      await hasty.register({ name: 'endless', endpoint: { pattern: endless }, inputTransforms: { a }, inputMapping })
      const same = { a: 'requestBody.n' }
      await hasty.register({ name: 'simple', endpoint: { pattern: simple }, inputTransforms: same, inputMapping })
      const failing = Array.from({ length: 2 }, () => hasty.fetch(endless, json('POST', { loop: true })))
      const fine = Array.from({ length: 4 }, (_, n) => hasty.fetch(simple, json('POST', { n })))
      const bodies = (await Promise.all(fine)).map((reply) => reply.json())
      assert.deepEqual(
        bodies,
        [0, 1, 2, 3].map((a): JsonObject => ({ out: { a } })),
      )
      for (const reply of await Promise.all(failing)) {
        const { error, path } = reply.json()
        assert.deepEqual([reply.status, path], [500, 'inputTransforms.a'])
        assert.match(String(error), /"inputTransforms\.a".*longer than 1000/)
      }
      const next = await hasty.fetch(endless, json('POST', {}))
      assert.deepEqual(next.json(), { out: { a: 1 } })
    })
  })

  it('mixes no messages of one endpoint', async () => {
    const path = await registerTransforms({
      a: '($own := requestBody.n; $sum($map([1..50], function($i) { $own })))',
      b: 'transforms.a / 50 & ":" & requestBody.n',
    })
    const messages = Array.from({ length: 50 }, (_, n) => n)
    const replies = await Promise.all(messages.map((n) => service.fetch(path, json('POST', { n }))))
    assert.deepEqual(
      replies.map((reply) => reply.json<Json>()),
      messages.map((n) => ({ out: { a: 50 * n, b: `${n}:${n}` } })),
    )
  })

  it('builds a thousand parts side by side', async () => {
    const path = await registerTransforms({ a: '$count($keys(requestBody.rows{$string(id): $sum(n)}))' })
    const rows = Array.from({ length: 1000 }, (_, id) => ({ id, n: [id] }))
    const reply = await service.fetch(path, json('POST', { rows }))
    assert.deepEqual([reply.status, reply.json()], [200, { out: { a: 1000 } }])
  })

  it('end at the deadline of the message, and let others have their turn meanwhile', async (test) => {
    const strict = await startService({ ...env, MESSAGE_TIMEOUT_MS: '2000', EXPRESSION_TIMEOUT_MS: '20000' })
    test.after(() => strict.stop())
    const busy = '$count($map([1..5000], function($n){ $n * 2 }))'
    const inputTransforms = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`t${index}`, busy]))
    await strict.register({ endpoint: { pattern: '/busy' }, inputTransforms })
    let done = false
    const message = strict.fetch('/busy', json('POST', {})).finally(() => {
      done = true
    })
    let turns = 0
    while (!done) {
      assert.equal((await strict.fetch('/uptime')).status, 200)
      if (!done) turns += 1
    }
    const reply = await message
    assert.deepEqual([reply.status, reply.json().code], [504, 'DEADLINE_EXCEEDED'])
    assert.match(String(reply.json().path), /^inputTransforms\.t\d+$/)
    assert.ok(turns > 1, `${turns} other requests were answered meanwhile`)
  })
})
