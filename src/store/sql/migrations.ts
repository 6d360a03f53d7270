/** The migrations that create the tables of both databases (schema.ts). */
import { BYTES, differing, type Fragment, NOW, render, sql } from './sql.ts'

/** PostgreSQL has everything in one database, SQLite the message log in a file of its own. */
export type SchemaTarget = 'postgres' | 'sqlite' | 'sqlite messages'

export type Migration = Readonly<{
  name: string
  /** In their order. They run in one transaction with the other migrations that are due. */
  statements: Readonly<Record<SchemaTarget, Iterable<Fragment>>>
}>

/** A migration as its database runs it. */
export type TextMigration = Readonly<{ name: string; statements: Iterable<string> }>

/** Ids, and texts that searches sort by: in the order of their bytes, whatever the collation of the database. */
const TEXT = differing(sql`text`, sql`text collate "C"`)
/** A number that grows without limit: the service counts up by millions of states a day. */
const COUNTER = differing(sql`integer`, sql`bigint`)
/** SQLite checks the types of columns in strict tables only. */
const STRICT = differing(sql`strict`, sql``)

const STORE = [
  // `revision`: the version of `configuration` with which the row was written last.
  sql`create table endpoints (
    id text not null primary key,
    name text not null,
    document text not null
    ${differing(sql``, sql`, revision bigint not null default 1`)}
  ) ${STRICT}`,
  sql`create unique index endpoints_name on endpoints (name)`,

  sql`create table endpoint_claims (
    key text not null,
    endpoint_id text not null references endpoints (id) on delete cascade
  ) ${STRICT}`,
  sql`create unique index endpoint_claims_key on endpoint_claims (key)`,
  sql`create index endpoint_claims_of_endpoint on endpoint_claims (endpoint_id)`,

  sql`create table endpoint_versions (
    endpoint_id text not null,
    version integer not null,
    at text not null,
    about text not null,
    document text not null,
    constraint endpoint_versions_key primary key (endpoint_id, version)
  ) ${STRICT}`,
  sql`create index endpoint_versions_deleted on endpoint_versions (endpoint_id, at) where document = ''`,

  sql`create table endpoint_tests (
    endpoint_id text not null primary key references endpoints (id) on delete cascade,
    tests text not null
  ) ${STRICT}`,

  sql`create table states (
    endpoint_id text not null references endpoints (id) on delete cascade,
    lookup_status integer not null,
    network_error integer not null check (network_error in (0, 1)),
    sequence ${COUNTER} not null,
    state text not null,
    constraint states_key primary key (endpoint_id, lookup_status, network_error)
  ) ${STRICT}`,
  sql`create index states_newest on states (endpoint_id, sequence)`,

  sql`create table kept_answers (
    endpoint_id text not null references endpoints (id) on delete cascade,
    key text not null,
    fingerprint text not null,
    owner text not null,
    until ${COUNTER} not null,
    size integer not null,
    detail text not null,
    body ${BYTES},
    constraint kept_answers_key primary key (endpoint_id, key)
  ) ${STRICT}`,
  sql`create index kept_answers_oldest on kept_answers (until, size)`,
  sql`create index kept_answers_claimed on kept_answers (owner) where owner <> ''`,
  sql`create index kept_answers_of_endpoint on kept_answers (endpoint_id, size)`,

  sql`create table captures (
    endpoint_id text not null primary key references endpoints (id) on delete cascade,
    id text not null,
    remaining integer not null,
    until ${COUNTER} not null,
    detail text not null
  ) ${STRICT}`,

  sql`create table endpoint_minutes (
    endpoint_id text not null,
    minute integer not null,
    instance text not null,
    count integer not null,
    failures integer not null,
    buckets text not null,
    constraint endpoint_minutes_key primary key (endpoint_id, minute, instance)
  ) ${STRICT}`,
  sql`create index endpoint_minutes_oldest on endpoint_minutes (minute)`,

  sql`create table api_keys (
    id ${TEXT} not null primary key,
    name text not null,
    roles text not null,
    hash text not null,
    created_at text not null,
    revoked_at text not null,
    expires_at text not null
  ) ${STRICT}`,

  sql`create table audit (
    id ${TEXT} not null primary key,
    who text not null,
    name text not null,
    what text not null,
    target text not null,
    refused integer not null,
    detail text not null
  ) ${STRICT}`,
  sql`create index audit_refused on audit (id) where refused = 1`,

  sql`create table replay_plans (
    id ${TEXT} not null primary key,
    state text not null,
    owner text not null,
    until ${COUNTER} not null,
    content text not null,
    progress text not null
  ) ${STRICT}`,
  sql`create table replay_plan_messages (
    plan_id ${TEXT} not null references replay_plans (id) on delete cascade,
    part integer not null,
    ids text not null,
    constraint replay_plan_messages_key primary key (plan_id, part)
  ) ${STRICT}`,

  sql`create table failure_groups (
    key ${TEXT} not null primary key,
    at ${TEXT} not null,
    detail text not null
  ) ${STRICT}`,
  sql`create index failure_groups_newest on failure_groups (at)`,
]

