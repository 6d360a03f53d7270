/** A million stored deliveries of four kinds, made by copying one that the service has accepted. */
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

/** Of the targets of the backlog: each refuses connections, at an address of its own. */
const TARGETS = 1_000
const KEYS = 100_000
/** As SQL: the address of one of the targets. */
const address = (number: string) => `'http://127.1.' || ((${number}) / 250) || '.' || ((${number}) % 250 + 1) || ':9'`
export const addressOf = (number: number) =>
  `http://127.1.${Math.floor((number % TARGETS) / 250)}.${(number % 250) + 1}:9`
export const ONE_TARGET = 'http://127.2.0.1:9'
export const KEYED_TARGET = 'http://127.3.0.1:9'

/** Runs statements on a database beside the service. */
export type Run = (sql: string) => Promise<unknown[]>

export async function withDatabase<T>(url: string, work: (run: Run) => Promise<T>): Promise<T> {
  if (url.startsWith('sqlite:')) {
    const db = new DatabaseSync(url.slice('sqlite:'.length))
    try {
      return await work(async (text) => db.prepare(text).all())
    } finally {
      db.close()
    }
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(async (text) => (await client.query(text)).rows)
  } finally {
    await client.end()
  }
}

/**
 * In: a database with one delivery. Out: it has `count` more that are due. Of ten, one has the key of all such, and five have
 * one of 100,000 keys, at 1,000 targets; of the others, which have no key, half go to one target and half to the 1,000.
 */
export function addBacklog(url: string, count: number): Promise<void> {
  const hex = url.startsWith('sqlite:') ? `printf('%024x', n)` : `lpad(to_hex(n), 24, '0')`
  return withDatabase(url, async (run) => {
    const key = `((n / 10) * 5 + n % 10 - 1) % ${KEYS}`
    const lane = `case when n % 10 = 0 then 'all' when n % 10 < 6 then 'key ' || (${key}) else ${hex} end`
    const target = `case when n % 10 = 0 then '${KEYED_TARGET}' when n % 10 < 6 then ${address(`(${key}) % ${TARGETS}`)}
      when n % 10 < 8 then '${ONE_TARGET}' else ${address(`n % ${TARGETS}`)} end`
    await run(`create table backlog as with recursive numbers (n) as (
        select 1 union all select n + 1 from numbers where n < ${count}
      ) select n, ${hex} as id, ${lane} as lane, ${target} as target from numbers order by n`)
    await run(`insert into deliveries (id, lane, target, state, endpoint_id, message_id, request_id, order_key, ended,
        attempts, bytes, detail, log)
      select backlog.id, backlog.lane, backlog.target, 'pending', endpoint_id, backlog.id, request_id,
        case when backlog.lane = backlog.id then '' else backlog.lane end, 0, 0, bytes, detail, '[]'
      from backlog, (select * from deliveries limit 1) as one order by n`)
    await run(`insert into delivery_contents (id, request, body)
      select backlog.id, replace(request, 'http://127.0.0.1:9', backlog.target), body
      from backlog, (select * from delivery_contents limit 1) as one order by n`)
    await run(`insert into delivery_lanes (lane, target, depth)
      select lane, min(target), count(*) from backlog group by lane order by min(n)`)
    await run(`insert into delivery_totals (endpoint_id, request_id, target, state, slot, endpoint, count, bytes)
      select endpoint_id, request_id, backlog.target, 'pending', 0, 'Durable', count(*), count(*) * max(bytes)
      from backlog, (select * from deliveries limit 1) as one group by endpoint_id, request_id, backlog.target`)
    await run('drop table backlog')
    // What PostgreSQL does by itself within minutes.
    if (!url.startsWith('sqlite:')) for (const upkeep of ['vacuum analyze', 'checkpoint']) await run(upkeep)
  })
}

/** Moves the next attempt of all that is pending by so much. */
export const moveDue = (url: string, ms: number): Promise<void> =>
  withDatabase(url, async (run) => {
    await run(`update delivery_lanes set due = due + ${ms}`)
  })
