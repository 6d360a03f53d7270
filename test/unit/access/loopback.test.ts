import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isLoopback, notLocal } from '../../../src/access/loopback.ts'

/** As settings and sockets give them. */
const cases: readonly { host: string; loopback: boolean }[] = [
  { host: '127.0.0.1', loopback: true },
  { host: '127.255.0.9', loopback: true },
  { host: '::1', loopback: true },
  { host: '::ffff:127.0.0.1', loopback: true },
  { host: '::FFFF:127.0.0.1', loopback: true },
  { host: 'localhost', loopback: true },
  { host: 'LOCALHOST', loopback: true },
  { host: '[::1]', loopback: true },
  { host: '0.0.0.0', loopback: false },
  { host: '::', loopback: false },
  { host: '10.0.0.1', loopback: false },
  { host: '128.0.0.1', loopback: false },
  { host: '::ffff:10.0.0.1', loopback: false },
  { host: 'fe80::1', loopback: false },
  { host: '::2', loopback: false },
  { host: '127.example.org', loopback: false },
  { host: 'localhost.example.org', loopback: false },
  { host: '', loopback: false },
]

describe('isLoopback', () => {
  for (const { host, loopback } of cases) {
    test(`${JSON.stringify(host)}: ${loopback}`, () => assert.equal(isLoopback(host), loopback))
  }
})

describe('a call', () => {
  const here = { address: '127.0.0.1', host: 'localhost', forwarded: false, ofDocument: false }
  const calls: readonly { name: string; call: Partial<typeof here>; why: RegExp | undefined }[] = [
    { name: 'from this machine', call: {}, why: undefined },
    { name: 'to its address', call: { host: '127.0.0.1' }, why: undefined },
    { name: 'to its address in IPv6', call: { host: '[::1]', address: '::1' }, why: undefined },
    { name: 'from elsewhere', call: { address: '10.1.2.3' }, why: /came from 10\.1\.2\.3/ },
    { name: 'by the name of a page', call: { host: 'rebound.example.org' }, why: /"rebound\.example\.org"/ },
    { name: 'by a name that starts like ours', call: { host: '127.0.0.1.example.org' }, why: /example/ },
    { name: 'by another address', call: { host: '10.0.0.1' }, why: /10\.0\.0\.1/ },
    { name: 'that a proxy passed on', call: { forwarded: true }, why: /proxy/ },
    { name: 'of an endpoint', call: { forwarded: true, ofDocument: true }, why: /an endpoint made/ },
  ]
  for (const { name, call, why } of calls) {
    test(`${name} is ${why === undefined ? '' : 'not '}local`, () => {
      const found = notLocal({ ...here, ...call })
      if (why === undefined) assert.equal(found, undefined)
      else assert.match(found ?? '', why)
    })
  }
  test('that names no host is local', () => {
    assert.equal(notLocal({ ...here, host: undefined }), undefined)
  })
})
