/** Where the requests of documents may go, over the whole service. */
import assert from 'node:assert/strict'
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { endpointDocument, json, startService, startUpstream } from '../../support/service.ts'

type Warning = { path: string; message: string }

test('what settings deny is reported at registration, and answered with 502 before anything is sent', async (t) => {
  const upstream = await startUpstream(() => ({ said: 'fine' }))
  const denied = await startUpstream(() => ({ said: 'denied' }))
  const { port } = new URL(upstream.url)
  const service = await startService({ EGRESS_PRIVATE: 'deny', EGRESS_ALLOW: `127.0.0.1:${port},*` })
  t.after(() => Promise.all([service.stop(), upstream.stop(), denied.stop()]))

  let routes = 0
  const send = async (group: 'lookup' | 'response', config: { url: string; followRedirects?: number }) => {
    routes += 1
    const pattern = `/egress-${routes}`
    const requests = { [group]: { id: 'call', config } }
    const document = endpointDocument({ endpoint: { pattern }, requests })
    const stored = await service.fetch('/endpoints', json('POST', document))
    assert.equal(stored.status, 201, stored.text)
    const warnings: Warning[] = JSON.parse(stored.headers.get('x-crosswalk-warnings') ?? '[]')
    return { warnings, reply: await service.fetch(pattern, json('POST', {})) }
  }

  const fine = await send('lookup', { url: `http://localhost:${port}/` })
  assert.deepEqual([fine.reply.status, fine.warnings], [200, []])

  for (const group of ['lookup', 'response'] as const) {
    for (const host of ['127.0.0.1', '0x7f.1', '[::ffff:127.0.0.1]', '169.254.169.254', 'metadata.google.internal']) {
      const url = `http://${host}:${new URL(denied.url).port}/latest`
      const { reply, warnings } = await send(group, { url })
      assert.equal(reply.status, 502, reply.text)
      const { code, error, path } = reply.json<{ code: string; error: string; path: string }>()
      assert.deepEqual([code, path], ['EGRESS_DENIED', `requests.${group}[0]`])
      assert.match(error, /^The request "call" failed: \w+ http:\S+ is not allowed: /)
      assert.match(warnings[0]?.message ?? '', /^Every call will fail with EGRESS_DENIED/)
      assert.equal(warnings[0]?.path, `requests.${group}[0].config.url`)
    }
    // A name is judged by what it is looked up to.
    const { reply, warnings } = await send(group, { url: denied.url.replace('127.0.0.1', 'localhost') })
    assert.deepEqual([reply.status, reply.json().code, warnings], [502, 'EGRESS_DENIED', []])
  }
  assert.equal(denied.received.length, 0)
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text()
  assert.match(metrics, /fault="denied"/)
})

test('a redirect is never followed to what is denied; what is followed: redirects.test.ts', async (t) => {
  const locations: Record<string, string> = {
    '/metadata': 'http://2852039166/latest/meta-data/',
    '/patients/17': '/patients/metadata',
    '/patients/metadata': 'http://[fe80::1]/patients/17',
  }
  const upstream = await startUpstream(({ url, headers }, response) => {
    if (locations[url] === undefined) return { via: headers.via ?? null }
    response.writeHead(302, { location: locations[url] }).end()
    return undefined
  })
  const service = await startService()
  t.after(() => Promise.all([service.stop(), upstream.stop()]))
  const send = async (path: string, code: string) => {
    const config = { url: `${upstream.url}${path}`, headers: { Via: '1.0 own' }, followRedirects: 3 }
    await service.register({ endpoint: { pattern: path }, requests: { lookup: { id: 'l', config } } })
    const reply = await service.fetch(path, json('POST', {}))
    assert.equal(reply.json().code ?? '', code)
    return reply
  }
  // The calls of documents are told from those of callers on this machine.
  assert.match((await send('/via', '')).text, /"via":"1\.0 own, 1\.1 crosswalk"/)
  await send('/metadata', 'EGRESS_DENIED')
  const deeper = await send('/patients/17', 'EGRESS_DENIED')
  const line = service.log.findLast(({ fields }) => fields.messageId === deeper.json().messageId)
  assert.match(line?.message ?? '', /GET http:\/\/\[fe80::1\] is not allowed/, 'the log reports no path')
})

describe('the service itself', () => {
  const HOSTS = ['127.0.0.1', '127.1', '2130706433', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', hostname()]
  const own = Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => address))

  for (const ADMIN_HOST of ['127.0.0.1', '0.0.0.0']) {
    test(`is not managed by its documents, on ADMIN_HOST ${ADMIN_HOST}, directly or by a redirect`, async (t) => {
      let location = ''
      const upstream = await startUpstream((_request, response) => {
        response.writeHead(307, { location }).end()
        return undefined
      })
      const service = await startService({ ADMIN_HOST, EGRESS_ALLOW: '*,0.0.0.0/0,::/0' })
      t.after(() => Promise.all([service.stop(), upstream.stop()]))
      const { adminPort, messagePort } = service.app
      let routes = 0
      const register = async (group: 'lookup' | 'response', config: JsonObject) => {
        routes += 1
        const pattern = `/own-${routes}`
        await service.register({ endpoint: { pattern }, requests: { [group]: { id: 'call', config } } })
        return async () => {
          const reply = await service.fetch(pattern, json('POST', { name: 'stranger', roles: ['admin'] }))
          return { status: reply.status, ...reply.json<{ code?: string; error?: string }>() }
        }
      }
      const redirected = { url: upstream.url, followRedirects: 2 }
      const byRedirect = [await register('lookup', redirected), await register('response', redirected)]
      const v6 = (host: string) => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host)
      // A name without an address here, or an address of the link, fails as it does anywhere.
      const lacks = async (host: string) =>
        isIP(host) === 0 && (await lookup(host).catch(() => undefined)) === undefined
      for (const host of [...HOSTS, ...own].map(v6)) {
        if (host.startsWith('[fe80:') || (!host.startsWith('[') && (await lacks(host)))) continue
        location = `http://${host}:${adminPort}/keys`
        const direct = await register(routes % 2 === 0 ? 'lookup' : 'response', { url: location })
        for (const send of [direct, ...byRedirect]) {
          const { code, error } = await send()
          assert.equal(code, 'EGRESS_DENIED', `${host} ${error}`)
          assert.match(error ?? '', /it is the admin port of this service/)
        }
      }
      const { keys } = (await (await fetch(`${service.adminUrl}/keys`)).json()) as { keys: unknown[] }
      assert.deepEqual(keys, [])
      // Endpoints call each other, but what manages endpoints is for callers on this machine.
      await service.register({ name: 'called', endpoint: { pattern: '/called' } })
      const base = `http://127.1:${messagePort}`
      const calling = await register('response', { url: `${base}/called` })
      assert.equal((await calling()).status, 200)
      const manage = await register('lookup', { url: `${base}/endpoints` })
      const managing = await manage()
      assert.deepEqual([managing.status, managing.code], [403, 'LOOKUP_REFUSED'])
      assert.match(managing.error ?? '', /an endpoint made the call/)
    })
  }
})
