/**
 * Forbidden addresses in every spelling: nothing may be connected to, whether a request names one, a redirect leads to it or
 * a name server says so. Counted are connections at listeners, and attempts to connect for addresses that no program can listen on.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, isIP, Socket } from 'node:net'
import { after, before, describe, type TestContext, test } from 'node:test'
import { createEgressPolicy, type EgressSettings, type OwnListener } from '../../../../src/core/egress/egress-policy.ts'
import { type HttpClient, OutboundError } from '../../../../src/core/ports/http-client-port.ts'
import type { ResolveAddress } from '../../../../src/outbound/egress-guard.ts'
import { LOOPBACK, METADATA } from './forbidden.ts'
import { get, startClient, startHttp, text, untilKept } from './upstream.ts'

const OPEN: EgressSettings = { egressAllow: [], egressDeny: [], egressPrivate: 'allow' }
const CLOSED: EgressSettings = { ...OPEN, egressPrivate: 'deny' }

/** Of every address of this machine, on one port: what may not be reached. */
let forbiddenPort = 0
let connections = 0
const listeners = ['127.0.0.1', '::1'].map((host) => ({
  host,
  server: createServer((socket) => {
    connections += 1
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nforbidden')
  }),
}))
before(async () => {
  for (const { host, server } of listeners) {
    server.listen(forbiddenPort, host)
    await once(server, 'listening')
    forbiddenPort = (server.address() as AddressInfo).port
  }
})
after(() => {
  for (const { server } of listeners) server.close()
})

/** The addresses that anything in this process starts to connect to while `work` runs; Node.js emits an event for each. */
async function connectsOf(t: TestContext, work: () => Promise<unknown>): Promise<readonly string[]> {
  const emit = t.mock.method(Socket.prototype, 'emit')
  await work()
  await untilKept()
  const events: readonly (readonly unknown[])[] = emit.mock.calls.map((call) => call.arguments)
  emit.mock.restore()
  return events.flatMap(([event, address, port]) => (event === 'connectionAttempt' ? [`${address} ${port}`] : []))
}

const client = (t: TestContext, settings: EgressSettings, resolve?: ResolveAddress, own?: OwnListener): HttpClient =>
  startClient(t, { egress: { policy: createEgressPolicy(settings, own), ...(resolve && { resolve }) } })

/** Rejected before anything was sent: denied, or no URL at all. */
async function assertRefused(sent: Promise<unknown>, denied = true): Promise<void> {
  await assert.rejects(sent, (error) => {
    assert.ok(error instanceof OutboundError)
    const isUrl = error.fault === 'denied' && /is not allowed: /.test(error.message)
    assert.ok(isUrl || (!denied && /not an absolute http or https URL/.test(error.message)), error.message)
    return true
  })
}

test('connections are counted, by http and by https, to addresses and to names', async (t) => {
  const upstream = await startHttp(t, (_request, response) => response.end('fine'))
  const { port } = new URL(upstream.url)
  for (const url of [
    `http://127.0.0.1:${port}`,
    `http://name.example:${port}`,
    `https://127.0.0.2:${port}`,
    `https://name.example:${port}`,
  ]) {
    const sent = () =>
      client(t, OPEN, localhost)
        .send(get(url))
        .catch(() => {})
    assert.deepEqual(
      await connectsOf(t, sent),
      [`${url.includes('127.0.0.2') ? '127.0.0.2' : '127.0.0.1'} ${port}`],
      url,
    )
  }
  const before = connections
  await client(t, OPEN).send(get(`http://127.0.0.1:${forbiddenPort}/`))
  assert.equal(connections, before + 1)
})

const OWN: OwnListener = { port: () => forbiddenPort, addresses: () => ['127.0.0.1', '10.1.2.3', 'fd12::1'] }
const classes: readonly Readonly<{
  name: string
  hosts: readonly string[]
  settings: EgressSettings
  own?: OwnListener
}>[] = [
  { name: 'metadata services and link-local addresses', hosts: METADATA, settings: OPEN },
  { name: 'this machine, with EGRESS_PRIVATE=deny', hosts: LOOPBACK, settings: CLOSED },
  {
    name: 'the own admin port, whatever is allowed',
    hosts: [...LOOPBACK, '10.1.2.3', '0xa010203', '[::ffff:10.1.2.3]', '[fd12:0::1]'],
    settings: { ...OPEN, egressAllow: [{ kind: 'host', pattern: '*', ports: [0, 65_535] }] },
    own: OWN,
  },
]
for (const { name, hosts, settings, own } of classes) {
  describe(name, () => {
    for (const scheme of ['http', 'https']) {
      test(`directly, by ${scheme}`, async (t) => {
        const http = client(t, settings, localhost, own)
        const before = connections
        const connects = await connectsOf(t, async () => {
          for (const host of hosts) {
            const url = `${scheme}://${host}:${forbiddenPort}/latest`
            await assertRefused(http.send(get(url, { retries: 3 })), URL.canParse(url))
          }
        })
        assert.deepEqual(connects, [])
        assert.equal(connections, before)
      })
    }

    test('by a redirect of an upstream that is allowed', async (t) => {
      let location = ''
      const upstream = await startHttp(t, (_request, response) => response.writeHead(307, { location }).end())
      const { port } = new URL(upstream.url)
      // Listening where the policy forbids it, the upstream is allowed by its own address and port.
      const http = client(t, { ...settings, egressAllow: [allowing(Number(port)), ...anyHost] }, localhost, own)
      const before = connections
      const connects = await connectsOf(t, async () => {
        for (const host of hosts) {
          location = `//${inAscii(host)}:${forbiddenPort}/`
          const sent = http.send(get(upstream.url, { redirects: 5 }))
          if (URL.canParse(`http:${location}`)) await assertRefused(sent)
          else assert.equal((await sent).status, 307)
        }
      })
      assert.deepEqual(new Set(connects), new Set([`127.0.0.1 ${port}`]))
      assert.equal(connections, before)
    })
  })
}

