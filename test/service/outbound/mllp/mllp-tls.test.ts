/** Targets over TLS: the files are those of an authority that the test makes. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createServer, type TlsOptions } from 'node:tls'
import { startService } from '../../../support/service.ts'
import { Listener } from './listener.ts'

const folder = mkdtempSync(join(tmpdir(), 'mllp-tls-'))
after(() => rmSync(folder, { recursive: true }))
const file = (name: string) => join(folder, name)
const read = (name: string) => readFileSync(file(name))

/** Makes `<name>.pem` and `<name>-key.pem`, signed by the authority or by itself. */
function makeCertificate(name: string, isSigned: boolean): void {
  const out = ['-keyout', file(`${name}-key.pem`), '-out', file(`${name}.pem`)]
  const subject = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  const signer = isSigned ? ['-CA', file('authority.pem'), '-CAkey', file('authority-key.pem')] : []
  const names = isSigned
    ? ['-addext', 'subjectAltName=IP:127.0.0.1', '-addext', 'basicConstraints=critical,CA:FALSE']
    : []
  execFileSync('openssl', [...subject, '-subj', `/CN=${name}`, ...signer, ...names, ...out], { stdio: 'ignore' })
}

describe('a target over TLS', () => {
  before(() => {
    makeCertificate('authority', false)
    makeCertificate('lab', true)
    makeCertificate('service', true)
  })

  const listen = (options: TlsOptions = {}) =>
    new Listener((accept) =>
      createServer({ cert: read('lab.pem'), key: read('lab-key.pem'), ...options }, accept).on(
        'tlsClientError',
        () => undefined,
      ),
    ).start()

  const sendTo = async (url: string, env: Record<string, string>) => {
    const service = await startService({ MESSAGE_LOG: 'off', ...env })
    try {
      await service.register({
        endpoint: { pattern: '/in' },
        requests: { response: { id: 'lab', config: { url } } },
      })
      const reply = await service.fetch('/in', {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      })
      return { status: reply.status, text: reply.text }
    } finally {
      await service.stop()
    }
  }

  test('is trusted if the authority is', async () => {
    await using stack = new AsyncDisposableStack()
    const listener = await listen()
    stack.defer(() => listener.stop())
    const trusting = { MLLP_TARGET_TLS: '127.0.0.1', MLLP_TARGET_TLS_CA_FILE: file('authority.pem') }
    assert.equal((await sendTo(listener.url, trusting)).status, 200)
    const stranger = await sendTo(listener.url, { MLLP_TARGET_TLS: '*' })
    assert.equal(stranger.status, 502)
    assert.match(stranger.text, /no secure connection/)
    assert.equal(listener.messages.length, 1)
  })

  test('learns who the service is', async () => {
    await using stack = new AsyncDisposableStack()
    const listener = await listen({ ca: read('authority.pem'), requestCert: true, rejectUnauthorized: true })
    stack.defer(() => listener.stop())
    const trusting = { MLLP_TARGET_TLS: `127.0.0.1:${listener.port}`, MLLP_TARGET_TLS_CA_FILE: file('authority.pem') }
    assert.equal((await sendTo(listener.url, trusting)).status, 502)
    const known = {
      ...trusting,
      MLLP_TARGET_TLS_CERT_FILE: file('service.pem'),
      MLLP_TARGET_TLS_KEY_FILE: file('service-key.pem'),
    }
    assert.equal((await sendTo(listener.url, known)).status, 200)
  })

  test('that the setting does not name is not encrypted', async () => {
    await using stack = new AsyncDisposableStack()
    const listener = await new Listener().start()
    stack.defer(() => listener.stop())
    assert.equal((await sendTo(listener.url, { MLLP_TARGET_TLS: 'lab.example.org' })).status, 200)
  })

  test('needs files that belong together', async () => {
    writeFileSync(file('other.pem'), read('lab.pem'))
    const cases: readonly [env: Record<string, string>, fault: RegExp][] = [
      [{ MLLP_TARGET_TLS_CA_FILE: file('other.pem') }, /MLLP_TARGET_TLS names no target/],
      [{ MLLP_TARGET_TLS: '*', MLLP_TARGET_TLS_CERT_FILE: file('other.pem') }, /belong together/],
      [{ MLLP_TARGET_TLS: 'a b' }, /MLLP_TARGET_TLS is "a b"/],
    ]
    for (const [env, fault] of cases) await assert.rejects(startService(env), fault)
  })
})
