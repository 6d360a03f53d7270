/** Lookups that read others, with the service and a real upstream, in either place that expressions run. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Reply } from '../../support/service.ts'
import { failureOf, openPipeline } from './fixture.ts'

for (const ISOLATION of ['none', 'process']) {
  const pipeline = openPipeline({ ISOLATION })

  const lookup = (id: string, path: string, more: JsonObject = {}, config: JsonObject = {}): JsonObject => ({
    id,
    config: { url: `${pipeline.upstream.url}${path}`, ...config },
    ...more,
  })
  const reading = (id: string, expression: string, path = `/${id}`, more: JsonObject = {}) =>
    lookup(id, path, more, { params: { query: { q: { expression } } } })

  async function send(lookups: readonly Json[], document: JsonObject = {}, body: Json = {}) {
    let reply = {} as Reply
    const received = await pipeline.receivedIn(async () => {
      reply = await pipeline.send({ requests: { lookup: lookups }, ...document }, body)
    })
    return { reply, urls: received.map(({ url }) => url) }
  }

  describe(`lookups that read others, ISOLATION=${ISOLATION}`, () => {
    it('are made after these, in whatever order the document has', async () => {
      const byPath = lookup('c', '/c/:m', {}, { params: { url: { m: { path: 'lookupRequests.b.data.method' } } } })
      const { reply, urls } = await send([byPath, reading('b', 'lookupRequests.a.data.url & "!"'), lookup('a', '/a')])
      assert.deepEqual(urls, ['/a', '/b?q=%2Fa!', '/c/GET'])
      assert.deepEqual(Object.keys(reply.json().lookupRequests as JsonObject), ['c', 'b', 'a'])
    })

    it('are made for each item that an earlier one found', async () => {
      const list = lookup(
        'list',
        pathOf(async () => ({ ids: ['x', 'y'] })),
      )
      const each = lookup(
        'each',
        '/i/:id',
        { forEach: { items: 'lookupRequests.list.data.ids' } },
        {
          params: { url: { id: { path: 'item' } } },
        },
      )
      const count = reading('count', '$count(lookupRequests.each[status = 200])')
      const { urls } = await send([each, list, count])
      assert.deepEqual(urls.slice(1), ['/i/x', '/i/y', '/count?q=2'])
    })

    it('blame the other system if it gave no list to go over', async () => {
      const each = (items: string) => lookup('each', '/i', { forEach: { items } })
      const ofLookup = await send([lookup('a', '/a'), each('lookupRequests.a.data.none')])
      assert.deepEqual(failureOf(ofLookup.reply).slice(0, 2), [502, 'FOREACH_INVALID'])
      const ofMessage = await send([lookup('a', '/a'), each('payload.none')])
      assert.deepEqual(failureOf(ofMessage.reply).slice(0, 2), [400, 'FOREACH_INVALID'])
    })

    it('do not wait for others', async () => {
      const asked: string[] = []
      const release = Promise.withResolvers<void>()
      const path = (id: string, wait?: Promise<void>) =>
        pathOf(async () => {
          asked.push(id)
          await wait
          return {}
        })
      const slow = lookup('slow', path('slow', release.promise))
      const last = lookup('last', path('last'), { after: ['next'] })
      const next = lookup('next', path('next'), { after: ['quick'] })
      const quick = lookup('quick', path('quick'))
      const sent = send([slow, last, next, quick])
      while (!asked.includes('last')) await sleep(1)
      release.resolve()
      assert.equal((await sent).reply.status, 200)
      assert.deepEqual(
        asked.filter((id) => id !== 'slow'),
        ['quick', 'next', 'last'],
      )
    })

    it('find nothing of an optional one that failed, but its status', async () => {
      const fails = lookup('a', '/404', { optional: true })
      const { reply, urls } = await send([
        fails,
        reading('b', '$exists(lookupRequests.a.data) ? 1 : lookupRequests.a.status'),
      ])
      assert.deepEqual([reply.status, urls], [200, ['/404', '/b?q=404']])
    })

    it('are not made if one fails, while those under way are awaited', async () => {
      let isDone = false
      const slow = lookup(
        'slow',
        pathOf(async () => {
          await sleep(50)
          isDone = true
          return {}
        }),
      )
      const { reply, urls } = await send([lookup('c', '/c', { after: ['b', 'slow'] }), lookup('b', '/418', {}), slow])
      assert.deepEqual(failureOf(reply), [418, 'LOOKUP_REFUSED', 'lookup', 'requests.lookup[1]'])
      assert.ok(isDone)
      assert.equal(urls.length, 2)
    })

    it('fail with the first failure in the order of the document', async () => {
      const { reply } = await send([lookup('x', '/x', { after: ['a'] }), lookup('a', '/404'), lookup('b', '/418')])
      assert.deepEqual(failureOf(reply), [404, 'LOOKUP_REFUSED', 'lookup', 'requests.lookup[1]'])
    })

    it('are built before anything is sent, if they read none', async () => {
      const wrong = lookup('b', '/b/:x', {}, { params: { url: { x: { path: 'payload.missing' } } } })
      const { reply, urls } = await send([reading('c', 'lookupRequests.a.data.url'), lookup('a', '/a'), wrong])
      assert.deepEqual(
        [...failureOf(reply), urls.length],
        [400, 'PARAMETER_INVALID', 'lookup', 'requests.lookup[2].config.params.url.x', 0],
      )
    })

    it('are built when what they read is there, and blame no sender for what an answer lacks', async () => {
      const failing = async (x: JsonObject, request: 'lookup' | 'response' = 'lookup') => {
        const wrong = lookup('b', '/b/:x', {}, { params: { url: { x } } })
        const lookups = [lookup('a', '/a'), ...(request === 'lookup' ? [wrong] : [])]
        const { reply, urls } = await send(
          lookups,
          request === 'response' ? { requests: { lookup: lookups, response: [wrong] } } : {},
        )
        const [status, code, , path] = failureOf(reply)
        assert.deepEqual(
          [code, String(path).replace(/\d/, 'n'), urls],
          ['PARAMETER_INVALID', `requests.${request}[n].config.params.url.x`, ['/a']],
        )
        return [status, String(reply.json().error)]
      }
      const missing = 'lookupRequests.a.data.missing'
      const found = `"${missing}" found nothing for the URL's :x`
      assert.deepEqual(await failing({ path: missing }), [502, `${found}: the lookup "a" did not give it.`])
      assert.deepEqual(await failing({ expression: missing }), [502, `${found}: the lookup "a" did not give it.`])
      assert.deepEqual(await failing({ path: missing }, 'response'), [400, `${found}.`])
      const either = `${missing}[id = $$.requestBody.id]`
      assert.deepEqual(await failing({ expression: either }), [400, `"${either}" found nothing for the URL's :x.`])
    })
  })

  describe(`the status of a lookup, ISOLATION=${ISOLATION}`, () => {
    const one = () => lookup('one', '/203')

    it('is read by mappings, transforms and keys of the message', async () => {
      const inputMapping = { 'lookupRequests.one.status': 'path', 'transforms.a': 'expression' }
      const inputTransforms = { a: 'lookupRequests.one.status + 1' }
      const { reply } = await send([one()], {
        inputMapping,
        inputTransforms,
        messageKeys: { s: 'lookupRequests.one.status' },
      })
      assert.deepEqual(reply.json(), { path: 203, expression: 204 })
    })

    it('is no part of the output without a mapping', async () => {
      const document = { messageKeys: { s: 'lookupRequests.one.status' } }
      const names = (reply: Reply) => Object.keys((reply.json().lookupRequests as { one: JsonObject }).one)
      assert.deepEqual(names((await send([one()], document)).reply), ['data', 'headers'])
      assert.deepEqual(names((await send([one()])).reply), ['data', 'headers'])
    })
  })

  function pathOf(answer: () => Promise<Json>): string {
    return new URL(pipeline.at(answer)).pathname
  }
}
