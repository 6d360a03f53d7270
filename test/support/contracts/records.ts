/** Documents and states for tests of stores: as small as the types allow, and recognisable. */
import type { JsonObject } from '../../../src/core/json.ts'
import type { Change, StoredDocument } from '../../../src/core/stored-document.ts'
import type { AuditEntry } from '../../../src/store/sql/audit-store.ts'
import type {
  EndpointRecord,
  EndpointStore,
  EndpointWrite,
  RefusedWrite,
} from '../../../src/store/sql/endpoint-store.ts'
import type { StateFilter, StateRecord } from '../../../src/store/sql/states.ts'

/** A time-ordered id. */
export const idOf = (number: number): string => number.toString(16).padStart(24, '0')

export function endpointOf(number: number, fields: JsonObject = {}, route = `POST /route-${number}`): EndpointRecord {
  const document: StoredDocument = {
    _id: idOf(number),
    name: `endpoint ${number}`,
    createdAt: '2024-01-01T00:00:00.000Z',
    updatedAt: '2024-01-01T00:00:00.000Z',
    __v: 0,
    ...fields,
  }
  return { document, claims: [{ key: route }] }
}

/** The claim of an endpoint that has one. */
export const routeOf = ({ claims }: EndpointRecord): string => claims[0]?.key ?? ''

export const stateOf = (mark: string, lookupStatus: number | undefined, networkError = false): StateRecord => ({
  values: { requestBody: { mark } },
  lookupStatus,
  networkError,
})

/** A filter from what `state.config` would say: ranges of statuses, or every state. */
export const filterOf = (
  ranges: 'any' | StateFilter['statuses']['ranges'],
  networkErrors: StateFilter['networkErrors'] = 'no-filter',
): StateFilter => ({
  networkErrors,
  statuses: ranges === 'any' ? { any: true, ranges: [] } : { any: false, ranges },
})

export const EVERYTHING = filterOf('any')

type Writes = Pick<EndpointStore, 'writeAll'>
type Result = 'stored' | RefusedWrite['reason']

async function writeOne(endpoints: Writes, write: EndpointWrite): Promise<Result> {
  const result = await endpoints.writeAll([write])
  return result === 'stored' ? result : result.reason
}

export const insertEndpoint = (
  endpoints: Writes,
  record: EndpointRecord,
  change: Partial<Change> = {},
  entry?: AuditEntry,
): Promise<Result> => writeOne(endpoints, { op: 'insert', record, change, entry })

export const replaceEndpoint = (
  endpoints: Writes,
  record: EndpointRecord,
  expected: StoredDocument,
  change: Partial<Change> = {},
): Promise<Result> => writeOne(endpoints, { op: 'replace', record, expected, change })

export const removeEndpoint = (
  endpoints: Writes,
  expected: StoredDocument,
  change: Partial<Change> = {},
): Promise<Result> => writeOne(endpoints, { op: 'remove', expected, change })
