import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AddressRange, parseRange } from '../../../../src/core/egress/egress-policy.ts'
import { createCoreCallers } from '../../../../src/openhim/core-answers.ts'

const ranges = ['10.1.0.0/16', '192.0.2.7', 'fd00::/8'].map((text) => parseRange(text) as AddressRange)
const isFromCore = createCoreCallers(ranges)
const TRANSACTION = { 'x-openhim-transactionid': '6b03ab43cd304540b3b79a6f' }

const cases = [
  { name: 'a listed address', address: '192.0.2.7', expect: true },
  { name: 'an address of a range', address: '10.1.255.255', expect: true },
  { name: 'an IPv4 address on a socket for IPv6', address: '::ffff:10.1.2.3', expect: true },
  { name: 'an IPv6 address of a range', address: 'fd12::1', expect: true },
  { name: 'an IPv6 address with its zone', address: 'fd12::1%eth0', expect: true },
  { name: 'an address next to a range', address: '10.2.0.0', expect: false },
  { name: 'an authenticated caller from anywhere', address: '203.0.113.9', caller: 'basic ada', expect: true },
  { name: 'a closed socket', address: undefined, expect: false },
  { name: 'an authenticated caller whose socket is closed', address: undefined, caller: 'basic ada', expect: true },
  { name: 'a text that is no address', address: '10.1.0.1, 10.1.0.2', expect: false },
  { name: 'no header', address: '192.0.2.7', caller: 'basic ada', headers: {}, expect: false },
  {
    name: 'an empty header',
    address: '192.0.2.7',
    caller: 'basic ada',
    headers: { 'x-openhim-transactionid': '' },
    expect: false,
  },
  {
    name: 'headers that name a listed address',
    address: '203.0.113.9',
    headers: { ...TRANSACTION, 'x-forwarded-for': '192.0.2.7', forwarded: 'for=192.0.2.7', 'x-real-ip': '192.0.2.7' },
    expect: false,
  },
]

describe('a request is from a core', () => {
  for (const { name, address, caller, headers = TRANSACTION, expect } of cases) {
    test(`${name}: ${expect}`, () => assert.equal(isFromCore({ headers, address, caller }), expect))
  }

  test('never, if no address is listed and the endpoint authenticates no caller', () => {
    const none = createCoreCallers([])
    assert.equal(none({ headers: TRANSACTION, address: '127.0.0.1', caller: undefined }), false)
  })
})
