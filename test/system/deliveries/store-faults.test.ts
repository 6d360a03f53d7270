/** Deliveries are accepted while their store fails: a 202 only for what is stored, and what a repetition with the same key does. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { LONG } from '../../support/form.ts'
import { endpointDocument, json, startUpstream } from '../../support/service.ts'
import { clusterMissing, freshDatabase, startPostgres } from '../../support/services/postgres.ts'
import { startTcpProxy } from '../../support/services/tcp-proxy.ts'
import { freshFolder, type SpawnedService, spawnService } from '../../support/spawned-service.ts'
import { until } from '../../support/until.ts'
import { needsPostgres } from '../instances/instances.ts'

const SENDERS = 8
const TIMEOUT_MS = 1_000

/** The fault begins when `begin` is called, and is over when `end` has resolved. */
type Fault = Readonly<{ begin(): Promise<void> | void; end(): Promise<void> | void }>

/** Sends messages before, during and after each of some faults; gives those that were accepted at once. */
async function acceptThrough(test: TestContext, { url, adminUrl }: SpawnedService, faults: readonly Fault[]) {
  const target = await startUpstream(() => ({}))
  test.after(target.stop)
  const document = endpointDocument({
    endpoint: { pattern: '/orders' },
    idempotency: {},
    requests: { response: { id: 'out', config: { method: 'POST', url: target.url }, delivery: {} } },
    inputMapping: { 'requestBody.number': 'number' },
  })
  // On a busy machine the store may take longer than its short timeout, and store it nevertheless.
  await until(
    async () => (await fetch(`${url}/endpoints`, json('POST', document))).status,
    (status) => status === 201 || status === 409,
  )
  const send = async (number: number) => {
    const reply = await fetch(`${url}/orders`, json('POST', { number }, { 'idempotency-key': `"n${number}"` }))
    const body = (await reply.json()) as { deliveries?: readonly { id: string }[]; code?: string }
    return { number, status: reply.status, code: body.code, id: body.deliveries?.[0]?.id }
  }
  const first: Awaited<ReturnType<typeof send>>[] = []
  let isOver = false
  let next = 0
  const sender = async () => {
    while (!isOver) {
      next += 1
      first.push(await send(next))
    }
  }
  const counted = (status: number) => first.filter((one) => one.status === status).length
  const sending = Promise.all(Array.from({ length: SENDERS }, sender))
  const more = (status: number, count: number) => {
    const enough = counted(status) + count
    return until(
      () => counted(status),
      (now) => now >= enough,
    )
  }
  try {
    for (const { begin, end } of faults) {
      await more(202, 50)
      await begin()
      await more(503, 2 * SENDERS)
      await end()
    }
    await more(202, 50)
  } finally {
    isOver = true
    await sending
  }
  const stored = async () => {
    const ids: string[] = []
    let cursor = ''
    do {
      const reply = await fetch(`${adminUrl}/deliveries?limit=500${cursor}`)
      const page = (await reply.json()) as { deliveries: readonly { id: string }[]; next?: string }
      ids.push(...page.deliveries.map(({ id }) => id))
      cursor = page.next === undefined ? '' : `&cursor=${page.next}`
    } while (cursor !== '')
    return new Set(ids)
  }
  const storedBefore = await stored()
  const accepted = first.filter(({ status }) => status === 202)
  const refused = first.filter(({ status }) => status !== 202)
  const repeated = await Promise.all(refused.map(({ number }) => send(number)))
  await until(
    () => new Set(target.received.map(({ headers }) => headers['idempotency-key'])).size,
    (count) => count >= first.length,
  )
  const idsOf = new Map<number, Set<string>>()
  for (const { body, headers } of target.received) {
    const { number } = JSON.parse(body) as { number: number }
    idsOf.set(number, (idsOf.get(number) ?? new Set()).add(String(headers['idempotency-key'])))
  }
  test.diagnostic(
    `${accepted.length} accepted, ${refused.length} refused: ${[...new Set(refused.map((one) => one.code))]}`,
  )
  for (const { status, code } of refused)
    assert.deepEqual([status, /_UNAVAILABLE$/.test(code ?? '')], [503, true], code)
  assert.deepEqual(
    accepted.filter(({ id = '' }) => !storedBefore.has(id)),
    [],
    'a 202 that was not stored',
  )
  for (const { status, number } of repeated) assert.equal(status, 202, `${number}`)
  for (const { id = '', number } of [...accepted, ...repeated]) {
    assert.deepEqual([...(idsOf.get(number) ?? [])], [id], `the deliveries of ${number}`)
  }
  return { accepted, storedBefore }
}

