import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AddressRange, parseRange } from '../../../../src/core/egress/egress-policy.ts'
import { createCoreCallers } from '../../../../src/openhim/core-answers.ts'

const ranges = ['10.1.0.0/16', '192.0.2.7', 'fd00::/8'].map((text) => parseRange(text) as AddressRange)
const isFromCore = createCoreCallers(ranges)
const TRANSACTION = { 'x-openhim-transactionid': '6b03ab43cd304540b3b79a6f' }

type Headers = Readonly<Record<string, string>>
type Case = readonly [
  name: string,
  address: string | undefined,
  expect: boolean,
  caller?: string | undefined,
  headers?: Headers,
]
const cases: readonly Case[] = [
  ['a listed address', '192.0.2.7', true],
  ['an address of a range', '10.1.255.255', true],
  ['an IPv4 address on a socket for IPv6', '::ffff:10.1.2.3', true],
  ['an IPv6 address of a range', 'fd12::1', true],
  ['an IPv6 address with its zone', 'fd12::1%eth0', true],
  ['an address next to a range', '10.2.0.0', false],
  ['an authenticated caller from anywhere', '203.0.113.9', true, 'basic ada'],
  ['a closed socket', undefined, false],
  ['an authenticated caller whose socket is closed', undefined, true, 'basic ada'],
  ['a text that is no address', '10.1.0.1, 10.1.0.2', false],
  ['no header', '192.0.2.7', false, 'basic ada', {}],
  ['an empty header', '192.0.2.7', false, 'basic ada', { 'x-openhim-transactionid': '' }],
  [
    'headers that name a listed address',
    '203.0.113.9',
    false,
    undefined,
    { ...TRANSACTION, 'x-forwarded-for': '192.0.2.7', forwarded: 'for=192.0.2.7', 'x-real-ip': '192.0.2.7' },
  ],
]

describe('a request is from a core', () => {
  for (const [name, address, expect, caller, headers = TRANSACTION] of cases) {
    test(`${name}: ${expect}`, () => assert.equal(isFromCore({ headers, address, caller }), expect))
  }

  test('never, if no address is listed and the endpoint authenticates no caller', () => {
    const none = createCoreCallers([])
    assert.equal(none({ headers: TRANSACTION, address: '127.0.0.1', caller: undefined }), false)
  })
})
