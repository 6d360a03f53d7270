/** The reads of the message log over any database that runs a query. */
import type { CompiledQuery, Kysely } from 'kysely'
import type { MessageStore } from '../../../domain/ports/message-store-port.ts'
import { compileGroups, compileMinutes, groupsOf } from './group-queries.ts'
import { compileBody, compileCount, compileFind, compileGet } from './message-queries.ts'
import { recordOf } from './message-rows.ts'
import type { MessageTables } from './message-tables.ts'

/** `run` resolves to the rows of a query that is built for this call. */
export function createMessageReads(
  queries: Kysely<MessageTables>,
  run: <Row>(query: CompiledQuery<Row>) => Promise<readonly Row[]>,
): Pick<MessageStore, 'find' | 'get' | 'body' | 'count' | 'groups'> {
  const get: MessageStore['get'] = async (id) => (await run(compileGet(queries, id))).map(recordOf)[0]
  return {
    find: async (filter, limit, before) => (await run(compileFind(queries, filter, limit, before))).map(recordOf),
    get,
    body: async (id, which) => {
      const summary = (await get(id))?.bodies.find((body) => body.which === which)
      if (summary === undefined) return undefined
      const [body] = await run(compileBody(queries, id, which))
      return body && { summary, content: new Uint8Array(body.content) }
    },
    count: async (filter) => Number((await run(compileCount(queries, filter)))[0]?.count),
    groups: async (filter, minutes) => {
      const [rows, minuteRows] = await Promise.all([
        run(compileGroups(queries, filter)),
        minutes.count === 0 ? [] : run(compileMinutes(queries, filter, minutes)),
      ])
      return groupsOf(rows, minuteRows, minutes)
    },
  }
}