const sqliteFaults: Readonly<Record<string, (service: SpawnedService, path: string) => Fault>> = {
  'the disk is full': ({ child }) => {
    const limit = (bytes: string) => {
      const { status } = spawnSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:unlimited`])
      assert.equal(status, 0)
    }
    return { begin: () => limit('1'), end: () => limit('unlimited') }
  },
  'another program has locked the file': (_service, path) => {
    const file = new DatabaseSync(path, { timeout: 10_000 })
    return {
      begin: () => file.exec('begin immediate'),
      end: () => {
        file.exec('rollback')
        file.close()
      },
    }
  },
}

const NETWORK = { refuse: 'refuses connections', stall: 'does not answer' } as const

// They wait more than they work.
describe('while the store fails', { concurrency: true }, () => {
  for (const [name, make] of Object.entries(sqliteFaults)) {
    test(`SQLite: while ${name}, a 202 is what is stored, and nothing else is`, async (test) => {
      const folder = freshFolder(test)
      const service = await spawnService(folder, {
        env: { DATABASE_URL: 'sqlite:./one.db', DATABASE_TIMEOUT_MS: `${TIMEOUT_MS}` },
      })
      const { accepted, storedBefore } = await acceptThrough(test, service, [make(service, join(folder, 'one.db'))])
      assert.equal(storedBefore.size, accepted.length)
      service.child.kill('SIGTERM')
      assert.equal((await service.ended).code, 0)
    })
  }

  for (const [fault, name] of Object.entries(NETWORK) as [keyof typeof NETWORK, string][]) {
    test(
      `PostgreSQL: while it ${name}, each 202 is stored, and a repetition of a 503 stores nothing twice`,
      needsPostgres,
      async (test) => {
        const database = await freshDatabase(test)
        const proxy = await startTcpProxy(database.url)
        database.uses(proxy.stop)
        const service = await spawnService(freshFolder(test), {
          env: { DATABASE_URL: proxy.url, DATABASE_TIMEOUT_MS: `${TIMEOUT_MS}` },
        })
        database.uses(async () => {
          service.child.kill('SIGTERM')
          assert.equal((await service.ended).code, 0)
        })
        await acceptThrough(test, service, [{ begin: proxy[fault], end: proxy.heal }])
      },
    )
  }

  test('PostgreSQL: while its processes are killed or frozen, each 202 is stored, and a repetition of a 503 stores nothing twice', {
    skip: clusterMissing() ?? false,
  }, async (test) => {
    const postgres = await startPostgres()
    const service = await spawnService(freshFolder(test), {
      env: { DATABASE_URL: postgres.url, DATABASE_TIMEOUT_MS: `${TIMEOUT_MS}` },
    })
    test.after(async () => {
      service.child.kill('SIGTERM')
      assert.equal((await service.ended).code, 0)
      await postgres.stop()
    })
    const restart: Fault = { begin: () => postgres.ask('halt'), end: () => postgres.ask('start') }
    const freeze: Fault = { begin: () => postgres.ask('freeze'), end: () => postgres.ask('thaw') }
    await acceptThrough(test, service, LONG ? [restart, freeze, restart, freeze] : [restart, freeze])
  })
})