const SCHEDULES = [
  sql`create table schedules (
    endpoint_id text not null primary key references endpoints (id) on delete cascade,
    version integer not null,
    timetable text not null,
    due ${COUNTER} not null,
    owner text not null,
    until ${COUNTER} not null,
    running text not null,
    last text not null,
    overruns ${COUNTER} not null,
    missed ${COUNTER} not null
  ) ${STRICT}`,
]

const DELIVERIES = [
  sql`create table deliveries (
    sequence ${differing(sql`integer not null primary key autoincrement`, sql`bigint generated always as identity primary key`)},
    id ${TEXT} not null unique,
    lane ${TEXT} not null,
    target ${TEXT} not null,
    state ${TEXT} not null,
    endpoint_id ${TEXT} not null,
    message_id ${TEXT} not null,
    request_id ${TEXT} not null,
    order_key ${TEXT} not null,
    accepted ${COUNTER} not null default (${NOW}),
    since ${COUNTER} not null default (${NOW}),
    ended ${COUNTER} not null,
    attempts integer not null,
    bytes integer not null,
    detail text not null,
    log text not null
  ) ${STRICT}`,
  sql`create index deliveries_next on deliveries (lane, sequence) where state = 'pending'`,
  sql`create index deliveries_of_message on deliveries (message_id)`,
  sql`create index deliveries_of_endpoint on deliveries (endpoint_id, sequence)`,
  sql`create index deliveries_by_state on deliveries (state, sequence)`,
  sql`create index deliveries_ended on deliveries (ended) where state in ('delivered', 'cancelled')`,
  sql`create table delivery_contents (
    id ${TEXT} not null primary key,
    request text not null,
    body ${BYTES}
  ) ${STRICT}`,
  sql`create table delivery_lanes (
    lane ${TEXT} not null primary key,
    target ${TEXT} not null,
    due ${COUNTER} not null default (${NOW}),
    lease text not null default '',
    tried ${COUNTER} not null default 0,
    depth integer not null
  ) ${STRICT}`,
  sql`create index delivery_lanes_due on delivery_lanes (target, due)`,
  sql`create table delivery_totals (
    endpoint_id ${TEXT} not null,
    request_id ${TEXT} not null,
    target ${TEXT} not null,
    state ${TEXT} not null,
    slot integer not null,
    endpoint text not null,
    count ${COUNTER} not null,
    bytes ${COUNTER} not null,
    constraint delivery_totals_key primary key (endpoint_id, request_id, target, state, slot)
  ) ${STRICT}`,
]

/** Without it PostgreSQL sorts all lanes of a target to find some that wait; SQLite stops early by those that are due. */
const WAITING_LANES = sql`create index delivery_lanes_waiting on delivery_lanes (target, tried) where lease = ''`

