/** `crosswalk messages` and `crosswalk replay` against a running service. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { type CommandOptions, runCommand } from '../../../support/cli/run-command.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

let service: Service
let upstream: Upstream
let isDown = true
before(async () => {
  service = await startService()
  upstream = await startUpstream((_request, response) => {
    if (!isDown) return { ok: true }
    response.writeHead(500).end()
    return undefined
  })
  await service.register({ name: 'Fine', endpoint: { pattern: '/fine' } })
  await service.register({
    name: 'Away',
    endpoint: { pattern: '/away' },
    requests: { response: [{ id: 'up', config: { url: upstream.url }, retries: 0 }] },
  })
  for (let at = 0; at < 3; at++) await service.fetch('/fine', json('POST', { at }))
  for (let at = 0; at < 4; at++) await service.fetch('/away', json('POST', { at }))
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

const find = (given: CommandOptions, out?: (text: string) => void) =>
  runCommand('messages', [], { target: service.adminUrl, ...given }, out === undefined ? {} : { out })
const replay = ({ ids = [], ...given }: CommandOptions & { ids?: readonly string[] }, answer?: string) =>
  runCommand('replay', [service.adminUrl, ...ids], given, answer === undefined ? {} : { answer })
const found = async (given: CommandOptions): Promise<readonly JsonObject[]> => {
  const { code, stdout, stderr } = await find({ ...given, json: true })
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

describe('crosswalk messages', () => {
  test('finds messages by the filters of the service, the newest last', async () => {
    const { code, stdout } = await find({ endpoint: ['Away'], filter: ['stage=respond'], from: '-1h' })
    assert.equal(code, 0)
    const lines = stdout.trimEnd().split('\n')
    assert.equal(lines.length, 4)
    for (const line of lines)
      assert.match(line, /^\S+Z {2}[0-9a-f]{24} {2}failed {2}50\d {2}[\d.]+ ms {2}Away {2}[A-Z_]+/)
    assert.deepEqual(lines, lines.toSorted())
  })

  test('finds several values, and at most the limit', async () => {
    assert.equal((await found({ outcome: ['done', 'failed'] })).length, 7)
    const newest = await found({ limit: '2' })
    const endpoints = newest.map(({ endpoint }) => endpoint)
    assert.deepEqual(endpoints, ['Away', 'Away'])
  })

  const wrong: readonly (readonly [CommandOptions, RegExp])[] = [
    [{ filter: ['colour=red'] }, /There is no filter "colour"/],
    [{ limit: '0' }, /'--limit <number>' argument '0' is invalid\. Give a whole number from 1 to 10000\./],
    [{ code: ['lookup_refsed'] }, /: There is no code "lookup_refsed"; did you mean "LOOKUP_REFUSED"\?\n$/],
    [{ target: '[::1]:4204/crosswalk' }, /has no scheme; did you mean http:\/\/\[::1\]:4204\/crosswalk\?\n$/],
    [
      { target: 'ftp://localhost' },
      /: "ftp:\/\/localhost" is not the URL of a service; write it as http:\/\/host:3004\./,
    ],
    [{ target: 'test' }, /^crosswalk: There is no crosswalk\.json here or above/],
  ]
  for (const [given, says] of wrong) {
    test(`refuses ${JSON.stringify(given)}`, async () => {
      const { code, stdout, stderr } = await find(given)
      assert.deepEqual([code, stdout], [3, ''])
      assert.match(stderr, says)
    })
  }

  test('at the port for messages says which port to name', async () => {
    const { code, stdout, stderr } = await find({ target: service.url })
    assert.deepEqual([code, stdout], [3, ''])
    assert.match(
      stderr,
      /status 404: No endpoint listens on GET \/messages\. Give the URL of the admin port \(ADMIN_PORT of the service\)\.\n$/,
    )
  })

  test('follows new messages, each once', async () => {
    let seen = ''
    const count = () => seen.split('\n').length - 1
    const running = find({ endpoint: 'Fine', follow: true, json: true }, (text) => {
      seen += text
      if (count() === 5) throw Object.assign(new Error('The reader has enough'), { syscall: 'write' })
    })
    await until(count, (lines) => lines === 3)
    await service.fetch('/fine', json('POST', {}))
    await until(count, (lines) => lines >= 4)
    await service.fetch('/fine', json('POST', {}))
    assert.equal((await running).code, 3)
    const ids = seen
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).id)
    assert.deepEqual([ids.length, new Set(ids).size], [5, 5])
  })
})

describe('crosswalk replay', () => {
  test('asks first, and needs --yes off a terminal', async () => {
    const before = upstream.received.length
    const alone = await replay({ endpoint: ['Away'] })
    assert.equal(alone.code, 3)
    assert.match(alone.stdout, /^4 {2}failed {2}Away {2}[A-Z_]+\n4 messages to replay\.\n$/)
    assert.match(alone.stderr, /give --yes\. Nothing was replayed\./)
    assert.equal((await replay({ endpoint: ['Away'] }, 'n')).code, 3)
    assert.equal(upstream.received.length, before)
  })

  test('one message by its id, with the outcome', async () => {
    const [{ id = '' } = {}] = await found({ endpoint: ['Away'], outcome: ['failed'], limit: '1' })
    const failed = await replay({ ids: [String(id)], yes: true })
    assert.equal(failed.code, 1)
    assert.match(failed.stdout, RegExp(`^${id}  -> [0-9a-f]{24}  failed  50\\d  `))
    isDown = false
    const done = await replay({ ids: [String(id)], yes: true, json: true })
    assert.equal(done.code, 0, done.stderr)
    const shown = JSON.parse(done.stdout).map(({ outcome }: JsonObject) => outcome)
    assert.deepEqual(shown, ['done'])
  })

  test('all that failed, by a plan; a second time there are none', async () => {
    const { code, stdout, stderr } = await replay({ endpoint: ['Away'], filter: ['source=http'], yes: true })
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^3 messages to replay\.\n3 done, 0 failed, 0 could not be replayed, 0 left\.\n$/m)
    assert.match(stdout, /^1 {2}will not run: A replay of it has succeeded already\.$/m)
    const again = await replay({ endpoint: ['Away'], filter: ['source=http'] })
    assert.equal(again.code, 0)
    assert.match(again.stdout, /^0 messages to replay\.$/m)
    assert.match(again.stderr, /^Nothing was replayed: none of the messages that match can be\.$/m)
    const none = await replay({ endpoint: ['Away'], outcome: ['refused', 'partial'] })
    assert.equal(none.code, 0)
    const filters = 'endpoint=Away, outcome=refused or partial, source=http or '
    assert.match(none.stderr, RegExp(`^Nothing was replayed: no message matches ${filters}`, 'm'))
  })

  test('of a run of a schedule uses the recorded answers of its lookups, or asks again', async () => {
    isDown = false
    const { _id } = await service.register({
      name: 'Poll',
      endpoint: { pattern: '/poll' },
      schedule: { every: '366d' },
      messageLog: 'all',
      requests: { lookup: [{ id: 'up', config: { url: upstream.url } }] },
    })
    const run = await runCommand('schedules run', [service.adminUrl], { endpoint: _id, yes: true, json: true })
    const { messageId } = JSON.parse(run.stdout) as { messageId: string }
    const filters = { filter: [`id=${messageId}`], outcome: ['done'] }
    await until(
      () => found(filters),
      ({ length }) => length === 1,
    )
    const asked = async (given: CommandOptions & { ids?: readonly string[] }) => {
      const before = upstream.received.length
      const { code, stderr } = await replay({ ...given, yes: true })
      assert.equal(code, 0, stderr)
      return upstream.received.length - before
    }
    assert.equal(await asked({ ...filters, lookups: 'again' }), 1)
    assert.equal(await asked({ ids: [messageId] }), 0)
    assert.equal(await asked({ ids: [messageId], lookups: 'again' }), 1)
  })

  const WRONG: readonly (readonly [CommandOptions & { ids?: readonly string[] }, RegExp])[] = [
    [{ yes: true }, /Give ids of messages, or filters/],
    [{ yes: true, ids: ['x'] }, /"x" isn't the id of a message/],
  ]
  for (const [given, says] of WRONG) {
    test(`refuses ${JSON.stringify(given)}`, async () => {
      const { code, stderr } = await replay(given)
      assert.equal(code, 3)
      assert.match(stderr, says)
    })
  }
})
