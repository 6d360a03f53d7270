/**
 * Forbidden addresses that a real name server gives out for a name that was allowed a moment ago. The service asks the system,
 * which cannot be given another name server without changing the machine; so the look-up is handed in, as a real one that asks ours
 * over UDP. Attempts to connect are counted, and connections at a listener.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, isIP, Socket } from 'node:net'
import { test } from 'node:test'
import { createEgressPolicy, type EgressSettings } from '../../../../src/domain/egress/egress-policy.ts'
import { OutboundError } from '../../../../src/domain/ports/http-client-port.ts'
import { LOOPBACK, METADATA } from './forbidden.ts'
import { startNameServer } from './name-server.ts'
import { get, startClient, startHttp, text, untilKept } from './upstream.ts'

/** What a spelling means, as an address; of a name, what a name server may say of any. */
function meant(host: string, otherwise: string): string {
  const url = URL.parse(`http://${host}/`)
  const name = url?.hostname.replace(/^\[(.*)\]$/, '$1') ?? ''
  return isIP(name) === 0 ? otherwise : name
}

const OPEN: EgressSettings = { egressAllow: [], egressDeny: [], egressPrivate: 'allow' }
const PUBLIC_IS_ALLOWED: EgressSettings['egressAllow'] = [
  { kind: 'range', range: { family: 4, base: 0x7f00_0002n, bits: 32 }, ports: [0, 65_535] },
]

for (const { name, hosts, otherwise, settings, allowed } of [
  {
    name: 'a metadata service or a link-local address',
    hosts: METADATA,
    otherwise: '169.254.169.254',
    settings: OPEN,
    allowed: '127.0.0.1',
  },
  {
    name: 'this machine, with EGRESS_PRIVATE=deny',
    hosts: LOOPBACK,
    otherwise: '127.0.0.1',
    settings: { ...OPEN, egressPrivate: 'deny' as const, egressAllow: PUBLIC_IS_ALLOWED },
    allowed: '127.0.0.2',
  },
]) {
  test(`a name whose second look-up says ${name} is not connected to`, async (t) => {
    const addresses = new Map(hosts.map((host, n) => [`n${n}.rebinding.example`, meant(host, otherwise)]))
    const names = await startNameServer(t, (asked, time) => [time === 1 ? allowed : (addresses.get(asked) ?? '')])
    const upstream = await startHttp(t, (_request, response) => response.setHeader('connection', 'close').end('fine'))
    const port = Number(new URL(upstream.url).port)
    const good = allowed === '127.0.0.1' ? upstream : await listenAt(t, allowed, port)
    let connections = 0
    const forbidden = createServer(() => {
      connections += 1
    })
    // With the upstream, where that is not the one that is allowed: every loopback that a name may lead to.
    forbidden.listen(port, '::1')
    await once(forbidden, 'listening')
    t.after(() => forbidden.close())
    const http = startClient(t, { egress: { policy: createEgressPolicy(settings), resolve: names.resolve } })
    const emit = t.mock.method(Socket.prototype, 'emit')
    const attempts = (): readonly string[] => {
      const events: readonly (readonly unknown[])[] = emit.mock.calls.map((call) => call.arguments)
      return events.flatMap(([event, address]) => (event === 'connectionAttempt' ? [String(address)] : []))
    }
    for (const one of addresses.keys()) {
      assert.equal(text((await http.send(get(`http://${one}:${port}/`))).body), 'fine')
      await assert.rejects(http.send(get(`http://${one}:${port}/`, { retries: 2 })), (error) => {
        assert.ok(error instanceof OutboundError)
        assert.equal(error.fault, 'denied', `${one} ${addresses.get(one)} ${error.message}`)
        return true
      })
      assert.equal(names.asked.get(one), 2)
    }
    await untilKept()
    assert.deepEqual(new Set(attempts()), new Set([allowed]))
    assert.equal(attempts().length, hosts.length)
    assert.equal(connections + (good === upstream ? 0 : upstream.sockets.length), 0)
    assert.equal(good.sockets.length, hosts.length)
    assert.ok(hosts.length >= 46)
    t.diagnostic(`${hosts.length} spellings, ${new Set(addresses.values()).size} addresses`)
  })
}

/** The same on another address of this machine. */
async function listenAt(t: Parameters<typeof startHttp>[0], host: string, port: number) {
  const sockets: Socket[] = []
  const { createServer: createHttpServer } = await import('node:http')
  const server = createHttpServer((_request, response) => response.setHeader('connection', 'close').end('fine'))
  server.on('connection', (socket) => sockets.push(socket))
  server.listen(port, host)
  await once(server, 'listening')
  t.after(() => server.close())
  return { sockets, port: (server.address() as AddressInfo).port }
}