/** As an upstream would write it into a header. */
const inAscii = (host: string): string => host.replace(/[^ -~]+/gu, encodeURIComponent)

/** Every name is this machine, whatever the system thinks of it. */
const localhost: ResolveAddress = (_host, _options, callback) => {
  setImmediate(() => callback(null, [{ address: '127.0.0.1', family: 4 }]))
}

const anyHost: EgressSettings['egressAllow'] = [{ kind: 'host', pattern: '*', ports: [0, 65_535] }]

function allowing(port: number): EgressSettings['egressAllow'][number] {
  return { kind: 'range', range: { family: 4, base: 0x7f00_0001n, bits: 32 }, ports: [port, port] }
}

describe('a name server', () => {
  /** What a spelling means, as an address; of a name, what a name server may say of any. */
  const meant = (host: string, otherwise: string): string => {
    const name = URL.parse(`http://${host}/`)?.hostname.replace(/^\[(.*)\]$/, '$1') ?? ''
    return isIP(name) === 0 ? otherwise : name
  }
  const ANSWERS = new Set(METADATA.map((host) => meant(host, '169.254.169.254')))
  const PRIVATE = new Set([...LOOPBACK, '10.0.0.1', '[fd12::1]'].map((host) => meant(host, '127.0.0.1')))
  const answering = (...answers: (readonly string[])[]): ResolveAddress & { asked: number } => {
    const resolve: ResolveAddress & { asked: number } = (_host, _options, callback) => {
      const answer = answers[Math.min(resolve.asked, answers.length - 1)] ?? []
      resolve.asked += 1
      const found = answer.map((address) => ({ address, family: isIP(address) }))
      setImmediate(() => callback(null, found))
    }
    resolve.asked = 0
    return resolve
  }

  for (const [addresses, settings] of [
    [ANSWERS, OPEN],
    [PRIVATE, CLOSED],
  ] as const) {
    test(`that says one of ${addresses.size} forbidden addresses leads nowhere, though it said another one before`, async (t) => {
      const upstream = await startHttp(t, (_request, response) => response.setHeader('connection', 'close').end('fine'))
      const before = connections
      for (const address of addresses) {
        for (const scheme of ['http', 'https']) {
          const isSecond = settings === OPEN
          const resolve = answering(...(isSecond ? [['127.0.0.1']] : []), [address])
          const http = client(t, settings, resolve)
          const { port } = new URL(upstream.url)
          if (isSecond) assert.equal(text((await http.send(get(`http://innocent.example:${port}/`))).body), 'fine')
          const sent = () => http.send(get(`${scheme}://innocent.example:${forbiddenPort}/`, { retries: 2 }))
          assert.deepEqual(await connectsOf(t, () => assertRefused(sent())), [], address)
          assert.equal(resolve.asked, isSecond ? 2 : 1, 'it is not tried again')
        }
      }
      assert.equal(connections, before)
    })
  }

  test('that answers differently each time is asked once a connection, and only what it said then is used', async (t) => {
    const upstream = await startHttp(t, (_request, response) => response.setHeader('connection', 'close').end('public'))
    const { port } = new URL(upstream.url)
    const settings: EgressSettings = {
      ...OPEN,
      egressDeny: [{ kind: 'range', range: { family: 6, base: 1n, bits: 128 }, ports: [0, 65_535] }],
    }
    const resolve = answering(['127.0.0.1'], ['::1'], ['127.0.0.1', '::1'], ['169.254.169.254'], ['::1', '127.0.0.1'])
    const http = client(t, settings, resolve)
    const url = `http://rebinding.example:${port}/`
    const before = connections
    for (const allowed of [true, false, true, false, true]) {
      if (allowed) assert.equal(text((await http.send(get(url))).body), 'public')
      else assert.deepEqual(await connectsOf(t, () => assertRefused(http.send(get(url)))), [])
    }
    assert.equal(resolve.asked, 5)
    assert.equal(connections, before)
    assert.equal(upstream.sockets.length, 3)
  })

  test('is not asked for a name that is denied', async (t) => {
    const resolve = answering(['127.0.0.1'])
    const http = client(t, OPEN, resolve)
    for (const name of ['metadata.google.internal', 'METADATA.google.internal.', 'metadata.goog'])
      await assertRefused(http.send(get(`http://${name}/`)))
    assert.equal(resolve.asked, 0)
  })

  test('that is away is another failure', async (t) => {
    const error = Object.assign(new Error('no'), { code: 'ENOTFOUND' })
    const http = client(t, OPEN, (_host, _options, callback) => setImmediate(() => callback(error, [])))
    await assert.rejects(http.send(get('http://nowhere.example/')), /name not found/)
  })
})

describe('what is allowed', () => {
  test('is reached by its name and its addresses, on its port', async (t) => {
    const upstream = await startHttp(t, (_request, response) => response.end('fine'))
    const { port } = new URL(upstream.url)
    const http = client(t, { ...CLOSED, egressAllow: [allowing(Number(port))] })
    for (const host of ['127.0.0.1', 'localhost', '0x7f.1', '[::ffff:127.0.0.1]', '127.1'])
      assert.equal(text((await http.send(get(`http://${host}:${port}/`))).body), 'fine', host)
    await assertRefused(http.send(get(`http://127.0.0.1:${forbiddenPort}/`)))
    await assertRefused(http.send(get(`http://localhost:${forbiddenPort}/`)))
  })
})
