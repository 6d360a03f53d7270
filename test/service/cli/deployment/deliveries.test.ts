/** `crosswalk deliveries` against the management of deliveries. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { type CommandOptions, runCommand } from '../../../support/cli/run-command.ts'
import { openDeliveryStage } from '../../../support/deliveries/delivery-stage.ts'

let stage: Awaited<ReturnType<typeof openDeliveryStage>>
beforeEach(async () => {
  stage = await openDeliveryStage()
})
afterEach(() => stage.stop())

type Act = 'list' | 'show' | 'retry' | 'cancel'
const run = (act: Act, ids: readonly string[], given: CommandOptions = {}, answer?: string) =>
  runCommand(`deliveries ${act}`, [stage.url, ...ids], given, answer === undefined ? {} : { answer })
const stateOf = async (id: string) => (await stage.get(`/deliveries/${id}`)).json().state
const REFUSED = { at: '2026-01-02T03:04:05.678Z', ms: 12, status: 400, message: 'It was refused.' }
const undeliverable = async () => {
  const id = await stage.add()
  await stage.leave(id, 'undeliverable', [REFUSED])
  return id
}

describe('crosswalk deliveries list', () => {
  test('has a line for each, the newest last', async () => {
    const first = await undeliverable()
    const second = await stage.add({ orderKey: 'a' })
    const { code, stdout } = await run('list', [])
    const [one, other] = stdout.trimEnd().split('\n')
    assert.equal(code, 0)
    assert.match(
      one ?? '',
      new RegExp(`Z {2}${first} {2}undeliverable {2}1 attempt {2}Orders {2}store {2}http://lab\\.test {2}400: It was`),
    )
    assert.match(other ?? '', new RegExp(`${second} {2}pending {2}0 attempts {2}Orders {2}store`))
  })

  test('finds by filters, as JSON', async () => {
    const first = await undeliverable()
    await stage.add({ requestId: 'copy' })
    for (const given of [
      { state: 'undeliverable' },
      { filter: ['request=store'] },
      { from: '-1h', state: 'undeliverable' },
    ]) {
      const found: readonly JsonObject[] = JSON.parse((await run('list', [], { ...given, json: true })).stdout)
      assert.deepEqual(
        found.map(({ id }) => id),
        [first],
      )
    }
  })

  test('reads page after page up to the limit', async () => {
    for (let count = 0; count < 603; count++) await stage.add()
    const { stdout } = await run('list', [], { limit: 602 })
    assert.equal(stdout.trimEnd().split('\n').length, 602)
  })
})

test('crosswalk deliveries show has the attempts, and what is sent if asked', async () => {
  const id = await undeliverable()
  const { code, stdout } = await run('show', [id], { request: true })
  assert.equal(code, 0)
  for (const line of [
    'state: undeliverable',
    'attempt: 2026-01-02T03:04:05.678Z  12 ms  400: It was refused.',
    'body: {"a":1}',
  ])
    assert.ok(stdout.includes(line), stdout)
  const [shown]: readonly JsonObject[] = JSON.parse((await run('show', [id], { json: true })).stdout)
  assert.deepEqual([shown?.id, shown?.state], [id, 'undeliverable'])
})

describe('crosswalk deliveries retry', () => {
  test('sends those with the ids, and finds what cannot be sent again', async () => {
    const id = await undeliverable()
    const arrived = await stage.add()
    await stage.leave(arrived, 'delivered')
    const { code, stdout } = await run('retry', [id, arrived], { yes: true })
    assert.equal(code, 1)
    assert.match(stdout, new RegExp(`^${id} {2}retried\n${arrived} {2}.* has arrived`))
    assert.equal(await stateOf(id), 'pending')
  })

  test('sends all that the filters match', async () => {
    const ids = [await undeliverable(), await undeliverable()]
    const asked = await run('retry', [], { filter: ['request=store'], max: 1 }, 'y')
    assert.deepEqual([asked.code, asked.stdout], [0, '1 delivery retried.\n'])
    assert.match(
      asked.stderr,
      /Send again all deliveries with state=undeliverable, request=store at .*There are others/s,
    )
    const { stdout } = await run('retry', [], { state: 'undeliverable', yes: true, json: true })
    assert.deepEqual(JSON.parse(stdout), { count: 1, ids: ids.slice(1), more: false })
  })

  test('runs the message through the document of today, with the body of a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'crosswalk-'))
    const body = join(folder, 'body.json')
    writeFileSync(body, '{"a": 2}')
    const id = await undeliverable()
    const done = await run('retry', [id], { now: true, body, yes: true })
    assert.equal(done.code, 0)
    assert.match(done.stdout, new RegExp(`^${id} {2}-> [0-9a-f]{24} {2}done\n$`))
    assert.equal(String(stage.replays[0]?.[1].edited?.body), '{"a": 2}')
    stage.outcome = 'failed'
    assert.equal((await run('retry', [await undeliverable()], { now: true, yes: true })).code, 1)
    rmSync(folder, { recursive: true })
  })

  test('changes nothing without a yes', async () => {
    const id = await undeliverable()
    for (const answer of ['n', undefined]) {
      const { code, stderr } = await run('retry', [id], {}, answer)
      assert.equal(code, 3)
      assert.match(stderr, /Nothing was changed\./)
    }
    assert.equal(await stateOf(id), 'undeliverable')
  })
})

test('crosswalk deliveries cancel ends those with the ids, or all that the filters match', async () => {
  const id = await undeliverable()
  const pending = await stage.add()
  assert.equal((await run('cancel', [id], { yes: true })).stdout, `${id}  cancelled\n`)
  assert.equal((await run('cancel', [], { endpoint: 'e'.repeat(24), yes: true })).stdout, '1 delivery cancelled.\n')
  assert.deepEqual([await stateOf(id), await stateOf(pending)], ['cancelled', 'cancelled'])
})

describe('crosswalk deliveries refuses', () => {
  const ID = '0'.repeat(24)
  const wrong: readonly (readonly [Act, readonly string[], CommandOptions, RegExp])[] = [
    ['list', [], { filter: ['colour'] }, /--filter is wrong: write it as NAME=VALUE/],
    ['list', [], { filter: ['colour=red'] }, /There is no filter "colour"/],
    ['show', [], {}, /Give the id of a delivery/],
    ['show', [ID], {}, /There is no delivery '0{24}'/],
    ['show', ['12'], {}, /"12" isn't the id of a delivery/],
    ['retry', [], {}, /Give ids of deliveries, or filters/],
    ['retry', [ID], { state: 'pending' }, /Give ids of deliveries, or filters/],
    ['retry', [], { now: true, state: 'pending' }, /--now and --body need ids/],
    ['retry', [ID, ID], { body: 'x' }, /--body is for one delivery/],
    ['retry', [ID], { body: 'no-such-file' }, /no-such-file/],
    ['cancel', [ID], { max: 1 }, /--max is for filters/],
    ['cancel', [], { state: 'delivered', yes: true }, /What is delivered cannot be cancelled/],
  ]
  for (const [act, ids, given, says] of wrong) {
    test(`${act} ${ids.join(' ')} ${JSON.stringify(given)}`, async () => {
      const { code, stdout, stderr } = await run(act, ids, given)
      assert.deepEqual([code, stdout], [3, ''])
      assert.match(stderr, says)
    })
  }
})