const TABLES = [
  sql`create table table_versions (
    name ${TEXT} not null,
    version integer not null,
    at text not null,
    about text not null,
    head text not null,
    content ${TEXT} not null,
    constraint table_versions_key primary key (name, version)
  ) ${STRICT}`,
  sql`create index table_versions_content on table_versions (content)`,
  sql`create table table_parts (
    content ${TEXT} not null,
    part integer not null,
    bytes ${BYTES} not null,
    constraint table_parts_key primary key (content, part)
  ) ${STRICT}`,
]

/** `first_at` and `last_at` in milliseconds since the epoch; `messages`: ids without a separator, newest first. */
const UNMAPPED = sql`create table unmapped_codes (
  table_name ${TEXT} not null,
  column_name ${TEXT} not null,
  code ${TEXT} not null,
  endpoint_id ${TEXT} not null,
  count ${COUNTER} not null,
  first_at ${COUNTER} not null,
  last_at ${COUNTER} not null,
  messages ${TEXT} not null,
  constraint unmapped_codes_key primary key (table_name, column_name, code, endpoint_id)
) ${STRICT}`

/** Every version that is added notifies the instances. */
const SHARED_TABLES = [
  sql`create trigger tables_changed after insert on table_versions
    for each row execute function captures_changed()`,
]

const MESSAGE_LOG = [
  sql`create table messages (
    id ${TEXT} not null primary key,
    endpoint_id ${TEXT} not null,
    source ${TEXT} not null,
    outcome ${TEXT} not null,
    status integer not null,
    code ${TEXT} not null,
    stage ${TEXT} not null,
    replay_of ${TEXT} not null,
    bytes integer not null,
    detail ${TEXT} not null,
    path ${TEXT} not null,
    version integer not null,
    error ${TEXT} not null,
    captured integer not null
  ) ${STRICT}`,
  // Most messages are done and are searched for by time only; searches by another column want the others.
  sql`create index messages_not_done on messages (id) where outcome <> 'done'`,
  sql`create index messages_replayed on messages (replay_of, id) where replay_of <> ''`,
  // Has all that groups of failures read.
  sql`create index messages_alike on messages (endpoint_id, stage, code, path, version, id) where outcome <> 'done'`,
  sql`create index messages_failed_at on messages (path, id) where outcome <> 'done' and path <> ''`,
  sql`create index messages_captured on messages (id) where captured = 1`,
  // By what a purge finds the endpoints that take most.
  sql`create index messages_of_endpoint on messages (endpoint_id, id, bytes)`,

  sql`create table message_bodies (
    message_id ${TEXT} not null,
    which ${TEXT} not null,
    content ${BYTES} not null,
    constraint message_bodies_key primary key (message_id, which)
  ) ${STRICT}`,

  sql`create table message_keys (
    value ${TEXT} not null,
    name ${TEXT} not null,
    message_id ${TEXT} not null,
    constraint message_keys_key primary key (value, name, message_id)
  ) ${STRICT}`,
  sql`create index message_keys_of_message on message_keys (message_id)`,

  sql`create table held_messages (
    message_id ${TEXT} not null,
    plan_id ${TEXT} not null,
    constraint held_messages_key primary key (message_id, plan_id)
  ) ${STRICT}`,
  sql`create index held_messages_of_plan on held_messages (plan_id)`,
]

/**
 * One process writes all records: many records of done messages in one row, with the bounds of their ids, of one endpoint or
 * of several that have few.
 */
const DONE_MESSAGES = [
  sql`create table done_messages (
    last_id text not null primary key,
    first_id text not null,
    records integer not null,
    lines blob not null,
    endpoint_id text not null
  ) strict`,
  sql`create index done_messages_first on done_messages (first_id)`,
  sql`create index done_messages_of_endpoint on done_messages (endpoint_id, first_id, length(lines))`,
]

