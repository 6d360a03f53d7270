/** `state.config.commit`: a poll whose results have not all arrived asks for the same ones again. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import fc from '../../support/fast-check.ts'
import { json } from '../../support/service.ts'
import { openPipeline } from './fixture.ts'

/** What the sink does: it takes all, refuses all or one item, breaks the connection off, or refuses within `allowedStatuses`. */
const MOODS = ['takes', 'away', 'refuses', 'refuses one', 'takes 409'] as const
type Mood = (typeof MOODS)[number]

const pipeline = openPipeline({ CIRCUIT_BREAKER_FAILURES: '0' })

/** A source of two new results for each poll, a sink, and an endpoint between them. */
async function open(commit: string | undefined, changes: JsonObject = {}, each = true, optional = false) {
  let mood: Mood = 'takes'
  const delivered: number[] = []
  const source = pipeline.at(({ url }) => {
    const since = Number(new URL(url, 'http://x').searchParams.get('since') ?? 0)
    return { asOf: since + 2, results: [{ n: since + 1 }, { n: since + 2 }] }
  })
  const sink = pipeline.at(({ body }, response) => {
    const { n, results = [{ n }] } = JSON.parse(body) as { n: number; results?: { n: number }[] }
    const isTaken = mood === 'takes' || mood === 'takes 409' || (mood === 'refuses one' && n % 2 === 1)
    if (isTaken) delivered.push(...results.map((one) => one.n))
    if (mood === 'takes 409') response.statusCode = 409
    else if (!isTaken) response.statusCode = 503
    if (mood === 'away') response.destroy()
    return mood === 'away' ? undefined : {}
  })
  const to = { id: 'sink', config: { url: sink }, allowedStatuses: ['2xx', 409], optional }
  const path = await pipeline.register({
    endpoint: { method: 'GET' },
    transformation: { output: 'JSON' },
    requests: {
      lookup: {
        id: 'lab',
        config: { url: source, params: { query: { since: { path: 'state.lookupRequests.lab.asOf' } } } },
      },
      response: each ? { ...to, forEach: { items: 'lookupRequests.lab.data.results', concurrency: 2 } } : to,
    },
    inputMapping: { 'lookupRequests.lab.data.results': 'results' },
    state: {
      extract: { lookupRequests: { lab: { asOf: 'asOf' } } },
      config: commit === undefined ? {} : { commit },
    },
    ...changes,
  })
  return {
    delivered,
    path,
    poll: async (next: Mood) => {
      mood = next
      return (await pipeline.service.fetch(path)).status
    },
  }
}

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)
const sorted = (numbers: readonly number[]): readonly number[] => [...new Set(numbers)].sort((a, b) => a - b)

describe('a poll that keeps its state once everything is delivered', () => {
  for (const each of [true, false]) {
    it(`loses and skips nothing, whatever its sink does; ${each ? 'one call for each result' : 'one call'}`, async () => {
      const moods = fc.array(fc.constantFrom(...MOODS), { maxLength: 8 })
      await fc.assert(
        fc.asyncProperty(moods, async (all) => {
          const { delivered, poll } = await open('delivered', {}, each)
          for (const mood of all) await poll(mood)
          assert.equal(await poll('takes'), 200)
          const taken = 1 + all.filter((mood) => mood.startsWith('takes')).length
          assert.deepEqual(sorted(delivered), upTo(2 * taken))
        }),
        { numRuns: 12 },
      )
    })
  }

  it('asks again for what a sink that was away has not got, where it skips that by default', async () => {
    for (const [commit, got] of [
      ['delivered', [1, 2, 3, 4]],
      ['always', [1, 2, 7, 8]],
      [undefined, [1, 2, 7, 8]],
    ] as const) {
      const { delivered, poll } = await open(commit)
      for (const mood of ['takes', 'refuses', 'away', 'takes'] as const) await poll(mood)
      assert.deepEqual(sorted(delivered), got)
    }
  })

  it('keeps nothing that an optional request did not deliver, and what was delivered before the answer failed', async () => {
    const optional = await open('delivered', {}, true, true)
    const failing = await open('delivered', { answer: { status: { expression: '$fail(500, "No")' } } })
    assert.equal(await failing.poll('takes'), 500)
    assert.equal(await failing.poll('takes'), 500)
    assert.deepEqual(sorted(failing.delivered), upTo(4))
    assert.equal(await optional.poll('refuses'), 200)
    assert.equal(await optional.poll('takes'), 200)
    assert.deepEqual(sorted(optional.delivered), [1, 2])
  })

  it('leaves no state at all of a message that failed, and that of one that sends nothing', async () => {
    const path = await pipeline.register({
      requests: { lookup: { id: 'l', config: { url: `${pipeline.upstream.url}/ok` } } },
      inputTransforms: { t: 'requestBody.a = 0 ? $fail(422, "No") : 1' },
      inputMapping: { state: 'state' },
      state: { extract: { requestBody: { a: 'a' } }, config: { commit: 'delivered' } },
    })
    const stateOf = async (body: Json) => {
      const reply = await pipeline.service.fetch(path, json('POST', body))
      return reply.json<{ state?: { requestBody?: JsonObject; system?: JsonObject } }>().state
    }
    assert.deepEqual(await stateOf({ a: 1 }), {})
    const before = await stateOf({ a: 2 })
    assert.deepEqual(before?.requestBody, { a: 1 })
    assert.equal(await stateOf({ a: 0 }), undefined)
    assert.deepEqual((await stateOf({ a: 3 }))?.requestBody, { a: 2 })
  })

  it('shows no state in a dry run of a message that was not delivered', async () => {
    const endpoint = {
      name: 'tried',
      endpoint: { pattern: '/tried' },
      transformation: { input: 'JSON', output: 'JSON' },
      requests: { response: { id: 'to', config: { url: 'http://127.0.0.1:9/to' } } },
      state: { extract: { requestBody: { a: 'a' } }, config: { commit: 'delivered' } },
    }
    for (const [status, isKept] of [
      [200, true],
      [503, false],
    ] as const) {
      const request = { endpoint, message: { body: { a: 1 } }, responses: { to: { status, body: {} } } }
      const reply = await pipeline.service.fetch('/endpoints/dry-run', json('POST', request))
      assert.equal(reply.json<JsonObject>().state !== undefined, isKept, reply.text)
    }
  })
})
