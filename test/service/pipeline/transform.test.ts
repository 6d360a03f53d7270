import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { json, startService } from '../../support/service.ts'
import { describeSandboxes } from '../contracts/sandboxes.ts'
import { openPipeline } from './fixture.ts'

describeSandboxes(({ env }) => {
  // Only what is about time may depend on how busy the machine is.
  const pipeline = openPipeline({ ...env, EXPRESSION_TIMEOUT_MS: '20000' })

  /** Registers an endpoint that answers its transforms, and gives its path. */
  async function register(inputTransforms: JsonObject, more: JsonObject = {}): Promise<string> {
    const url = pipeline.at({ type: 'application/json', body: '{"rows":[{"n":1},{"n":2}]}' })
    const document = {
      constants: { unit: { name: 'kg', factor: 2 } },
      requests: { lookup: [{ id: 'p', config: { url } }] },
      inputTransforms,
      inputMapping: { transforms: 'out' },
    }
    return `${await pipeline.register({ ...document, ...more }, '/:who')}/jane?page=2`
  }
  const send = (path: string, body: Json) => pipeline.service.fetch(path, json('POST', body, { 'X-Sender': 'lab' }))

  it('an expression sees the ones before it, in the order written, and reads every root of the message', async () => {
    const state = { extract: { requestBody: { last: 'n' } } }
    const inputTransforms = {
      z: '1',
      b: 'transforms.z + 1',
      a: 'transforms.(z + b)',
      body: '$sum(requestBody.lines.n)',
      constant: 'constants.unit',
      factor: 'constants.unit.factor * 3',
      header: 'requestHeaders.`x-sender`',
      query: 'query.page',
      url: 'urlParams.who',
      lookup: 'lookupRequests.p.data.rows.n',
      time: '$type(timestamps.lookupRequests.p.requestDuration.milliseconds)',
      state: 'state.requestBody.last',
      nothing: 'requestBody.none',
      null: 'null',
      false: 'false',
      empty: '""',
    }
    const path = await register(inputTransforms, { state })
    await send(path, { n: 41 })
    const reply = await send(path, { lines: [{ n: 1 }, { n: 2 }] })
    const { nothing, ...found } = inputTransforms
    assert.deepEqual(reply.json(), {
      out: {
        ...{ ...found, z: 1, b: 2, a: 3, body: 3, constant: { name: 'kg', factor: 2 }, factor: 6, header: 'lab' },
        ...{ query: '2', url: 'jane', lookup: [1, 2], time: 'number', state: 41, null: null, false: false, empty: '' },
      },
    })
    assert.deepEqual(Object.keys(reply.json().out as JsonObject), Object.keys(found))
  })

  it('may give the transforms before it', async () => {
    assert.deepEqual((await send(await register({ a: '1', b: 'transforms' }), {})).json(), {
      out: { a: 1, b: { a: 1 } },
    })
  })

  it('may read the message as a whole', async () => {
    const { out } = (
      await send(await register({ a: '$exists($$.requestBody.n) and $count($keys($$)) > 3' }), { n: 1 })
    ).json()
    assert.deepEqual(out, { a: true })
  })

  it('an expression reports the time of the message, not of the registration', async () => {
    const path = await register({ iso: '$now()', ms: '$millis()' })
    for (let message = 0; message < 2; message++) {
      const before = Date.now()
      const { out } = (await send(path, {})).json<{ out: { iso: string; ms: number } }>()
      const times = [before, out.ms, Date.now()]
      assert.deepEqual(times, times.toSorted())
      assert.ok(Date.parse(out.iso) >= before, `${out.iso} is before the message`)
    }
  })

  it('an expression changes nothing that the mapping sees', async () => {
    const inputTransforms = { a: 'requestBody ~> |$|{"n": 2, "added": true}|', b: '$append(requestBody.list, 3)' }
    const path = await register(inputTransforms, { inputMapping: { requestBody: 'body', transforms: 'out' } })
    assert.deepEqual((await send(path, { n: 1, list: [1, 2] })).json(), {
      body: { n: 1, list: [1, 2] },
      out: { a: { n: 2, added: true, list: [1, 2] }, b: [1, 2, 3] },
    })
  })

  describe('an expression that fails', () => {
    const cases: [name: string, expression: string, says: RegExp][] = [
      ['on a value', 'requestBody.secret + 1', /number/],
      ['on calls that nest too deep', '($f := function($n) { 1 + $f($n) }; $f(1))', /steps in progress at once/],
      ['on a text without end', '$pad("", 100000000)', /text/],
    ]
    for (const [name, expression, says] of cases) {
      it(`is named: ${name}`, async () => {
        const path = await register({ fine: '1', a: expression, after: '2' })
        const failing = send(path, { secret: 'hunter2' })
        const [failed, other] = await Promise.all([failing, pipeline.service.fetch('/uptime')])
        const { error, messageId, ...rest } = failed.json()
        assert.deepEqual([failed.status, other.status], [500, 200])
        assert.deepEqual(rest, { code: 'TRANSFORM_FAILED', stage: 'transform', path: 'inputTransforms.a' })
        assert.match(String(error), /"inputTransforms\.a"/)
        assert.match(String(error), says)
        assert.doesNotMatch(String(error), /hunter2/)
      })
    }

    it('is named, on endless calls of itself, and leaves other endpoints and the next messages alone', async (test) => {
      const hasty = await startService({ ...env, EXPRESSION_TIMEOUT_MS: '300' })
      test.after(() => hasty.stop())
      const document = (name: string, a: string) => ({
        name,
        endpoint: { pattern: `/${name}` },
        inputTransforms: { a },
        inputMapping: { transforms: 'out' },
      })
      const endless = 'requestBody.loop ? ($f := function($n) { $f($n + 1) }; $f(1)) : 1'
      await hasty.register(document('endless', endless))
      await hasty.register(document('simple', 'requestBody.n'))
      const failing = hasty.fetch('/endless', json('POST', { loop: true }))
      const fine = await Promise.all([0, 1, 2, 3].map((n) => hasty.fetch('/simple', json('POST', { n }))))
      for (const [n, reply] of fine.entries()) assert.deepEqual(reply.json(), { out: { a: n } })
      const { error, path } = (await failing).json()
      assert.deepEqual([(await failing).status, path], [500, 'inputTransforms.a'])
      // The sandbox ends an expression that a busy machine does not let end itself.
      assert.match(String(error), /"inputTransforms\.a".*(?:longer than 300|exceeded its time limit)/)
      const next = await hasty.fetch('/endless', json('POST', {}))
      assert.deepEqual(next.json(), { out: { a: 1 } })
    })
  })

  it('end at the deadline of the message, and let others have their turn meanwhile', async (test) => {
    const strict = await startService({ ...env, MESSAGE_TIMEOUT_MS: '500', EXPRESSION_TIMEOUT_MS: '20000' })
    test.after(() => strict.stop())
    const busy = '$count($map([1..5000], function($n){ $n * 2 }))'
    const inputTransforms = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`t${index}`, busy]))
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