/**
 * What instances share beside that. Triggers, so that every change notifies the instances, also one that is made in the
 * database; a claim of a capture, which updates a row, notifies none.
 */
const SHARED = [
  sql`create sequence states_sequence`,
  // One row: the number of changes ever made.
  sql`create table configuration (version bigint not null)`,
  sql`insert into configuration (version) values (1)`,
  sql`create function configuration_changed() returns trigger language plpgsql as $$
    declare next_version bigint;
    begin
      update configuration set version = version + 1 returning version into next_version;
      perform pg_notify('crosswalk_configuration', next_version::text);
      if tg_op = 'DELETE' then return old; end if;
      new.revision := next_version;
      return new;
    end $$`,
  sql`create trigger configuration_changed before insert or update or delete on endpoints
    for each row execute function configuration_changed()`,
  sql`create function captures_changed() returns trigger language plpgsql as $$
    declare next_version bigint;
    begin
      update configuration set version = version + 1 returning version into next_version;
      perform pg_notify('crosswalk_configuration', next_version::text);
      return null;
    end $$`,
  sql`create trigger captures_changed after insert or delete on captures
    for each row execute function captures_changed()`,
  // The size of all messages, in several rows, so that writers seldom wait for each other.
  sql`create table message_sizes (slot integer not null primary key, bytes bigint not null)`,
]

export const MIGRATIONS: readonly Migration[] = [
  {
    name: 'tables',
    statements: {
      postgres: [...STORE, ...MESSAGE_LOG, ...SHARED],
      sqlite: STORE,
      'sqlite messages': [...MESSAGE_LOG, ...DONE_MESSAGES],
    },
  },
  { name: 'schedules', statements: { postgres: SCHEDULES, sqlite: SCHEDULES, 'sqlite messages': [] } },
  {
    name: 'deliveries',
    statements: { postgres: [...DELIVERIES, WAITING_LANES], sqlite: DELIVERIES, 'sqlite messages': [] },
  },
  {
    name: 'code tables',
    statements: {
      postgres: [...TABLES, UNMAPPED, ...SHARED_TABLES],
      sqlite: [...TABLES, UNMAPPED],
      'sqlite messages': [],
    },
  },
]

/** The migrations of a place. A statement is written when the iterator reaches it. */
export const renderMigrations = (target: SchemaTarget, migrations = MIGRATIONS): readonly TextMigration[] =>
  migrations.map(({ name, statements }) => ({ name, statements: renderStatements(statements[target], target) }))

function* renderStatements(statements: Iterable<Fragment>, target: SchemaTarget): Generator<string> {
  for (const statement of statements) yield render(statement, target === 'postgres' ? 'postgres' : 'sqlite').text
}

/** A row of `schema_version`, which has one for each migration that has run. */
export type RanMigration = Readonly<{ version: number; name: string }>

export const RAN_MIGRATIONS = 'select version, name from schema_version order by version'

/** The tables are not those of this version or an earlier one. The message continues a sentence that names the database. */
export class UnknownSchema extends Error {
  override readonly name = 'UnknownSchema'
}

/** The migrations that are due. The version of a schema is the number of migrations that have run. Throws UnknownSchema. */
export function dueMigrations(
  ran: readonly RanMigration[],
  migrations: readonly TextMigration[],
): readonly TextMigration[] {
  const [first] = ran
  const version = ran.at(-1)?.version ?? 0
  // Version 0.1 had other migrations.
  if (first !== undefined && first.name !== migrations[0]?.name)
    throw new UnknownSchema(
      'was written by version 0.1, which this version cannot open (`crosswalk pull` there and `crosswalk apply` here carry its endpoints over)',
    )
  if (version > migrations.length)
    throw new UnknownSchema(
      `was written by a newer version: its schema has version ${version}, and this service knows up to ${migrations.length}`,
    )
  return migrations.slice(version)
}
