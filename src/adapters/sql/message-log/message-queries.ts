/** The queries on the message log. Each is built for its call, as every filter is another text. */
import { type CompiledQuery, type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely'
import { idFrom } from '../../../domain/id.ts'
import type { MessageFilter } from '../../../domain/ports/message-store-port.ts'
import { keyText } from '../tables.ts'
import { escaped } from './message-rows.ts'
import type { MessageRow, MessageTables } from './message-tables.ts'

type Queries = Kysely<MessageTables>
export type Where = ExpressionBuilder<MessageTables, 'messages'>

export const compileFind = (db: Queries, filter: MessageFilter, limit: number, before?: string) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where((where) =>
      where.and([...conditions(where, filter), ...(before === undefined ? [] : [where('id', '<', before)])]),
    )
    .orderBy('id', 'desc')
    .limit(limit)
    .compile()

export const compileGet = (db: Queries, id: string): CompiledQuery<MessageRow> =>
  db.selectFrom('messages').selectAll().where('id', '=', id).compile()

export const compileBody = (db: Queries, id: string, which: string) =>
  db
    .selectFrom('message_bodies')
    .select('content')
    .where('message_id', '=', id)
    .where('which', '=', keyText(which))
    .compile()

export const compileCount = (db: Queries, filter: MessageFilter) =>
  db
    .selectFrom('messages')
    .select(sql<number | string>`count(*)`.as('count'))
    .where((where) => where.and(conditions(where, filter)))
    .compile()

export const notDone = (where: Where): Expression<SqlBool> => where('outcome', '<>', sql.lit('done'))

/** All that a message must fulfil to match. */
export function conditions(where: Where, filter: MessageFilter): Expression<SqlBool>[] {
  const { id, endpointId, outcome, code, stage, path, error, version, source, status } = filter
  const { key, from, to, replayOf, replayed, captured } = filter
  const all: Expression<SqlBool>[] = []
  const among = (column: keyof MessageRow, values: readonly (string | number)[] | undefined) => {
    if (values?.length === 0) all.push(sql<SqlBool>`1 = 0`)
    else if (values !== undefined) all.push(where(column, 'in', values))
  }
  among('id', id)
  among('endpoint_id', endpointId)
  among('outcome', outcome)
  among('code', code)
  among('stage', stage)
  among('path', path?.map(keyText))
  among('version', version)
  among('source', source)
  among('status', status)
  among('replay_of', replayOf)
  if (path !== undefined && !path.includes('')) all.push(where('path', '<>', sql.lit('')))
  if (error !== undefined) all.push(where.or(error.map((part) => mentions(where, part))))
  // These conditions follow from the others; they let the database use the partial indexes.
  if (replayOf !== undefined) all.push(where('replay_of', '<>', sql.lit('')))
  if (mayOnlyFail(filter)) all.push(notDone(where))
  if (from !== undefined) all.push(where('id', '>=', idFrom(from)))
  if (to !== undefined) all.push(where('id', '<', idFrom(to)))
  // A literal, so that the database may use the partial index.
  if (captured !== undefined) all.push(where('captured', '=', captured ? sql.lit(1) : sql.lit(0)))
  if (key !== undefined) all.push(where('id', 'in', holding(where, key)))
  if (replayed !== undefined) {
    all.push(where('replay_of', '=', sql.lit('')), where('id', replayed ? 'in' : 'not in', REPEATED))
  }
  return all
}

/** Messages that were replayed until done: found from the successful replays back, as those are few. */
const REPEATED = sql<string>`(
  with recursive repeated (id) as (
    select replay_of from messages where replay_of <> '' and outcome = 'done'
    union
    select messages.replay_of from repeated join messages on messages.id = repeated.id where messages.replay_of <> ''
  )
  select id from repeated
)`

/**
 * The pattern matches the text as the column has it, escaped; `!` is its escape character, as no text is escaped with it. The
 * database changes the case of both: it leaves letters outside of ASCII as they are.
 */
function mentions(where: Where, part: string): Expression<SqlBool> {
  const pattern = `%${escaped(part).replace(/[!%_]/g, '!$&')}%`
  return sql<SqlBool>`lower(${where.ref('error')}) like lower(${pattern}) escape '!'`
}

const mayOnlyFail = ({ outcome, code, stage, path, error, replayed }: MessageFilter): boolean =>
  replayed !== undefined ||
  error !== undefined ||
  (path !== undefined && !path.includes('')) ||
  (outcome !== undefined && !outcome.includes('done')) ||
  (code !== undefined && !code.includes('')) ||
  (stage !== undefined && !stage.includes(''))

const holding = (where: Where, keys: NonNullable<MessageFilter['key']>) =>
  where
    .selectFrom('message_keys')
    .select('message_id')
    .where((on) =>
      on.or(
        keys.map(({ name, value }) => {
          const holds = on('value', '=', keyText(value))
          return name === undefined ? holds : on.and([holds, on('name', '=', keyText(name))])
        }),
      ),
    )
