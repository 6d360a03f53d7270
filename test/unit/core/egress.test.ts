import assert from 'node:assert/strict'
import { isIPv4, isIPv6 } from 'node:net'
import { describe, test } from 'node:test'
import {
  createEgressPolicy,
  type EgressRule,
  namesHost,
  parseAddress,
  parseEgressRule,
} from '../../../src/core/egress/egress-policy.ts'
import fc from '../../support/fast-check.ts'

const rule = (text: string): EgressRule => parseEgressRule(text) ?? assert.fail(`${text} is no rule`)

const policy = (settings: { allow?: string[]; deny?: string[]; private?: 'deny' }) =>
  createEgressPolicy({
    egressAllow: (settings.allow ?? []).map(rule),
    egressDeny: (settings.deny ?? []).map(rule),
    egressPrivate: settings.private ?? 'allow',
  })

describe('an address', () => {
  test('is read as node:net reads it, or not at all', () => {
    const part = fc.oneof(fc.ipV4(), fc.ipV6(), fc.string({ unit: fc.constantFrom(...'0123456789abcdef:.') }))
    fc.assert(
      fc.property(part, (text) => {
        assert.equal(parseAddress(text)?.family, isIPv4(text) ? 4 : isIPv6(text) ? 6 : undefined)
      }),
    )
  })

  test('is the same however it is written', () => {
    for (const text of ['::ffff:169.254.169.254', '::FFFF:A9FE:A9FE', '0:0:0:0:0:ffff:a9fe:a9fe'])
      assert.equal(parseAddress(text)?.value, 0xffff_a9fe_a9fen)
  })
})

describe('what is denied always', () => {
  const open = policy({ allow: ['*', '0.0.0.0/0', '::/0'] })
  const cases = (
    '169.254.169.254 169.254.0.1 169.254.170.2 100.100.100.200 168.63.129.16 192.0.0.192 [fd00:ec2::254] ' +
    '[fd00:ec2::23] [fd20:ce::254] [fe80::1] [febf::1] metadata.google.internal Metadata.Google.Internal. ' +
    'metadata.goog instance-data.ec2.internal [::ffff:169.254.169.254] [::ffff:6464:64c8] [::a9fe:a9fe] ' +
    '[::ffff:0:a9fe:a9fe] [64:ff9b::a9fe:a9fe] [64:ff9b:1::a9fe:a9fe] [64:ff9b:1:a9fe:a9:fe00::] ' +
    '[64:ff9b:1:a9:fe:a9fe::] [64:ff9b:1:0:a9:fea9:fe00:0] [2002:a9fe:a9fe::1] [2001:0:a9fe:a9fe::] ' +
    '[2001:0:1:2:3:4:5601:5601] [2001:4860::5efe:a9fe:a9fe] [2001:4860::200:5efe:a9fe:a9fe]'
  ).split(' ')
  for (const host of cases) {
    test(host, () => assert.match(open.refusal(host, 80) ?? '', /link-local/))
  }

  test('is denied as the address of any name', () => {
    for (const address of ['169.254.169.254', 'fe80::1%eth0', '::ffff:169.254.1.1', 'not an address'])
      assert.match(open.addressRefusal('example.org', address, 443) ?? '', /link-local/)
  })

  test('is not more than that', () => {
    for (const host of '169.253.255.255 169.255.0.0 100.100.100.201 [fec0::1] [fd01:ec2::254] metadata'.split(' '))
      assert.equal(policy({}).refusal(host, 80), undefined, host)
  })
})

test('a forbidden IPv4 address is refused however its numbers are written and grouped', () => {
  const base = fc.constantFrom(
    (n: number) => `${n}`,
    (n: number) => `0${n.toString(8)}`,
    (n: number) => `0x${n.toString(16)}`,
    (n: number) => `0X00${n.toString(16).toUpperCase()}`,
  )
  const byte = fc.integer({ min: 0, max: 255 })
  fc.assert(
    fc.property(
      byte,
      byte,
      fc.integer({ min: 1, max: 4 }),
      fc.array(base, { minLength: 4, maxLength: 4 }),
      (c, d, parts, write) => {
        const bytes = [169, 254, c, d]
        const last = bytes.slice(parts - 1).reduce((value, one) => value * 256 + one, 0)
        const numbers = [...bytes.slice(0, parts - 1), last]
        const { hostname } = new URL(`http://${numbers.map((number, index) => write[index]?.(number)).join('.')}/`)
        assert.match(policy({}).refusal(hostname, 80) ?? '', /link-local/)
        const [high, low] = [0xa9fe, c * 256 + d].map((half) => half.toString(16))
        for (const prefix of ['::', '::ffff:', '64:ff9b::'])
          assert.match(policy({}).refusal(new URL(`http://[${prefix}${high}:${low}]`).hostname, 80) ?? '', /link-local/)
      },
    ),
  )
})

describe('EGRESS_PRIVATE=deny', () => {
  const closed = policy({ private: 'deny' })
  const denied = (
    '0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 172.31.0.1 192.168.1.1 198.19.0.1 224.0.0.1 255.255.255.255 [::] [::1] ' +
    '[fd12::1] [fec0::1] [::ffff:10.0.0.1] [64:ff9b::a00:1] [2002:7f00:1::]'
  ).split(' ')
  for (const host of denied) {
    test(`denies ${host}`, () => assert.match(closed.refusal(host, 80) ?? '', /^EGRESS_PRIVATE/))
  }
  for (const host of ['1.1.1.1', '172.32.0.1', '[2606:4700::1]', '[64:ff9b::101:101]', 'example.org']) {
    test(`allows ${host}`, () => assert.equal(closed.refusal(host, 80), undefined))
  }

  test('gives way to a range that is allowed, and not to a name', () => {
    const { refusal, addressRefusal } = policy({ private: 'deny', allow: ['10.1.0.0/16:8080', '*'] })
    assert.equal(refusal('10.1.2.3', 8080), undefined)
    assert.match(refusal('10.1.2.3', 80) ?? '', /^EGRESS_PRIVATE/)
    assert.match(refusal('10.2.0.1', 8080) ?? '', /^EGRESS_PRIVATE/)
    assert.equal(addressRefusal('app.example.org', '10.1.2.3', 8080), undefined)
    assert.match(addressRefusal('app.example.org', '10.2.0.1', 8080) ?? '', /^EGRESS_PRIVATE/)
    assert.equal(addressRefusal('app.example.org', '1.1.1.1', 80), undefined)
  })
})

