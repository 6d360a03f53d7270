/** `crosswalk schedules` against a running service. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type CommandOptions, runCommand } from '../../../support/cli/run-command.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../../support/service.ts'

let service: Service
let upstream: Upstream
let report: Readonly<{ _id: string }>
let isDown = false
before(async () => {
  service = await startService()
  upstream = await startUpstream((_request, response) => {
    response.statusCode = isDown ? 500 : 200
    return {}
  })
  const nightly = {
    endpoint: {},
    transformation: { output: 'JSON' },
    requests: { response: [{ id: 'up', config: { method: 'POST', url: upstream.url }, retries: 0 }] },
  }
  report = await service.register({
    ...nightly,
    name: 'Report of the night',
    schedule: { cron: '30 2 * * *', timezone: 'Europe/Berlin' },
  })
  await service.register({ ...nightly, name: 'Report', schedule: { every: '366d' } })
  await service.register({ name: 'Routed', endpoint: { pattern: '/routed' } })
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

const list = (given: CommandOptions = {}) => runCommand('schedules list', [service.adminUrl], given)
const runNow = (given: CommandOptions, answer?: string) =>
  runCommand('schedules run', [service.adminUrl], given, answer === undefined ? {} : { answer })

describe('crosswalk schedules', () => {
  test('lists endpoints with a schedule, each with its times', async () => {
    const { code, stdout } = await list()
    const [first, second, ...others] = stdout.trimEnd().split('\n')
    assert.deepEqual([code, others], [0, []])
    assert.match(first ?? '', /^[0-9a-f]{24} {2}Report {2}every 366d {2}next \d{4}-\S+Z$/)
    assert.match(
      second ?? '',
      RegExp(`^${report._id}  Report of the night  30 2 \\* \\* \\* Europe/Berlin  next \\S+Z$`),
    )
  })

  test('reads all pages', async () => {
    const operations = Array.from({ length: 210 }, (_, at) => ({
      op: 'create',
      document: {
        name: `A ${at}`,
        endpoint: { pattern: `/a/${at}` },
        transformation: { input: 'JSON', output: 'JSON' },
      },
    }))
    assert.equal((await service.fetch('/endpoints/batch', json('POST', { operations }))).status, 200)
    const found: readonly object[] = JSON.parse((await list({ json: true })).stdout)
    assert.equal(found.length, 2)
  })

  test('runs one now by its name or its id, and then shows the run', async () => {
    for (const [endpoint, found] of [
      ['Report', 'Report'],
      [report._id, 'Report of the night'],
    ] as const) {
      const { code, stdout, stderr } = await runNow({ endpoint }, 'y')
      assert.equal(code, 0, stderr)
      assert.match(stderr, RegExp(`^Run the schedule of ${found} at `))
      const [, id] = /^([0-9a-f]{24}) {2}done {2}[\d.]+ ms\n$/.exec(stdout) ?? []
      assert.ok(id !== undefined, stdout)
      const line = (await list()).stdout.split('\n').find((one) => one.includes(`  ${found}  `))
      assert.match(line ?? '', RegExp(`  last \\S+Z  done  ${id}$`))
    }
    assert.equal(upstream.received.length, 2)
  })

  test('finds a run that fails', async () => {
    isDown = true
    const { code, stdout } = await runNow({ endpoint: 'Report', yes: true })
    assert.equal(code, 1)
    assert.match(stdout, /^[0-9a-f]{24} {2}failed {2}[\d.]+ ms {2}[A-Z_]+ {2}\S/)
    assert.match((await list()).stdout, / {2}last \S+Z {2}failed {2}[A-Z_]+ {2}[0-9a-f]{24}\n/)
  })

  const REFUSED: readonly (readonly [CommandOptions, RegExp, string?])[] = [
    [{ endpoint: 'Report' }, /give --yes\. Nothing was run\./],
    [{ endpoint: 'Report' }, /Nothing was run\./, 'n'],
    [{ endpoint: 'Routed', yes: true }, /has no endpoint "Routed" with a schedule/],
    [{ yes: true }, /--endpoint/],
  ]
  for (const [given, says, answer] of REFUSED) {
    test(`runs nothing with ${JSON.stringify(given)}${answer === undefined ? '' : ` and ${answer}`}`, async () => {
      const before = upstream.received.length
      const { code, stderr } = await runNow(given, answer)
      assert.equal(code, 3)
      assert.match(stderr, says)
      assert.equal(upstream.received.length, before)
    })
  }
})
