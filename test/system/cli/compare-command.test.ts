/** The command `compare`: its exit codes, its output, and what it never sends. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { runArguments } from '../../support/cli/run-command.ts'
import { type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'
import { freshFolder } from '../../support/spawned-service.ts'

type Files = Readonly<Record<string, Json>>

async function compare(
  context: { after(work: () => void): void },
  args: readonly string[],
  files: Files = {},
  env = {},
) {
  const folder = freshFolder(context)
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  const outcome = await runArguments(['compare', ...args], {
    cwd: folder,
    env: { CROSSWALK_KEY: 'canary-key', ...env },
  })
  return { folder, ...outcome }
}

const DOCUMENT = {
  name: 'Greeting',
  endpoint: { pattern: '/greet' },
  inputMapping: { 'requestBody.name': 'hello', 'requestBody.token': 'token' },
}

const MESSAGE = { path: '/greet', body: { name: 'Ada', token: 'canary-token' } }

describe('compare', () => {
  let service: Service
  let upstream: Upstream
  /** Answers as the peer would, with the token of the body in another form. */
  let peer: Upstream
  before(async () => {
    service = await startService()
    upstream = await startUpstream(() => ({ taken: true }))
    peer = await startUpstream(({ url, body }) => {
      const { name, token } = JSON.parse(body)
      if (url === '/greet') return { hello: name, token }
      return url === '/greet?other=1' ? { hello: name.toUpperCase(), token: `${token}-of-the-peer` } : { taken: true }
    })
    await service.register(DOCUMENT)
    await service.register({
      name: 'Sending on',
      endpoint: { pattern: '/send' },
      requests: { response: [{ id: 'target', config: { method: 'POST', url: `${upstream.url}/take` } }] },
    })
  })
  after(async () => {
    await Promise.all([service.stop(), upstream.stop(), peer.stop()])
  })
  const live = () => ['--peer', peer.url, '--service', service.url, '--messages', 'messages']

  test('exits with 0 where nothing differs', async (context) => {
    const { code, stdout, stderr } = await compare(context, live(), { 'messages/a.message.json': MESSAGE })
    assert.equal(code, 0, stderr)
    assert.equal(
      stdout,
      '1 messages compared: 1 the same, 0 with deliberate differences only, 0 with unexplained differences.\n',
    )
  })

  test('exits with 2 where something differs, and shows it without secrets', async (context) => {
    const files = { 'messages/a.message.json': { ...MESSAGE, query: { other: '1' } } }
    const { code, stdout } = await compare(context, live(), files)
    assert.equal(code, 2)
    assert.match(stdout, /\/body\/hello\n {4}peer "ADA"\n {4}here "Ada"/)
    assert.match(stdout, /\/body\/token\n {4}peer "\[redacted\]"/)
    assert.doesNotMatch(stdout, /canary/)
    const ignored = await compare(context, [...live(), '--ignore', '/hello', '--ignore', '/token'], files)
    assert.equal(ignored.code, 0, ignored.stdout)
  })

  test('sends nothing on unless it may', async (context) => {
    const files = { 'messages/a.message.json': { path: '/send', body: { name: 'x' } } }
    const before = upstream.received.length
    const refused = await compare(context, live(), files)
    assert.equal(refused.code, 3)
    assert.match(refused.stderr, /"Sending on".*--allow-side-effects/)
    assert.equal(upstream.received.length, before)
    const allowed = await compare(context, [...live(), '--allow-side-effects'], files)
    assert.equal(allowed.code, 0, allowed.stdout)
    assert.equal(upstream.received.length, before + 1)
  })

  const impossible: readonly Readonly<{ name: string; args: () => readonly string[]; files?: Files; says: RegExp }>[] =
    [
      { name: 'nothing to compare', args: () => [], says: /Give --peer and --messages, or --openhim/ },
      { name: 'an option of the other', args: () => [...live(), '--save-tests', 'x'], says: /belong to --openhim/ },
      { name: 'no messages', args: live, says: /There is no folder \S+/ },
      {
        name: 'no peer',
        args: () => ['--peer', 'http://127.0.0.1:1', '--service', service.url, '--messages', 'messages'],
        files: { 'messages/a.message.json': MESSAGE },
        says: /no answer from http:\/\/127\.0\.0\.1:1\/greet/,
      },
      {
        name: 'a key that no header can hold',
        args: () => [...live(), '--key-file', 'k'],
        files: { 'messages/a.message.json': MESSAGE, k: 'canary\ncanary' },
        says: /The key is wrong/,
      },
      ...['', '[{"request":{}}]'].map((text) => ({
        name: `no transaction in ${text}`,
        args: () => ['--openhim', 'x.json', '--endpoints', 'docs'],
        files: { 'docs/a.json': DOCUMENT, 'x.json': text },
        says: /^crosswalk: x\.json has no transaction, which has a "request" and a "response"; nothing was compared\.\n$/,
      })),
      {
        name: 'messages that are none',
        args: live,
        files: { 'messages/a.message.json': [] },
        says: /^crosswalk: Nothing was compared: messages has no message\.\n$/,
      },
      ...['--peer', '--openhim'].map((option) => ({
        name: `${option} without a scheme`,
        args: () => (option === '--openhim' ? [option, 'localhost:8080'] : [...live(), option, 'localhost:8080']),
        files: { 'messages/a.message.json': MESSAGE },
        says: /^crosswalk: "localhost:8080" has no scheme; did you mean http:\/\/localhost:8080\?\n$/,
      })),
    ]
  for (const { name, args, files, says } of impossible) {
    test(`exits with 3 with ${name}`, async (context) => {
      const { code, stdout, stderr } = await compare(context, args(), files)
      assert.equal(code, 3, stderr)
      assert.match(stderr, says)
      assert.equal(stdout, '')
      assert.doesNotMatch(stderr, /canary|\n {4}at /)
    })
  }

  const leftOut = [
    { name: 'for no endpoint', path: '/none', says: /no endpoint has a pattern for POST \/none/ },
    {
      name: 'for a document that is too large',
      path: DOCUMENT.endpoint.pattern,
      env: { DOCUMENT_LIMIT: '100' },
      says: /the document of "[^"]+" cannot run: The endpoint document has \d+ bytes/,
    },
  ]
  for (const { name, path, env, says } of leftOut) {
    test(`exits with 3 if all transactions are left out: ${name}`, async (context) => {
      const transaction = { _id: 't1', request: { path, method: 'POST' }, response: { status: 200 } }
      const files = { 'docs/a.json': DOCUMENT, 'x.json': [transaction] }
      const { code, stdout, stderr } = await compare(
        context,
        ['--openhim', 'x.json', '--endpoints', 'docs'],
        files,
        env,
      )
      assert.equal(code, 3)
      assert.match(stdout, /^transaction t1: not compared: [\s\S]*\n0 messages compared/)
      assert.match(stdout, says)
      assert.equal(stderr, 'crosswalk: Nothing was compared: all transactions were left out.\n')
    })
  }

  test('replays transactions without a call, and keeps them as tests', async (context) => {
    const call = (name: string, path: string, body: string) => ({
      name,
      request: {
        host: '127.0.0.1',
        port: new URL(upstream.url).port,
        path,
        method: 'post',
        timestamp: 1,
        ...(name.includes('Response') ? { body: '{"a":1}' } : {}),
      },
      response: { status: 200, headers: { 'content-type': 'application/json' }, body },
    })
    const document = {
      name: 'Lab',
      endpoint: { pattern: '/lab', method: 'POST' },
      transformation: { input: 'JSON', output: 'JSON' },
      inputMapping: { 'lookupRequests.one.data.a': 'a' },
      requests: {
        lookup: [{ id: 'one', config: { method: 'POST', url: `${upstream.url}/one` } }],
        response: [{ id: 'two', config: { method: 'POST', url: `${upstream.url}/two` } }],
      },
    }
    const transaction = {
      _id: 't1',
      request: {
        path: '/lab',
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie: 'canary' },
        body: '{}',
        timestamp: 1,
      },
      response: { status: 200, headers: { 'content-type': 'application/json' }, body: '{"done":true}', timestamp: 2 },
      orchestrations: [
        call('Endpoint Lookup Request: Lab: one', '/one', '{"a":1}'),
        call('Endpoint Response Request: Lab: two', '/two', '{"done":true}'),
      ],
    }
    const before = upstream.received.length
    const args = ['--openhim', 'export.json', '--endpoints', 'docs', '--save-tests', 'tests']
    const { code, folder, stdout, stderr } = await compare(context, args, {
      'export.json': [transaction],
      'docs/lab.json': document,
    })
    assert.equal(code, 0, stdout + stderr)
    assert.equal(upstream.received.length, before)
    assert.equal(stderr, `Written: ${join('tests', 'lab.tests.json')}\n`)
    const saved = JSON.parse(readFileSync(join(folder, 'tests', 'lab.tests.json'), 'utf8'))
    const [one] = saved.tests
    assert.deepEqual([saved.endpoint, saved.tests.length, one.name], ['Lab', 1, 'transaction t1'])
    assert.deepEqual(one.given.message.headers, { cookie: '[redacted]' })
    const calls = one.expect.calls.map(({ kind, id, url }: JsonObject) => [kind, id, url])
    assert.deepEqual(calls, [
      ['lookup', 'one', `${upstream.url}/one`],
      ['response', 'two', `${upstream.url}/two`],
    ])
  })

  test('of a service that needs a key sends it', async (context) => {
    const guarded = await startUpstream(({ headers, url }) =>
      url === '/endpoints'
        ? [{ ...DOCUMENT, key: headers.authorization ?? null }]
        : { hello: 'Ada', token: 'canary-token' },
    )
    context.after(guarded.stop)
    const args = ['--peer', peer.url, '--service', guarded.url, '--messages', 'messages']
    const { code } = await compare(context, args, { 'messages/a.message.json': MESSAGE })
    assert.equal(code, 0)
    assert.equal(guarded.received[0]?.headers.authorization, 'Bearer canary-key')
    assert.ok(guarded.received.slice(1).every(({ headers }) => headers.authorization === undefined))
  })
})