describe('EGRESS_DENY', () => {
  const cases: { deny: string; host: string; port?: number; denied: boolean }[] = [
    { deny: 'example.org', host: 'example.org', denied: true },
    { deny: 'example.org', host: 'EXAMPLE.org.', denied: true },
    { deny: 'example.org', host: 'a.example.org', denied: false },
    { deny: '*.example.org', host: 'a.b.example.org', denied: true },
    { deny: '*.example.org', host: 'example.org', denied: false },
    { deny: '*.example.org', host: 'badexample.org', denied: false },
    { deny: '*.bücher.example', host: 'a.xn--bcher-kva.example', denied: true },
    { deny: '*:25', host: 'example.org', port: 25, denied: true },
    { deny: '*:25', host: '1.1.1.1', port: 25, denied: true },
    { deny: '*:25', host: 'example.org', port: 80, denied: false },
    { deny: '*:8000-8099', host: 'example.org', port: 8099, denied: true },
    { deny: '10.0.0.0/8', host: '10.255.0.1', denied: true },
    { deny: '10.0.0.0/8', host: '[::ffff:10.0.0.1]', denied: true },
    { deny: '::ffff:10.0.0.0/104', host: '10.0.0.1', denied: true },
    { deny: '10.0.0.0/8', host: '[2002:a00:1::]', denied: true },
    { deny: '10.0.0.0/8', host: '11.0.0.0', denied: false },
    { deny: '[2001:db8::/32]:443', host: '[2001:db8::1]', port: 443, denied: true },
    { deny: '[2001:db8::/32]:443', host: '[2001:db8::1]', port: 80, denied: false },
    { deny: '2001:db8::/32', host: '[2001:db8::1]', denied: true },
    { deny: '127.0.0.0/8', host: '0.0.0.0', denied: true },
    { deny: '127.0.0.0/8', host: '[::]', denied: true },
  ]
  for (const { deny, host, port = 80, denied } of cases) {
    test(`${deny} ${denied ? 'denies' : 'allows'} ${host}:${port}`, () => {
      const { refusal } = policy({ deny: [deny], allow: ['*', '0.0.0.0/0', '::/0'] })
      assert.equal(refusal(host, port), denied ? 'EGRESS_DENY denies it' : undefined)
    })
  }

  test('holds for the addresses of names', () => {
    const { addressRefusal } = policy({ deny: ['10.0.0.0/8'] })
    assert.equal(addressRefusal('example.org', '10.0.0.1', 80), 'EGRESS_DENY denies it')
    assert.equal(addressRefusal('example.org', '1.1.1.1', 80), undefined)
  })
})

describe('EGRESS_ALLOW', () => {
  const { refusal, addressRefusal } = policy({ allow: ['api.example.org:443', '192.0.2.0/24'] })
  test('allows what it names', () => {
    assert.equal(refusal('api.example.org', 443), undefined)
    assert.equal(addressRefusal('api.example.org', '1.1.1.1', 443), undefined)
    assert.equal(refusal('192.0.2.7', 80), undefined)
    assert.equal(addressRefusal('other.example.org', '192.0.2.7', 80), undefined)
  })
  test('denies everything else', () => {
    for (const [host, port] of [
      ['1.1.1.1', 443],
      ['[2606:4700::1]', 443],
    ] as const)
      assert.equal(refusal(host, port), 'EGRESS_ALLOW does not name it')
    assert.equal(addressRefusal('api.example.org', '1.1.1.1', 80), 'EGRESS_ALLOW does not name it')
    assert.equal(addressRefusal('other.example.org', '1.1.1.1', 443), 'EGRESS_ALLOW does not name it')
  })
  test('of hosts alone spares the look-up of others', () => {
    assert.equal(policy({ allow: ['api.example.org'] }).refusal('b.example.org', 80), 'EGRESS_ALLOW does not name it')
  })
})

describe('a rule', () => {
  const wrong = ['', 'a b', ...':25 http://a a/b a:0 a:65536 a:90-80 10.0.0.0/33 0x7f.1 127.1 [a]'.split(' ')]
  for (const text of wrong) {
    test(`is not ${JSON.stringify(text)}`, () => assert.equal(parseEgressRule(text), undefined))
  }
  test('is read, or not, whatever the text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseEgressRule(text)))
  })
})

test('rules name a host as it is written in a URL, whatever its addresses', () => {
  const named = (texts: string[], host: string, port: number) => namesHost(texts.map(rule), host, port)
  assert.equal(named([], 'lab.example.org', 2575), false)
  assert.equal(named(['*.example.org'], 'LAB.example.org', 2575), true)
  assert.equal(named(['lab.example.org:2576'], 'lab.example.org', 2575), false)
  assert.equal(named(['10.0.0.0/8'], 'lab.example.org', 2575), false)
  assert.equal(named(['10.0.0.0/8'], '10.1.2.3', 2575), true)
  assert.equal(named(['::1'], '[::1]', 2575), true)
})
