/** All that a store holds, as rows, for copying it into another one and showing that both are the same. */
import { createHash } from 'node:crypto'
import type { Tables } from './tables.ts'

export type StoreRows = Readonly<{
  endpoints: readonly Tables['endpoints'][]
  states: readonly Tables['states'][]
  versions: readonly Tables['endpoint_versions'][]
  /** Those that were there when the copy began; what is under way has nobody who works on it any more. */
  answers: readonly AnswerRow[]
}>

export type AnswerRow = Omit<Tables['kept_answers'], 'owner'>

export type TableSummary = Readonly<{ rows: number; sha256: string }>

export type StoreSummary = Readonly<{
  endpoints: TableSummary
  states: TableSummary
  versions: TableSummary
  answers: TableSummary
}>

/** Counts and checksums over every column, whatever the order in which the database gave the rows. */
export function summaryOf({ endpoints, states, versions, answers }: StoreRows): StoreSummary {
  return {
    endpoints: summary(endpoints.map((row) => [row.id, row.name, row.route_key, row.document])),
    states: summary(
      states.map((row) => [row.endpoint_id, row.lookup_status, row.network_error, row.sequence, row.state]),
    ),
    versions: summary(versions.map((row) => [row.endpoint_id, row.version, row.at, row.about, row.document])),
    answers: summary(
      answers.map(({ endpoint_id, key, fingerprint, until, size, detail, body }) => [
        ...[endpoint_id, key, fingerprint, until, size, detail],
        body === null ? '' : createHash('sha256').update(body).digest('hex'),
      ]),
    ),
  }
}

function summary(rows: readonly (readonly (string | number)[])[]): TableSummary {
  const hash = createHash('sha256')
  for (const line of rows.map((row) => JSON.stringify(row)).sort()) hash.update(`${line}\n`)
  return { rows: rows.length, sha256: hash.digest('hex') }
}
