/** The messages that replay plans need: no purge removes them. */
import type { CompiledQuery, Kysely } from 'kysely'
import { sql } from 'kysely'
import type { MessageStore } from '../../../domain/ports/message-store-port.ts'
import type { MessageTables } from './message-tables.ts'

type Queries = Kysely<MessageTables>

/** Ids of one statement. */
const PART = 1_000

const compileHold = (db: Queries, planId: string, ids: readonly string[]) =>
  db
    .insertInto('held_messages')
    .columns(['message_id', 'plan_id'])
    .expression((query) =>
      query
        .selectFrom('messages')
        .select(['id', sql<string>`cast(${planId} as text)`.as('plan_id')])
        .where('id', 'in', ids),
    )
    .onConflict((conflict) => conflict.doNothing())
    .compile()

const compileHeldBytes = (db: Queries) =>
  db
    .selectFrom('messages')
    .select(sql<number | string>`coalesce(sum(bytes), 0)`.as('bytes'))
    .where('id', 'in', (query) => query.selectFrom('held_messages').select('message_id'))
    .compile()

const compileRelease = (db: Queries, planId: string) =>
  db.deleteFrom('held_messages').where('plan_id', '=', planId).compile()

const compileNextPlan = (db: Queries, after: string, before: string) =>
  db
    .selectFrom('held_messages')
    .select(sql<string | null>`min(plan_id)`.as('id'))
    .where('plan_id', '>', after)
    .where('plan_id', '<', before)
    .compile()

/** `run` resolves to the rows of a statement. */
export function createMessageHolds(
  queries: Queries,
  run: <Row>(query: CompiledQuery<Row>) => Promise<readonly Row[]>,
): Pick<MessageStore, 'hold' | 'release'> {
  return {
    hold: async (planId, ids, maxBytes) => {
      for (let start = 0; start < ids.length; start += PART) {
        await run(compileHold(queries, planId, ids.slice(start, start + PART)))
      }
      const [held] = await run(compileHeldBytes(queries))
      if (Number(held?.bytes) <= maxBytes) return true
      await run(compileRelease(queries, planId))
      return false
    },
    release: async (planIds, before) => {
      let last = ''
      for (;;) {
        const [plan] = await run(compileNextPlan(queries, last, before))
        if (plan === undefined || plan.id === null) return
        last = plan.id
        if (!planIds.includes(last)) await run(compileRelease(queries, last))
      }
    },
  }
}
