/** The process: how it starts, what it refuses to start with, what it writes, and how it ends. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../src/domain/json.ts'
import { SETTINGS } from '../../../src/settings/settings-table.ts'
import { call } from '../../support/adapters/http-server/management/call.ts'
import { callUntilRefused } from '../../support/call-until-refused.ts'
import { LONG } from '../../support/form.ts'
import { exchange } from '../../support/raw-exchange.ts'
import { endpointDocument, json, startUpstream } from '../../support/service.ts'
import {
  DIRECT,
  freshFolder,
  LAUNCHED,
  type SpawnedService,
  spawnService,
  startProgram,
} from '../../support/spawned-service.ts'

async function register({ url }: SpawnedService, document: JsonObject): Promise<void> {
  const reply = await fetch(`${url}/endpoints`, json('POST', endpointDocument(document)))
  assert.equal(reply.status, 201, await reply.text())
}

const send = (url: string) => fetch(url, json('POST', { sent: true }))

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
      name: 'an admin port in use',
      env: () => ({ ADMIN_PORT: port }),
      says: [/^crosswalk: Port \d+ is in use already; .* ADMIN_PORT\.$/],
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
    {
      name: 'a command that is misspelt',
      args: ['imprt', 'a.json'],
      code: 3,
      says: [/^crosswalk: There is no command "imprt"\. Did you mean "import"\?$/m],
    },
    {
      name: 'a command that does not exist',
      args: ['serve'],
      code: 3,
      says: [/^crosswalk: There is no command "serve"\. The commands: migrate, .*, import, .*\.$/m],
    },
    { name: 'an option that does not exist', args: ['--prot=1'], code: 3, says: [/^error: unknown option '--prot=1'/] },
    {
      name: 'a command without its argument',
      args: ['keys', 'revoke'],
      code: 3,
      says: [/^error: missing required argument/],
    },
    {
      name: 'a command without a project',
      args: ['diff'],
      code: 3,
      says: [/^crosswalk: There is no crosswalk\.json here/],
    },
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
    await register(service, { endpoint: { pattern: '/strict' }, inputValidation: { required: ['name'] } })
    const config = { url: 'http://127.0.0.1:1/?key=s3cret-4', headers: { authorization: 'Basic s3cret-5' } }
    await register(service, { endpoint: { pattern: '/lookup' }, requests: { lookup: [{ id: 'dead', config }] } })
    const cases = [
      { path: '/strict?token=s3cret-6', body: '{}', code: 'VALIDATION_FAILED' },
      { path: '/strict', body: '{', code: 'BODY_UNREADABLE' },
      { path: '/strict', body: 'x'.repeat(1_100_000), code: 'BODY_TOO_LARGE' },
      { path: '/lookup', body: '{}', code: 'LOOKUP_UNREACHABLE' },
      { path: '/nobody?token=s3cret-7', body: '{}', code: 'ROUTE_UNKNOWN' },
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

describe('a signal to stop', { concurrency: 2 }, () => {
  /** A service with a message under way, whose upstream waits for `release`. */
  async function busy(t: { after(work: () => unknown): void }, options: Parameters<typeof spawnService>[1] = {}) {
    const arrived = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const upstream = await startUpstream(async () => {
      arrived.resolve()
      await released.promise
      return { found: true }
    })
    t.after(upstream.stop)
    const folder = freshFolder(t)
    const service = await spawnService(folder, options)
    t.after(() => void service.child.kill('SIGTERM'))
    const lookup = [{ id: 'up', config: { url: upstream.url } }]
    await register(service, {
      endpoint: { pattern: '/held' },
      requests: { lookup },
      inputMapping: { 'lookupRequests.up.data': 'up' },
    })
    const transformation = { input: 'JSON', output: 'XML' }
    await register(service, { endpoint: { pattern: '/xml' }, transformation })
    const answer = send(`${service.url}/held`)
    answer.catch(() => {})
    await arrived.promise
    return { service, folder, answer, release: () => released.resolve() }
  }

  /** Resolves when the log says so; fails where the process ends first. */
  async function untilLogged({ child, output, ended }: SpawnedService, text: string): Promise<void> {
    while (!output.stdout.includes(text)) {
      const next = once(child.stdout as NonNullable<typeof child.stdout>, 'data')
      const end = await Promise.race([next, ended])
      assert.ok(Array.isArray(end), `it ended without "${text}"`)
    }
  }

  const signals = [
    { signal: 'SIGTERM', by: 'itself', command: DIRECT },
    { signal: 'SIGTERM', by: 'its launcher', command: LAUNCHED },
    { signal: 'SIGINT', by: 'its launcher', command: LAUNCHED },
    { signal: 'SIGHUP', by: 'itself', command: DIRECT },
  ] as const
  for (const { signal, by, command } of signals) {
    test(`${signal} to ${by} lets messages finish and refuses others`, async (t) => {
      const { service, folder, answer, release } = await busy(t, { command })
      service.child.kill(signal)
      await untilLogged(service, 'Stopping')
      const ready = await call(service.adminUrl, 'GET', '/health/ready')
      assert.deepEqual([ready.status, ready.json().stopping, ready.json().messagesInFlight], [503, true, 1])
      const refused = await send(`${service.url}/xml`)
      assert.deepEqual(
        [refused.status, refused.headers.get('retry-after'), refused.headers.get('connection')],
        [503, '1', 'close'],
      )
      assert.match(await refused.text(), /<code>SHUTTING_DOWN<\/code>/)
      // A supervisor may signal the whole group, so that the service is signalled twice: by it and by the launcher.
      if (signal !== 'SIGINT') service.child.kill(signal)
      const live = await fetch(`${service.adminUrl}/health/live`)
      assert.deepEqual([live.status, live.headers.get('connection')], [200, 'close'])
      release()
      const finished = await answer
      assert.deepEqual([finished.status, await finished.json()], [200, { up: { found: true } }])
      assert.deepEqual(await service.ended, { code: 0, signal: null })
      assert.equal(service.output.stderr, '')
      // SQLite removes its logs when the last connections are closed in order.
      assert.deepEqual(readdirSync(join(folder, 'data')), ['crosswalk-messages.db', 'crosswalk.db'])
    })
  }

  test('SIGINT twice does not wait', async (t) => {
    const { service } = await busy(t)
    service.child.kill('SIGINT')
    await untilLogged(service, 'Stopping')
    service.child.kill('SIGINT')
    assert.deepEqual(await service.ended, { code: 1, signal: null })
  })

  test('waits for messages SHUTDOWN_TIMEOUT_MS at most', async (t) => {
    const timeoutMs = 300
    const { service, answer } = await busy(t, { env: { SHUTDOWN_TIMEOUT_MS: `${timeoutMs}` } })
    const notifiedAt = performance.now()
    service.child.kill('SIGTERM')
    assert.deepEqual(await service.ended, { code: 0, signal: null })
    const tookMs = performance.now() - notifiedAt
    assert.ok(tookMs >= timeoutMs && tookMs < 8_000, `it took ${tookMs} ms, and the upstream would have had 10,000`)
    assert.match(service.output.stdout, /"level":"warn".*"left":1/)
    await assert.rejects(answer)
  })

  test('a caller who never goes does not keep it', async (t) => {
    const service = await spawnService(freshFolder(t))
    const silent = exchange(service.url, 'POST /never HTTP/1.1\r\n')
    await call(service.url, 'GET', '/uptime')
    service.child.kill('SIGTERM')
    assert.deepEqual(await service.ended, { code: 0, signal: null })
    await silent
  })

  const rounds = LONG ? 20 : 2
  test(`${rounds} times under load cuts no answer short`, async (t) => {
    const folder = freshFolder(t)
    for (let round = 0; round < rounds; round++) {
      const service = await spawnService(folder)
      if (round === 0) await register(service, { endpoint: { pattern: '/load' } })
      const agent = round % 2 === 0 && new Agent({ keepAlive: true, maxSockets: 6 })
      let answered = 0
      const enough = Promise.withResolvers<void>()
      const callers = Array.from({ length: 6 }, () =>
        callUntilRefused(`${service.url}/load`, agent, () => ++answered === 100 && enough.resolve()),
      )
      await Promise.race([enough.promise, ...callers])
      service.child.kill('SIGTERM')
      for (const end of await Promise.all(callers)) assert.match(end, /^(503 1|ECONNREFUSED)$/)
      assert.ok(answered >= 100)
      if (agent) agent.destroy()
      assert.deepEqual(await service.ended, { code: 0, signal: null })
      // Nothing was begun without its answer.
      assert.equal(service.output.stdout.match(/"outcome":"done"/g)?.length, answered)
    }
  })
})

test('kill -9 loses no endpoint', async (t) => {
  const folder = freshFolder(t)
  const first = await spawnService(folder)
  await register(first, { endpoint: { pattern: '/kept' } })
  first.child.kill('SIGKILL')
  assert.deepEqual(await first.ended, { code: null, signal: 'SIGKILL' })
  const second = await spawnService(folder)
  const reply = await send(`${second.url}/kept`)
  assert.deepEqual([reply.status, await reply.json()], [200, { sent: true }])
  second.child.kill('SIGTERM')
  assert.deepEqual(await second.ended, { code: 0, signal: null })
})
