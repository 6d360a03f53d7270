/** The audit log: who did what, that nothing secret is in it, and that strangers cannot fill it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createAuditLog, REFUSED_AT_ONCE, REFUSED_EVERY_MS } from '../../../../src/api/access/audit-log.ts'
import { isForViewers } from '../../../../src/api/access/authorise.ts'
import { ADMIN_ROUTES } from '../../../../src/api/routes.ts'
import { createIds } from '../../../../src/core/id.ts'
import type { AuditEntry } from '../../../../src/store/sql/audit-store.ts'
import { StoreUnavailable } from '../../../../src/store/store-access.ts'
import {
  bearer,
  JSON_TYPE,
  type ServiceWithKeys,
  startServiceWithKeys,
} from '../../../support/api/access/service-with-keys.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { endpointDocument } from '../../../support/service.ts'
import { silent } from '../../../support/silent.ts'

type Page = { entries: (AuditEntry & { sentence: string })[]; next?: string }

describe('the audit log of a service', () => {
  let withKeys: ServiceWithKeys
  let admin: Record<string, string>
  before(async () => {
    withKeys = await startServiceWithKeys({ AUDIT_DAYS: '30' })
    admin = bearer(withKeys.keys.admin)
  })
  after(() => withKeys.service.stop())

  const ask = (method: string, path: string, body?: unknown, headers = bearer(withKeys.keys.author)) =>
    call(withKeys.baseUrl('admin'), method, path, {
      headers: { ...JSON_TYPE, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const audit = async (query = ''): Promise<Page> => (await ask('GET', `/audit${query}`, undefined, admin)).json<Page>()
  const shown = ({ what, status, before, after, code }: AuditEntry) => ({ what, status, before, after, code })

  test('reports every change with the versions before and after it', async () => {
    const document = endpointDocument({ endpoint: { pattern: '/audited' } })
    const { _id } = (await ask('POST', '/endpoints', document)).json<{ _id: string }>()
    await ask('PATCH', `/endpoints/${_id}`, { description: 'x' })
    await ask('PUT', `/endpoints/${_id}`, { ...document, description: 'y' })
    await ask('PUT', `/endpoints/${_id}`, { name: 7 })
    await ask('POST', `/endpoints/${_id}/versions/1/restore`)
    await ask('DELETE', `/endpoints/${_id}`)
    await ask('POST', `/endpoints/${_id}/versions/2/restore`)
    await ask('GET', `/endpoints/${_id}`)
    const { entries } = await audit(`?what=${_id}`)
    const none = { code: undefined }
    assert.deepEqual(entries.toReversed().map(shown), [
      { what: 'POST /endpoints', status: 201, before: 0, after: 1, ...none },
      { what: 'PATCH /endpoints/{id}', status: 200, before: 1, after: 2, ...none },
      { what: 'PUT /endpoints/{id}', status: 200, before: 2, after: 3, ...none },
      { what: 'PUT /endpoints/{id}', status: 400, before: undefined, after: undefined, code: 'CONFIGURATION_INVALID' },
      { what: 'POST /endpoints/{id}/versions/{version}/restore', status: 200, before: 3, after: 4, ...none },
      { what: 'DELETE /endpoints/{id}', status: 200, before: 4, after: 5, ...none },
      { what: 'POST /endpoints/{id}/versions/{version}/restore', status: 200, before: 5, after: 6, ...none },
    ])
    const { name } = document
    assert.deepEqual(
      entries.toReversed().map(({ sentence }) => sentence),
      [
        `published version 1 of ${name}`,
        `published version 2 of ${name}`,
        `published version 3 of ${name}`,
        'asked for PUT /endpoints/{id} and was answered 400 CONFIGURATION_INVALID',
        `restored ${name}, as version 4`,
        `deleted ${name}`,
        `restored ${name}, as version 6`,
      ].map((done) => `test author ${done}`),
    )
    for (const { who, name, address, at } of entries) {
      assert.match(who, /^key:[0-9a-f]{16}$/)
      assert.equal(name, 'test author')
      assert.match(address ?? '', /127\.0\.0\.1$/)
      assert.ok(Math.abs(Date.parse(at) - Date.now()) < 600_000)
    }
  })

  test('reports a change of a table once, a dry run as one, and many codes as few', async () => {
    const table = { columns: ['code', 'fhir'], rows: [['F', 'female']] }
    await ask('PUT', '/tables/audited?dryRun=true', table)
    await ask('PUT', '/tables/audited', table)
    await ask('PUT', '/tables/audited', table)
    await ask('POST', '/tables/audited/rows?dryRun=true', { rows: [] })
    await ask('DELETE', '/tables/audited')
    await ask('PUT', '/tables/audited', table)
    const codes = Array.from({ length: 30_000 }, (_, code) => `code ${code}`)
    await ask('DELETE', '/tables/audited/unmapped', { codes })
    const { entries } = await audit('?what=audited')
    const first = codes.slice(0, 10).join(', ')
    assert.deepEqual(
      entries.toReversed().map(({ note, target, ...one }) => ({ ...shown(one as AuditEntry), note, target })),
      [
        ['PUT /tables/{name}', 200, undefined, undefined, 'dry run'],
        ['PUT /tables/{name}', 201, 0, 1],
        ['PUT /tables/{name}', 200, 1, 2],
        ['POST /tables/{name}/rows', 200, undefined, undefined, 'dry run'],
        ['DELETE /tables/{name}', 200, 2, 3],
        ['PUT /tables/{name}', 201, 3, 4],
        ['DELETE /tables/{name}/unmapped', 200, undefined, undefined, `unmapped codes: ${first} and 29990 more`],
      ].map(([what, status, before, after, note]) => ({
        what,
        status,
        before,
        after,
        code: undefined,
        note,
        target: 'audited',
      })),
    )
  })

  test('reports who made and revoked keys, who looked at bodies, who replayed, and who looked into it', async () => {
    const made = (await ask('POST', '/keys', { name: 'short', roles: ['viewer'] }, admin)).json<{ id: string }>()
    await ask('DELETE', `/keys/${made.id}`, undefined, admin)
    const message = '0'.repeat(24)
    await ask('GET', `/messages/${message}/body/incoming`, undefined, bearer(withKeys.keys.operator))
    await ask('POST', `/messages/${message}/replay`, undefined, bearer(withKeys.keys.operator))
    const what = async (target: string) => (await audit(`?what=${target}`)).entries.map((entry) => entry.what)
    assert.deepEqual(await what(made.id), ['DELETE /keys/{id}', 'POST /keys'])
    assert.deepEqual(await what(message), ['POST /messages/{id}/replay', 'GET /messages/{id}/body/{which}'])
    assert.ok((await audit('?what=GET%20/audit')).entries.length >= 2)
  })

  test('reports refused calls, without what was in their URL', async () => {
    const secret = 'cwk_in-the-wrong-place'
    await ask('GET', `/nothing/${secret}?key=${secret}`, undefined, {})
    await ask('GET', `/messages/${secret}`, undefined, bearer(secret))
    await ask('DELETE', '/keys/0123456789abcdef', undefined, bearer(withKeys.keys.viewer))
    await ask('GET', '/endpoints', undefined, bearer(withKeys.keys.revoked))
    await ask('PROPFIND', '/endpoints', undefined, bearer(withKeys.keys.revoked))
    const { entries } = await audit('?limit=500')
    const refused = entries.filter(({ status }) => status === 401 || status === 403)
    assert.deepEqual(
      refused
        .slice(0, 5)
        .toReversed()
        .map(({ who, what, status, code }) => [who.split(':')[0], what, status, code]),
      [
        ['unknown', 'GET (unknown)', 401, 'CREDENTIALS_REFUSED'],
        ['unknown', 'GET /messages/{id}', 401, 'CREDENTIALS_REFUSED'],
        ['key', 'DELETE /keys/{id}', 403, 'ACCESS_DENIED'],
        ['key', 'GET /endpoints', 401, 'CREDENTIALS_REFUSED'],
        ['key', 'PROPFIND /endpoints', 401, 'CREDENTIALS_REFUSED'],
      ],
    )
    assert.ok(!JSON.stringify(entries).includes(secret))
  })

  test('no key is in it, in the log, in an answer or in the metrics', async () => {
    const everything = [
      JSON.stringify(await audit('?limit=500')),
      JSON.stringify(withKeys.service.log),
      (await ask('GET', '/keys', undefined, admin)).text,
      (await ask('GET', '/metrics')).text,
      (await ask('GET', '/messages', undefined, admin)).text,
      (await ask('GET', '/endpoints', undefined, bearer(`${withKeys.keys.admin}x`))).text,
      (await ask('GET', '/endpoints', undefined, bearer(withKeys.keys.revoked))).text,
    ].join('\n')
    for (const key of Object.values(withKeys.keys)) {
      assert.ok(!everything.includes(key))
      assert.ok(!everything.includes(key.slice(-43)))
    }
    assert.ok(!/"hash"/.test(everything))
  })

  test('is read page by page, and refuses filters that it does not know', async () => {
    const whole = (await audit('?limit=500')).entries
    const paged: AuditEntry[] = []
    for (let next: string | undefined = ''; next !== undefined; ) {
      const page: Page = await audit(`?limit=3&to=${whole[0]?.at}${next === '' ? '' : `&cursor=${next}`}`)
      assert.ok(page.entries.length <= 3)
      paged.push(...page.entries)
      next = page.next
    }
    const older = whole.filter(({ at }) => at < (whole[0]?.at ?? ''))
    assert.deepEqual(
      paged.map(({ id }) => id),
      older.map(({ id }) => id),
    )
    for (const query of ['?whom=x', '?from=yesterday', '?limit=0', '?limit=501', '?cursor=x', '?from=-1h&from=-2h']) {
      const reply = await ask('GET', `/audit${query}`, undefined, admin)
      assert.deepEqual([reply.status, reply.json().code], [400, 'FILTER_INVALID'], query)
    }
  })
})

describe('strangers', () => {
  const refused = { who: 'unknown', what: 'GET /endpoints', status: 401 }
  const allowed = { who: 'local', what: 'PUT /endpoints/{id}', status: 200 }

  /** Logs over one store, of each of several workers, or of one. */
  function logsOf(workers = 1) {
    const now = { ms: 1_800_000_000_000 }
    const kept: AuditEntry[] = []
    const purges: number[] = []
    const clock = () => now.ms
    const logs = Array.from({ length: workers }, (_, slot) =>
      createAuditLog({
        store: {
          append: async (entry: AuditEntry) => void kept.push(entry),
          find: async () => [],
          purge: async () => void purges.push(slot),
        },
        days: 1,
        clock,
        newId: createIds(clock, slot),
        logger: silent,
        ...(workers > 1 && { workerSlot: { slot, workers } }),
      }),
    )
    const refuse = async (times: number) => {
      for (const log of logs) for (let n = 0; n < times; n += 1) await log.record(refused)
    }
    return { now, kept, purges, logs, refuse, stop: () => Promise.all(logs.map((log) => log.stop())) }
  }

  test('leave a bounded number of entries, and the next one reports how many more there were', async () => {
    const { now, kept, logs, refuse, stop } = logsOf()
    await refuse(10_000)
    assert.equal(kept.length, REFUSED_AT_ONCE)
    // Those who are let in are not held back by them.
    await logs[0]?.record(allowed)
    assert.equal(kept.length, REFUSED_AT_ONCE + 1)
    now.ms += REFUSED_EVERY_MS
    await refuse(2)
    assert.equal(kept.length, REFUSED_AT_ONCE + 2)
    assert.equal(kept.at(-1)?.omitted, 10_000 - REFUSED_AT_ONCE)
    now.ms += 1_000_000_000
    await refuse(10_000)
    assert.equal(kept.length, 2 * REFUSED_AT_ONCE + 2)
    await stop()
  })

  test('are counted by each of several workers, whose shares are the same bound; the first one removes what is old', async () => {
    const workers = 4
    const { now, kept, purges, refuse, stop } = logsOf(workers)
    await refuse(1_000)
    assert.equal(kept.length, REFUSED_AT_ONCE)
    now.ms += 10 * workers * REFUSED_EVERY_MS
    await refuse(1_000)
    assert.equal(kept.length, REFUSED_AT_ONCE + 10 * workers)
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(purges, [0])
    await stop()
  })

  test('and a store that is away keep no call from its answer', async () => {
    const lines: object[] = []
    const store = {
      append: () => Promise.reject(new StoreUnavailable('away')),
      find: async () => [],
      purge: async () => undefined,
    }
    const logger = { ...silent, error: (fields: object) => void lines.push(fields) }
    const log = createAuditLog({ store, days: 1, clock: Date.now, newId: createIds(Date.now, 1), logger })
    await log.record(allowed)
    assert.equal(lines.length, 1)
    await log.stop()
  })
})

test('every route whose calls are in the audit log says what they do', () => {
  const silentRoutes = ADMIN_ROUTES.filter(
    ({ role, leavesNoEntry, did }) => role !== 'open' && !isForViewers(role) && !leavesNoEntry && did === undefined,
  )
  assert.deepEqual(silentRoutes, [])
})
