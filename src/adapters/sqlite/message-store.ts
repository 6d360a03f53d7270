/**
 * The message log in a file of its own, beside the store's: writing it never waits for the writes of state, nor holds
 * them up. Two threads work on it, so that a long search does not hold up the writing either.
 */
import { format, parse } from 'node:path'
import type { CompiledQuery } from 'kysely'
import type { MessageStore } from '../../domain/message-record.ts'
import { MESSAGE_MIGRATIONS } from '../sql/message-migrations.ts'
import {
  compileBody,
  compileCount,
  compileFind,
  compileGet,
  compileGroups,
  compileOldest,
  groupOf,
} from '../sql/message-queries.ts'
import { recordOf } from '../sql/message-rows.ts'
import type { MessageTables } from '../sql/message-tables.ts'
import { compileMigrations } from './compile-migrations.ts'
import { compileQueryBuilder } from './dialect.ts'
import { encodeBatch } from './message-batch.ts'
import { startMessageThread } from './message-thread.ts'
import type { ThreadData } from './message-worker.ts'

/** `crosswalk.db` → `crosswalk-messages.db`. */
export function messagePath(storePath: string): string {
  if (storePath === ':memory:') return storePath
  const { root, dir, name, ext } = parse(storePath)
  return format({ root, dir, name: `${name}-messages`, ext })
}

/** Of the store that is at `storePath`. Opens the file when it is first asked. */
export function createMessageStore(storePath: string): MessageStore {
  const path = messagePath(storePath)
  const queries = compileQueryBuilder<MessageTables>()
  const data = (): ThreadData => ({
    path,
    migrations: compileMigrations(MESSAGE_MIGRATIONS).map(({ name, statements }) => ({
      name,
      statements: [...statements],
    })),
  })
  const writer = startMessageThread(data)
  const reader = path === ':memory:' ? writer : startMessageThread(data)
  const read = <Row>({ sql, parameters }: CompiledQuery<Row>): Promise<Row[]> =>
    reader.call<Row[]>({ kind: 'all', query: { sql, parameters } })

  return {
    append: async (batch) => {
      const encoded = encodeBatch(batch)
      await writer.call({ kind: 'append', batch: encoded }, [encoded.contents])
    },
    appendDone: (lines) => writer.call({ kind: 'append-done', lines }),
    find: async (filter, limit, before) => (await read(compileFind(queries, filter, limit, before))).map(recordOf),
    get: async (id) => (await read(compileGet(queries, id))).map(recordOf)[0],
    body: async (id, which) => {
      const [row] = await read(compileGet(queries, id))
      const summary = row && recordOf(row).bodies.find((body) => body.which === which)
      const [body] = await read(compileBody(queries, id, which))
      return summary && body && { summary, content: body.content }
    },
    count: async (filter) => Number((await read(compileCount(queries, filter)))[0]?.count),
    groups: async (filter) => (await read(compileGroups(queries, filter))).map(groupOf),
    purge: async (before, maxBytes) => {
      const excess = (await writer.call<number>({ kind: 'used-bytes' })) - maxBytes
      const { sql, parameters } = compileOldest(queries, before, excess)
      return writer.call({ kind: 'remove', oldest: { sql, parameters } })
    },
    close: async () => {
      await Promise.all([writer.close(), reader.close()])
    },
  }
}
