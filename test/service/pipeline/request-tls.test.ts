/** Certificates of requests: those of an authority and a client that the test makes. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import type { JsonObject } from '../../../src/core/json.ts'
import { createHttpClient } from '../../../src/outbound/http/http-client.ts'
import { endpointDocument, json, type Service, startService } from '../../support/service.ts'
import { failureOf } from './fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'request-tls-'))
const path = (name: string) => join(folder, `${name}.pem`)
const file = (name: string) => `\${file:${path(name)}}`
const read = (name: string) => readFileSync(path(name), 'utf8')

/** Makes `<name>.pem` and `<name>-key.pem`, signed by the authority of that name or by itself. */
function makeCertificate(name: string, authority?: string): void {
  const out = ['-keyout', path(`${name}-key`), '-out', path(name)]
  const subject = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  const signed =
    authority === undefined
      ? []
      : ['-CA', path(authority), '-CAkey', path(`${authority}-key`), '-addext', 'basicConstraints=critical,CA:FALSE']
  const names = authority === undefined ? [] : ['-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', [...subject, '-subj', `/CN=${name}`, ...signed, ...names, ...out], { stdio: 'ignore' })
}

let service: Service
before(async () => {
  makeCertificate('authority')
  makeCertificate('stranger')
  makeCertificate('server', 'authority')
  makeCertificate('client', 'authority')
  makeCertificate('other', 'authority')
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:1024', '-nodes', '-days', '2', '-subj', '/CN=weak'],
      ...['-keyout', path('weak-key'), '-out', path('weak')],
    ],
    { stdio: 'ignore' },
  )
  const noCertificate = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
  writeFileSync(path('half'), read('client') + noCertificate)
  writeFileSync(path('broken'), 's3cret no PEM')
  service = await startService({ SECRETS_ALLOW: folder, MESSAGE_LOG: 'off' })
})
after(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

const clientOf = (request: IncomingMessage): string =>
  (request.socket as TLSSocket).getPeerCertificate()?.subject?.CN?.toString() ?? ''

/** A server that says which client it sees; `seen` has it for each request, `connections` counts those. */
async function listen(t: TestContext, options: ServerOptions = {}, answer?: (response: ServerResponse) => void) {
  const seen: string[] = []
  let connections = 0
  const own = {
    cert: read('server'),
    key: read('server-key'),
    ca: read('authority'),
    requestCert: true,
    rejectUnauthorized: false,
    ...options,
  }
  const server = createServer(own, (request, response) => {
    seen.push(clientOf(request))
    if (answer !== undefined) answer(response)
    else response.setHeader('content-type', 'application/json').end(JSON.stringify({ client: clientOf(request) }))
  })
  server.on('secureConnection', () => {
    connections += 1
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    get connections() {
      return connections
    },
  }
}

let made = 0
/** Registers the document with a request, and gives its warnings and what its messages are answered. */
async function register(url: string, tls: JsonObject, config: JsonObject = {}) {
  made += 1
  const pattern = `/tls-${made}`
  const requests = { lookup: { id: 'one', config: { url, auth: { tls }, ...config } } }
  const document = endpointDocument({ endpoint: { pattern }, requests })
  const registered = await service.fetch('/endpoints', json('POST', document))
  return {
    status: registered.status,
    faults:
      registered.status === 201
        ? (JSON.parse(registered.headers.get('x-crosswalk-warnings') ?? '[]') as { path: string; message: string }[])
        : registered.json<{ details: { path: string; message: string }[] }>().details,
    send: () => service.fetch(pattern, json('POST', {})),
  }
}

const AT = 'requests.lookup[0].config.auth.tls'
const mutual = (name = 'client') => ({ ca: file('authority'), cert: file(name), key: file(`${name}-key`) })

describe('certificates of a request', () => {
  test('are shown to a server that asks for one, and its own is checked against "ca"', async (t) => {
    const server = await listen(t, { rejectUnauthorized: true })
    const { faults, send } = await register(server.url, mutual())
    assert.deepEqual(faults, [])
    for (const _ of [1, 2]) assert.equal((await send()).status, 200)
    assert.deepEqual([server.seen, server.connections], [['client', 'client'], 1])
  })

  test('have connections of their own, also at one origin', async (t) => {
    const server = await listen(t)
    const [one, two, none] = await Promise.all([
      register(server.url, mutual()),
      register(server.url, mutual('other')),
      register(server.url, { ca: file('authority') }),
    ])
    for (const { send } of [one, two, none, one, two, none]) assert.equal((await send()).status, 200)
    assert.deepEqual(server.seen, ['client', 'other', '', 'client', 'other', ''])
    assert.equal(server.connections, 3)
  })

  test('that do not fit are a failure of that document alone, which says so', async (t) => {
    const server = await listen(t, { rejectUnauthorized: true })
    const fails: readonly JsonObject[] = [
      { ca: file('stranger') },
      { ...mutual(), ca: file('stranger') },
      { ca: file('authority') },
    ]
    for (const tls of fails) {
      const { send } = await register(server.url, tls)
      // Often enough to open a circuit.
      for (let message = 0; message < 5; message++) {
        const reply = await send()
        assert.deepEqual(failureOf(reply), [502, 'LOOKUP_UNREACHABLE', 'lookup', 'requests.lookup[0]'])
        assert.match(String(reply.json().error), /no secure connection|connection reset|connection closed/)
      }
    }
    assert.equal((await (await register(server.url, mutual())).send()).status, 200)
  })

  test('are not shown to where a redirect leads, and are new when their files are', async (t) => {
    const elsewhere = await listen(t)
    const server = await listen(t, {}, (response) => response.writeHead(302, { location: `${elsewhere.url}/` }).end())
    const { send } = await register(server.url, mutual(), { followRedirects: 1 })
    const reply = await send()
    // Without the authority, the other server is a stranger.
    assert.deepEqual([reply.status, server.seen, elsewhere.seen], [502, ['client'], []])
    const trusting = createHttpClient({ connectTimeoutMs: 1_000, answerLimitBytes: 1_000, acceptAnyCertificate: true })
    t.after(() => trusting.close())
    const tls = { cert: read('client'), key: read('client-key') }
    const request = { method: 'GET', url: server.url, headers: {}, timeoutMs: 1_000, retries: 0, redirects: 1, tls }
    assert.equal((await trusting.send(request)).status, 200)
    assert.deepEqual([server.seen, elsewhere.seen], [['client', 'client'], ['']])

    const changing = await listen(t)
    writeFileSync(path('changing'), read('client'))
    writeFileSync(path('changing-key'), read('client-key'))
    const changed = await register(changing.url, mutual('changing'))
    await changed.send()
    writeFileSync(path('changing'), read('other'))
    writeFileSync(path('changing-key'), read('other-key'))
    await changed.send()
    assert.deepEqual(changing.seen, ['client', 'other'])
  })

  test('have connections of their own for the hundred used last; what is under way on others is answered', async (t) => {
    const held = Promise.withResolvers<void>()
    let isFirst = true
    const server = await listen(t, {}, async (response) => {
      const waits = isFirst
      isFirst = false
      if (waits) await held.promise
      response.end('{}')
    })
    const client = createHttpClient({ connectTimeoutMs: 2_000, answerLimitBytes: 1_000 })
    t.after(() => client.close())
    const send = (number: number) => {
      const tls = { ca: `${read('authority')}\n# ${number}` }
      return client.send({ method: 'GET', url: server.url, headers: {}, timeoutMs: 5_000, retries: 0, tls })
    }
    const first = send(0)
    for (let number = 1; number <= 100; number++) await send(number)
    held.resolve()
    assert.equal((await first).status, 200)
    await send(100)
    assert.equal(server.connections, 101)
    await send(0)
    assert.equal(server.connections, 102)
  })

  test('that cannot be read are a warning, and a failure before anything is sent', async (t) => {
    const server = await listen(t)
    const cases: readonly (readonly [tls: JsonObject, field: string, says: RegExp])[] = [
      [{ ca: file('broken') }, 'ca', /"ca"( of its "tls")? holds no certificate in PEM form/],
      [{ ...mutual(), cert: file('broken') }, 'cert', /"cert"( of its "tls")? holds no certificate/],
      [{ ...mutual(), key: file('broken') }, 'key', /"key"( of its "tls")? holds no private key/],
      [mutual('weak'), 'cert', /"cert"( of its "tls")? cannot be used for a connection: ee key too small/],
      [{ ...mutual(), cert: file('half') }, 'cert', /"cert"( of its "tls")? cannot be used for a connection: /],
      [{ ...mutual(), key: file('other-key') }, 'key', /"key"( of its "tls")? is not the key of the certificate/],
    ]
    for (const [tls, field, says] of cases) {
      const { faults, send } = await register(server.url, tls)
      assert.deepEqual(
        faults.map((fault) => fault.path),
        [`${AT}.${field}`],
      )
      assert.match(faults[0]?.message ?? '', says)
      const reply = await send()
      assert.deepEqual(failureOf(reply), [502, 'AUTH_UNAVAILABLE', 'lookup', 'requests.lookup[0]'])
      assert.match(String(reply.json().error), says)
      assert.doesNotMatch(reply.text, /s3cret/)
    }
    assert.deepEqual(server.seen, [])
  })

  test('in the document itself are refused if they cannot be read, and work if they can', async (t) => {
    const server = await listen(t)
    const refused = await register(server.url, { ca: 'no PEM' })
    assert.deepEqual([refused.status, refused.faults.map((fault) => fault.path)], [400, [`${AT}.ca`]])
    const weak = await register(server.url, { cert: read('weak'), key: read('weak-key') })
    assert.equal(weak.status, 400)
    assert.ok(weak.faults.some((fault) => fault.path === `${AT}.cert`))
    const { faults, send } = await register(server.url, {
      ca: read('authority'),
      cert: read('client'),
      key: read('client-key'),
    })
    assert.deepEqual(
      faults.map((fault) => fault.path),
      [`${AT}.key`],
    )
    assert.equal((await send()).status, 200)
    assert.deepEqual(server.seen, ['client'])
  })
})
