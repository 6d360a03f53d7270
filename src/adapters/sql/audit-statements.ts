/** The queries behind the audit log, and its entries as rows. */
import { type CompiledQuery, type Kysely, sql } from 'kysely'
import { type AuditEntry, type AuditFilter, isRefused } from '../../domain/audit.ts'
import { idFrom, timeOfId } from '../../domain/id.ts'
import { compileStatement } from './statement.ts'
import { keyText, type Tables } from './tables.ts'

type Row = Tables['audit']
export type AuditRow = Pick<Row, 'id' | 'detail'>

export function compileAuditStatements(db: Kysely<Tables>) {
  return {
    append: compileStatement<Row>((value) =>
      db.insertInto('audit').values({
        id: value('id'),
        who: value('who'),
        name: value('name'),
        what: value('what'),
        target: value('target'),
        refused: value('refused'),
        detail: value('detail'),
      }),
    ),
    purge: compileStatement<Readonly<{ oldest: string }>>((value) =>
      db.deleteFrom('audit').where('id', '<', value('oldest')),
    ),
    purgeRefused: compileStatement<Readonly<{ most: number }>>((value) =>
      db
        .deleteFrom('audit')
        .where('refused', '=', sql.lit(1))
        .where('id', '<=', (from) =>
          from
            .selectFrom('audit as newest')
            .select('newest.id')
            .where('newest.refused', '=', sql.lit(1))
            .orderBy('newest.id', 'desc')
            .limit(sql.lit(1))
            .offset(value('most')),
        ),
    ),
  }
}

/** Filters are asked for by people: built when they are asked. */
export function compileAuditFind(
  db: Kysely<Tables>,
  { who, what, from, to }: AuditFilter,
  limit: number,
  before?: string,
): CompiledQuery<AuditRow> {
  return db
    .selectFrom('audit')
    .select(['id', 'detail'])
    .where((where) =>
      where.and([
        ...(who === undefined ? [] : [where.or([where('who', 'in', keysOf(who)), where('name', 'in', keysOf(who))])]),
        ...(what === undefined ? [] : [where.or([where('what', 'in', what), where('target', 'in', what)])]),
        ...(from === undefined ? [] : [where('id', '>=', idFrom(from))]),
        ...(to === undefined ? [] : [where('id', '<', idFrom(to))]),
        ...(before === undefined ? [] : [where('id', '<', before)]),
      ]),
    )
    .orderBy('id', 'desc')
    .limit(limit)
    .compile()
}

const keysOf = (texts: readonly string[]): readonly string[] => texts.map(keyText)

/** Names come from outside, and databases refuse some texts: what is shown is in `detail`, as JSON. */
export const auditRow = (entry: AuditEntry): Row => {
  const { id, at: _, ...detail } = entry
  return {
    id,
    who: keyText(entry.who),
    name: keyText(entry.name ?? ''),
    what: entry.what,
    target: entry.target ?? '',
    refused: isRefused(entry) ? 1 : 0,
    detail: JSON.stringify(detail),
  }
}

export const auditEntryOf = ({ id, detail }: AuditRow): AuditEntry => ({
  id,
  at: new Date(timeOfId(id)).toISOString(),
  ...(JSON.parse(detail) as Omit<AuditEntry, 'id' | 'at'>),
})
