/** The process: how it starts, what it refuses to start with, and what it writes. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { SETTINGS } from '../../../src/settings/settings-table.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { exchange } from '../../support/raw-exchange.ts'
import { freshFolder, LAUNCHED, registerEndpoint, spawnService, startProgram } from '../../support/spawned-service.ts'

describe('a start that cannot be', { concurrency: 2 }, () => {
  const taken = createServer()
  let port = ''
  before(async () => {
    taken.listen(0, '127.0.0.1')
    await once(taken, 'listening')
    port = String((taken.address() as AddressInfo).port)
  })
  after(() => void taken.close())

  type Case = Readonly<{
    name: string
    env?: () => Record<string, string>
    args?: readonly string[]
    files?: Record<string, string>
    /** 1 if it is left out. */
    code?: number
    says: readonly RegExp[]
  }>
  const cases: readonly Case[] = [
    {
      name: 'three wrong settings, one of them secret',
      env: () => ({ SERVER_PORT: '-1', DATABASE_URL: 'mysql://u:s3cret@h/d', LOG_LEVEL: 'loud' }),
      says: [/^crosswalk: SERVER_PORT is "-1"/, /^crosswalk: DATABASE_URL is wrong/, /^crosswalk: LOG_LEVEL is "loud"/],
    },
    {
      name: 'a wrong line of a .env file',
      files: { '.env': 'PARSER_LIMIT=huge\n' },
      says: [/^crosswalk: PARSER_LIMIT is "huge"/],
    },
    {
      name: 'a message port in use',
      env: () => ({ SERVER_PORT: port }),
      says: [/^crosswalk: Port \d+ is in use already; .* SERVER_PORT\.$/],
    },
    {
      name: 'an address of another machine',
      env: () => ({ HOST: '192.0.2.1' }),
      says: [/^crosswalk: This machine has no such address .* HOST/],
    },
    {
      name: 'a database that is a folder',
      env: () => ({ DATABASE_URL: 'sqlite:.' }),
      says: [/^crosswalk: The database \. cannot be opened: .*DATABASE_URL\.$/],
    },
    {
      name: 'a database that is something else',
      env: () => ({ DATABASE_URL: 'sqlite:notes.txt' }),
      files: { 'notes.txt': 'Remember the milk. '.repeat(1_000) },
      says: [/^crosswalk: The database notes\.txt cannot be opened: .*DATABASE_URL\.$/],
    },
    { name: 'an option that does not exist', args: ['--prot=1'], code: 3, says: [/^error: unknown option '--prot=1'/] },
  ]
  for (const { name, env = () => ({}), args = [], files = {}, code = 1, says } of cases) {
    test(`reports ${name} in ${says.length === 1 ? 'one line' : 'a line each'}`, async (t) => {
      const folder = freshFolder(t)
      for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
      const { output, ended } = startProgram(folder, { args, env: env() })
      assert.deepEqual(await ended, { code, signal: null })
      const lines = output.stderr.trimEnd().split('\n')
      assert.equal(lines.length, says.length, output.stderr)
      for (const [index, say] of says.entries()) assert.match(lines[index] ?? '', say)
      assert.doesNotMatch(output.stderr, /s3cret|\n\s+at /)
      assert.doesNotMatch(output.stdout, /listens|\n\s+at /)
    })
  }
})

describe('a start that only reports', () => {
  test('--help: every setting with its default', async (t) => {
    const folder = freshFolder(t)
    const { output, ended } = startProgram(folder, { command: LAUNCHED, args: ['--help'] })
    assert.deepEqual(await ended, { code: 0, signal: null })
    for (const { name, default: text } of Object.values(SETTINGS)) {
      assert.match(output.stdout, new RegExp(`^ *${name}=${RegExp.escape(text)}$`, 'm'))
    }
    assert.deepEqual([output.stderr, readdirSync(folder)], ['', []])
  })

  test('--version', async (t) => {
    const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
    const { output, ended } = startProgram(freshFolder(t), { args: ['--version'] })
    assert.deepEqual([await ended, output.stdout], [{ code: 0, signal: null }, `${version}\n`])
  })
})

describe('the log', () => {
  const SECRETS = { authorization: 'Bearer s3cret-1', cookie: 's=s3cret-2', 'x-api-key': 's3cret-3' }

  test('reports every failure, and holds no secret of a request', async (t) => {
    const service = await spawnService(freshFolder(t), { env: { LOG_LEVEL: 'trace' } })
    await registerEndpoint(service, { endpoint: { pattern: '/strict' }, inputValidation: { required: ['name'] } })
    const config = { url: 'http://127.0.0.1:1/?key=s3cret-4', headers: { authorization: 'Basic s3cret-5' } }
    await registerEndpoint(service, {
      endpoint: { pattern: '/lookup' },
      requests: { lookup: [{ id: 'dead', config }] },
    })
    const cases = [
      { path: '/strict?token=s3cret-6', body: '{}', code: 'VALIDATION_FAILED' },
      { path: '/strict', body: '{', code: 'BODY_UNREADABLE' },
      { path: '/strict', body: 'x'.repeat(1_100_000), code: 'BODY_TOO_LARGE' },
      { path: '/lookup', body: '{}', code: 'LOOKUP_UNREACHABLE' },
      { path: '/unknown?token=s3cret-7', body: '{}', code: 'ROUTE_UNKNOWN' },
    ]
    const headers = { 'content-type': 'application/json', ...SECRETS }
    for (const { path, body } of cases) await call(service.url, 'POST', path, { headers, body })
    for (const base of [service.url, service.adminUrl]) {
      await call(base, 'POST', '/endpoints', { headers, body: '{"name":1}' })
      await call(base, 'DELETE', '/endpoints/0', { headers })
      await exchange(base, `GET / HTTP/1.1\r\nauthorization: s3cret-8\r\nbroken\r\n\r\n`)
    }
    service.child.kill('SIGTERM')
    await service.ended
    const { stdout, stderr } = service.output
    for (const { code } of cases) assert.match(stdout, new RegExp(`"code":"${code}"`))
    assert.doesNotMatch(stdout + stderr, /s3cret/)
  })
})

/** Lets no line of the log go because of the time. */
const NO_LOG_TIMER = `data:text/javascript,${encodeURIComponent(
  'const real = setTimeout; globalThis.setTimeout = (run, ms, ...rest) => real(run, ms === 250 ? 2 ** 30 : ms, ...rest)',
)}`

test('that the service listens is reported at once, though another line came just before', async (t) => {
  const env = { NODE_OPTIONS: `--import ${NO_LOG_TIMER}` }
  const service = await spawnService(freshFolder(t), { env })
  service.child.kill('SIGTERM')
  await service.ended
  assert.equal(service.output.stdout.trimEnd().split('\n').length, 4)
})
