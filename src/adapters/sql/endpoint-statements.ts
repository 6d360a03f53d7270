/** The queries behind `EndpointStore`, and what their rows say about a clash. */
import type { Kysely } from 'kysely'
import type { Clash, EndpointRecord } from '../../domain/ports.ts'
import { compileStatement } from './statement.ts'
import { documentText, indexable, keyText, type Tables } from './tables.ts'

type Row = Tables['endpoints']
export type EndpointValues = Readonly<{ id: string; name: string; routeKey: string; document: string }>

export type EndpointStatements = ReturnType<typeof compileEndpointStatements>

/** Builds every query on endpoints, for the dialect of `db`. */
export function compileEndpointStatements(db: Kysely<Tables>) {
  return {
    list: compileStatement<Record<never, never>, Pick<Row, 'document'>>(() =>
      db.selectFrom('endpoints').select('document').orderBy('id'),
    ),
    get: compileStatement<Pick<EndpointValues, 'id'>, Pick<Row, 'document'>>((value) =>
      db.selectFrom('endpoints').select('document').where('id', '=', value('id')),
    ),
    /** Other endpoints that hold the name or the route; at most two rows, as both are unique. */
    clashes: compileStatement<Omit<EndpointValues, 'document'>, Pick<Row, 'name'>>((value) =>
      db
        .selectFrom('endpoints')
        .select('name')
        .where('id', '<>', value('id'))
        .where((where) => where.or([where('name', '=', value('name')), where('route_key', '=', value('routeKey'))])),
    ),
    insert: compileStatement<EndpointValues>((value) =>
      db.insertInto('endpoints').values({
        id: value('id'),
        name: value('name'),
        route_key: value('routeKey'),
        document: value('document'),
      }),
    ),
    replace: compileStatement<EndpointValues>((value) =>
      db
        .updateTable('endpoints')
        .set({ name: value('name'), route_key: value('routeKey'), document: value('document') })
        .where('id', '=', value('id')),
    ),
    /** Takes the states of the endpoint with it. */
    remove: compileStatement<Pick<EndpointValues, 'id'>>((value) =>
      db.deleteFrom('endpoints').where('id', '=', value('id')),
    ),
  }
}

export const endpointValues = ({ document, routeKey }: EndpointRecord): EndpointValues => ({
  id: document._id,
  name: keyText(document.name),
  routeKey: indexable(routeKey),
  document: documentText(document),
})

/** What a write is refused for, given the rows of `clashes`; the name is told first where both are taken. */
export function clashOf(rows: readonly Pick<Row, 'name'>[], { name }: Pick<EndpointValues, 'name'>): Clash | undefined {
  if (rows.length === 0) return undefined
  return rows.some((row) => row.name === name) ? 'name' : 'route'
}
