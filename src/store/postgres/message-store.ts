/**
 * The message log in PostgreSQL, shared by all instances. It has a few connections of its own, so that neither a long
 * search nor a full queue of records delays the state of a message.
 */

import { idFrom } from '../../core/id.ts'
import { parseLines, type Recorded, type RecordedBody } from '../../core/records/message-record.ts'
import { createLogShares, type OldRecord, olderQuery, oldestQuery, USED } from '../sql/message-purge.ts'
import {
  createMessageHolds,
  createMessageReads,
  doneRow,
  type KeyRow,
  keyRows,
  MESSAGE_COLUMNS,
  type MessageRow,
  type MessageStore,
  messageRow,
  type RunOnce,
} from '../sql/messages.ts'
import { keyText } from '../sql/schema.ts'
import { type Connections, prepareOnce, prepareText } from './connection-pool.ts'

/** Rows of `message_sizes`: connections that share one add to it one after the other. */
const SIZE_SLOTS = 16

type RecordRows = Readonly<{
  rows: readonly MessageRow[]
  keys: readonly KeyRow[]
  bodies: readonly (RecordedBody & Readonly<{ id: string }>)[]
}>

const toRows = (batch: readonly Recorded[]): RecordRows => ({
  rows: batch.map(messageRow),
  keys: batch.flatMap(({ record }) => keyRows(record)),
  bodies: batch.flatMap(({ record, bodies }) => bodies.map((body) => ({ id: record.id, ...body }))),
})

const COLUMNS = Object.keys(MESSAGE_COLUMNS) as (keyof MessageRow)[]

/** The placeholders of `count` arrays of texts. */
const textArrays = (first: number, count: number): string =>
  Array.from({ length: count }, (_, index) => `$${first + index}::text[]`).join(', ')

/** Inserts the records that are new, with keys and bodies, and adds up their sizes, in one statement. */
const APPEND = prepareText<RecordRows, never>(
  `with added as (
    insert into messages (${COLUMNS.join(', ')})
    select * from unnest(${COLUMNS.map((column, index) => `$${index + 1}::${MESSAGE_COLUMNS[column]}[]`).join(', ')})
    on conflict do nothing returning id, bytes
  ), keys as (
    insert into message_keys (message_id, value, name)
    select key.* from unnest(${textArrays(COLUMNS.length + 1, 3)}) as key (message_id, value, name)
    join added on added.id = key.message_id on conflict do nothing
  ), bodies as (
    insert into message_bodies (message_id, which, content)
    select body.* from unnest(${textArrays(COLUMNS.length + 4, 2)}, $${COLUMNS.length + 6}::bytea[]) as body (message_id, which, content)
    join added on added.id = body.message_id on conflict do nothing
  )
  insert into message_sizes (slot, bytes)
  select pg_backend_pid() % ${SIZE_SLOTS}, sum(bytes) from added having count(*) > 0
  on conflict (slot) do update set bytes = message_sizes.bytes + excluded.bytes`,
  ({ rows, keys, bodies }) => [
    ...COLUMNS.map((column) => rows.map((row) => row[column])),
    keys.map((key) => key.message_id),
    keys.map((key) => key.value),
    keys.map((key) => key.name),
    bodies.map((body) => body.id),
    bodies.map((body) => keyText(body.summary.which)),
    bodies.map(({ content }) => Buffer.from(content.buffer, content.byteOffset, content.byteLength)),
  ],
)

/** One instance purges at a time; the others skip their purge meanwhile. */
const ALONE = prepareText<undefined, { alone: boolean }>(
  `select pg_try_advisory_xact_lock(hashtext('crosswalk messages purge')) as alone`,
  () => [],
)

const SIZE = prepareText<undefined, { bytes: string }>(
  'select coalesce(sum(bytes), 0) as bytes from message_sizes',
  () => [],
)

const PING = prepareText<undefined, object>('select 1 from messages limit 1', () => [])

const REMOVE = prepareText<readonly string[], { count: string }>(
  `with removed as (delete from messages where id = any($1::text[]) returning bytes),
  keys as (delete from message_keys where message_id = any($1::text[])),
  bodies as (delete from message_bodies where message_id = any($1::text[])),
  size as (
    insert into message_sizes (slot, bytes)
    select pg_backend_pid() % ${SIZE_SLOTS}, -sum(bytes) from removed having count(*) > 0
    on conflict (slot) do update set bytes = message_sizes.bytes + excluded.bytes
  )
  select count(*) as count from removed`,
  (ids) => [ids],
)

/** Builds the store over a database whose tables are up to date, on connections that nothing else uses. */
export function createMessageStore(connections: Connections): MessageStore {
  const runOnce: RunOnce = (statement) => connections.run(prepareOnce(statement), undefined)
  const shares = createLogShares<OldRecord>()
  return {
    ...createMessageReads(runOnce),
    ...createMessageHolds(runOnce),
    append: async (batch) => {
      if (batch.length > 0) await connections.run(APPEND, toRows(batch))
    },
    appendDone: async (lines) => {
      const rows = [...parseLines(new TextDecoder().decode(lines))].map(doneRow)
      if (rows.length > 0) await connections.run(APPEND, { rows, keys: [], bodies: [] })
    },
    ping: async () => void (await connections.run(PING, undefined)),
    purge: (before, maxBytes) =>
      connections.transaction(async (run) => {
        const [lock] = await run(ALONE, undefined)
        if (lock?.alone !== true) return 0
        const [size] = await run(SIZE, undefined)
        const older = await run(prepareOnce(olderQuery(idFrom(before))), undefined)
        const log = {
          used: () => run(prepareOnce(USED), undefined),
          findOldest: (endpointId: string, bytes: number) =>
            run(prepareOnce(oldestQuery(endpointId, bytes)), undefined),
        }
        const oldest = older.length > 0 ? older : await shares.exceeding(log, maxBytes / Number(size?.bytes))
        if (oldest.length === 0) return 0
        const [removed] = await run(
          REMOVE,
          oldest.map(({ id }) => id),
        )
        return Number(removed?.count)
      }),
    close: () => connections.close(),
  }
}
