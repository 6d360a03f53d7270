import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { createGuard, isLoopback } from '../../../src/adapters/http-server/guard.ts'
import { createServer } from '../../../src/adapters/http-server/server.ts'
import { answerFailure } from '../../../src/pipeline/reply.ts'

/** As settings and sockets give them. */
const cases: readonly { host: string; loopback: boolean; isAddress: boolean }[] = [
  { host: '127.0.0.1', loopback: true, isAddress: true },
  { host: '127.255.0.9', loopback: true, isAddress: true },
  { host: '::1', loopback: true, isAddress: true },
  { host: '::ffff:127.0.0.1', loopback: true, isAddress: true },
  { host: '::FFFF:127.0.0.1', loopback: true, isAddress: true },
  { host: 'localhost', loopback: true, isAddress: false },
  { host: 'LOCALHOST', loopback: true, isAddress: false },
  { host: '[::1]', loopback: true, isAddress: false },
  { host: '0.0.0.0', loopback: false, isAddress: true },
  { host: '::', loopback: false, isAddress: true },
  { host: '10.0.0.1', loopback: false, isAddress: true },
  { host: '128.0.0.1', loopback: false, isAddress: true },
  { host: '::ffff:10.0.0.1', loopback: false, isAddress: true },
  { host: 'fe80::1', loopback: false, isAddress: true },
  { host: '::2', loopback: false, isAddress: true },
  { host: '127.example.org', loopback: false, isAddress: false },
  { host: 'localhost.example.org', loopback: false, isAddress: false },
  { host: '', loopback: false, isAddress: false },
]

describe('isLoopback', () => {
  for (const { host, loopback } of cases) {
    test(`${JSON.stringify(host)}: ${loopback}`, () => assert.equal(isLoopback(host), loopback))
  }
})

describe('the guard', () => {
  const limits = {
    parserLimitBytes: 100,
    serverHeadersTimeoutMs: 1_000,
    serverRequestTimeoutMs: 1_000,
    serverKeepAliveTimeoutMs: 1_000,
  }
  let server: FastifyInstance
  before(async () => {
    server = createServer(limits, (failure) => answerFailure(failure, 'JSON'))
    for (const setting of [undefined, 'off'] as const) {
      const guard = createGuard(setting)
      server.get(`/${setting}`, async (request) => {
        const refused = guard(request)
        if (refused !== undefined) throw refused
        return 'let in'
      })
    }
    await server.ready()
  })
  after(() => server.close())

  for (const { host: remoteAddress, loopback } of cases.filter(({ isAddress }) => isAddress)) {
    test(`${loopback ? 'lets in' : 'refuses'} ${remoteAddress}, and lets it in where it is off`, async () => {
      const guarded = await server.inject({ url: '/undefined', remoteAddress })
      assert.equal(guarded.statusCode, loopback ? 200 : 403)
      if (!loopback) {
        assert.equal(guarded.json().code, 'MANAGEMENT_REFUSED')
        assert.ok(guarded.json().error.includes(`from ${remoteAddress}. `))
        assert.match(guarded.json().error, /MANAGEMENT_AUTH=off/)
      }
      assert.equal((await server.inject({ url: '/off', remoteAddress })).statusCode, 200)
    })
  }

  const names: readonly { host: string; status: number }[] = [
    { host: 'localhost:3003', status: 200 },
    { host: '127.0.0.1:3003', status: 200 },
    { host: '[::1]:3003', status: 200 },
    { host: 'rebound.example.org', status: 403 },
    { host: '127.0.0.1.example.org:3003', status: 403 },
    { host: '10.0.0.1:3003', status: 403 },
  ]
  for (const { host, status } of names) {
    test(`answers ${status} to a call on this machine by the name ${host}`, async () => {
      const reply = await server.inject({ url: '/undefined', remoteAddress: '127.0.0.1', headers: { host } })
      assert.equal(reply.statusCode, status)
    })
  }
})
