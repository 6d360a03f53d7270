/** State is shared: written on one instance, read on any. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startUpstream } from '../../support/service.ts'
import { freshDatabase } from '../../support/services/postgres.ts'
import { type Instance, needsPostgres, startInstance, until } from './instances.ts'

const ENDPOINTS = 5
const STATUSES = 60
/** So many at once wait for each other, on a busy machine for longer than one call or its turn may. */
const PATIENT = { DATABASE_TIMEOUT_MS: '25000', REQUEST_CONNECT_TIMEOUT_MS: '10000', MESSAGE_WAIT_MS: '25000' }

test('of many concurrent states from two instances none is lost', needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  const upstream = await startUpstream((request, response) => {
    response.statusCode = Number(new URL(request.url, 'http://upstream').searchParams.get('status'))
    return {}
  })
  test.after(upstream.stop)
  const instances = await Promise.all([startInstance(test, database, PATIENT), startInstance(test, database, PATIENT)])
  const [one, other] = instances as [Instance, Instance]
  // A store keeps one state for each endpoint and status of its lookups.
  const registered = await Promise.all(
    Array.from({ length: ENDPOINTS }, (_, n) =>
      one.register({
        endpoint: { pattern: `/keep-${n}` },
        requests: {
          lookup: {
            id: 'status',
            config: { url: upstream.url, params: { query: { status: { path: 'requestBody.status' } } } },
            allowedStatuses: ['*'],
          },
        },
        state: { extract: { requestBody: { status: 'status' } } },
        inputMapping: { 'requestBody.status': 'status' },
      }),
    ),
  )
  for (const [n] of registered.entries()) await waitForRoute(other, `/keep-${n}`)
  const messages = registered.flatMap(({ _id }, n) =>
    Array.from({ length: STATUSES }, (_, index) => ({ id: _id, path: `/keep-${n}`, status: 300 + index })),
  )
  const answers = await Promise.all(
    messages.map(({ path, status }, index) => (index % 2 === 0 ? one : other).ask('POST', path, { status })),
  )
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  const rows = await database.query<{ endpoint_id: string; lookup_status: number; state: string }>(
    'select endpoint_id, lookup_status, state from states where lookup_status >= 300',
  )
  const kept = new Map(rows.map((row) => [`${row.endpoint_id} ${row.lookup_status}`, JSON.parse(row.state)]))
  const lost = messages.filter(({ id, status }) => kept.get(`${id} ${status}`)?.requestBody.status !== status)
  assert.deepEqual(lost, [])
})

type Message = Readonly<{ n: number; seen: number | undefined; startedAt: number; endedAt: number }>

const MESSAGES = 400
const LANES = 20

test(
  'of many states that two instances write to one row each is seen until a newer one is',
  needsPostgres,
  async (test) => {
    const database = await freshDatabase(test)
    const instances = (await Promise.all([startInstance(test, database), startInstance(test, database)])) as [
      Instance,
      Instance,
    ]
    const [one, other] = instances
    await one.register({
      endpoint: { pattern: '/row' },
      state: { extract: { requestBody: { n: 'n' } } },
      inputMapping: { 'state.requestBody.n': 'seen' },
    })
    await waitForRoute(other, '/row')

    const messages: Message[] = []
    let next = 0
    async function runLane(): Promise<void> {
      while (next < MESSAGES) {
        const n = next++
        const startedAt = performance.now()
        const { status, body } = await (n % 2 === 0 ? one : other).ask('POST', '/row', { n })
        assert.equal(status, 200)
        messages.push({ n, seen: body.seen as number | undefined, startedAt, endedAt: performance.now() })
      }
    }
    await Promise.all(Array.from({ length: LANES }, runLane))
    assert.equal(messages.length, MESSAGES)

    const byNumber = new Map(messages.map((message) => [message.n, message]))
    /** Whether a state was over before another one was begun, and that one written by then: it should not be seen. */
    const isStale = (seen: number | undefined, at: number) => {
      const writtenAt = seen === undefined ? Number.NEGATIVE_INFINITY : (byNumber.get(seen)?.endedAt ?? Number.NaN)
      return !messages.every(({ startedAt, endedAt }) => !(startedAt > writtenAt && endedAt < at))
    }
    assert.deepEqual(
      messages.filter(({ seen, startedAt }) => isStale(seen, startedAt)),
      [],
    )
    const rows = await database.query<{ state: string }>('select state from states')
    assert.equal(rows.length, 1)
    const { requestBody } = JSON.parse(rows[0]?.state ?? '') as { requestBody: { n: number } }
    assert.equal(isStale(requestBody.n, Number.POSITIVE_INFINITY), false, `${requestBody.n} is what is left`)
  },
)

async function waitForRoute(instance: Instance, path: string): Promise<void> {
  await until('the route', 60_000, async () => (await instance.ask('PUT', path, {})).status !== 404)
}
