import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isLoopback, notLocal } from '../../../../src/api/access/loopback.ts'

test('isLoopback, of hosts as settings and sockets give them', () => {
  const loopback = '127.0.0.1 127.255.0.9 ::1 ::ffff:127.0.0.1 ::FFFF:127.0.0.1 localhost LOCALHOST [::1]'
  const others = '0.0.0.0 :: 10.0.0.1 128.0.0.1 ::ffff:10.0.0.1 fe80::1 ::2 127.example.org localhost.example.org'
  for (const host of loopback.split(' ')) assert.equal(isLoopback(host), true, host)
  for (const host of [...others.split(' '), '']) assert.equal(isLoopback(host), false, host)
})

describe('a call', () => {
  const here = { address: '127.0.0.1', host: 'localhost', forwarded: false, ofDocument: false }
  const calls: readonly (readonly [name: string, call: Partial<typeof here>, why?: RegExp])[] = [
    ['from this machine', {}],
    ['to its address', { host: '127.0.0.1' }],
    ['to its address in IPv6', { host: '[::1]', address: '::1' }],
    ['from elsewhere', { address: '10.1.2.3' }, /came from 10\.1\.2\.3/],
    ['by the name of a page', { host: 'rebound.example.org' }, /"rebound\.example\.org"/],
    ['by a name that starts like ours', { host: '127.0.0.1.example.org' }, /example/],
    ['by another address', { host: '10.0.0.1' }, /10\.0\.0\.1/],
    ['that a proxy passed on', { forwarded: true }, /proxy/],
    ['of an endpoint', { forwarded: true, ofDocument: true }, /an endpoint made/],
  ]
  for (const [name, call, why] of calls) {
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
