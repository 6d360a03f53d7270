/**
 * What a server without statistics expects its statements to cost. Above 100,000 a stock server compiles a statement at
 * every run (jit_above_cost), which takes it over 100 ms, and it has no statistics of small tables for as long as it likes.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import type { Json } from '../../../src/core/json.ts'
import { endpointDocument, json, type Service, startService } from '../../support/service.ts'
import { freshDatabase, postgresMissing } from '../../support/services/postgres.ts'
import { fill, observe } from './fill.ts'

const MAX_COST = 10_000
const ENDPOINTS = 1_000

const SEARCHES = [
  '/audit?what=POST%20/endpoints',
  '/messages?outcome=failed&code=BODY_UNREADABLE',
  '/messages?status=4xx&source=http&replayed=false',
  '/messages?key=order:second&limit=5',
  '/messages/groups',
]

type Statement = Readonly<{ text: string; values?: readonly unknown[] }>

/** Costs are those of a plan for any values: the server makes such a plan once it has run a statement a few times. */
async function costOf(client: pg.Client, { text, values = [] }: Statement): Promise<number> {
  await client.query(`prepare planned as ${text}`)
  const nulls = values.length === 0 ? '' : `(${values.map(() => 'null').join(', ')})`
  const { rows } = await client.query(`explain (format json) execute planned${nulls}`)
  await client.query('deallocate planned')
  return rows[0]['QUERY PLAN'][0].Plan['Total Cost']
}

/** What fills the tables, and reads, searches and changes what is in them, at two instances of one database. */
async function use(service: Service, other: Service): Promise<void> {
  const filled = await fill(service)
  const manage = async (method: string, path: string, body?: Json) => {
    const reply = await fetch(`${other.adminUrl}${path}`, json(method, body, { authorization: `Bearer ${filled.key}` }))
    if (reply.status >= 400) throw new Error(`${method} ${path}: ${await reply.text()}`)
  }
  const operations = Array.from({ length: ENDPOINTS }, (_, n) => ({
    op: 'create',
    document: endpointDocument({ endpoint: { pattern: `/planned/${n}` } }),
  }))
  await manage('POST', '/endpoints/batch', { operations })
  await observe(other, filled)
  for (const path of SEARCHES) await manage('GET', path)
}

test('no statement is expensive in the eyes of a server without statistics', {
  skip: postgresMissing() ?? false,
}, async (context) => {
  const statements = new Map<string, Statement>()
  const query = pg.Client.prototype.query
  context.mock.method(
    pg.Client.prototype,
    'query',
    function (this: pg.Client, ...given: [Statement | string, unknown[]?]) {
      const [statement, values] = given
      const asked = typeof statement === 'string' ? { text: statement, ...(values && { values }) } : statement
      if (/^\s*(select|insert|update|delete|with)\b/i.test(asked.text)) statements.set(asked.text, asked)
      return Reflect.apply(query, this, given)
    },
  )
  const database = await freshDatabase(context)
  const service = await startService({ DATABASE_URL: database.url, MESSAGE_LOG: 'all' })
  database.uses(service.stop)
  const other = await startService({ DATABASE_URL: database.url, MESSAGE_LOG: 'all' })
  database.uses(other.stop)
  await use(service, other)
  context.mock.restoreAll()

  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  database.uses(() => client.end())
  await client.query('set plan_cache_mode = force_generic_plan')
  const costs = []
  for (const statement of statements.values())
    costs.push({ text: statement.text, cost: await costOf(client, statement) })
  assert.ok(costs.length > 40, `only ${costs.length} statements were seen`)
  assert.deepEqual(
    costs.filter(({ cost }) => cost > MAX_COST),
    [],
  )
})
