/** Tables of codes: their rows in pages, changes with what they would change, versions, and the codes that they lack. */
import type { Paths } from '../../../src/api/types.ts'
import { type Answered, api, get, readAnswer, readData, type Schemas } from './client.ts'
import { type Change, changeHeaders } from './document-calls.ts'

export type TableRow = Schemas['TableSummary']
export type TableVersion = Schemas['TableVersion']
export type TableDiff = Schemas['TableDiff']
export type TablePage = Schemas['TablePage']
export type RowsChange = Paths['/tables/{name}/rows']['post']['requestBody']['content']['application/json']
/** `etag`: of the table when the row was read. */
export type ShownRow = Readonly<{ cells: readonly string[]; etag: string | undefined }>
type TableChanged = Schemas['TableChanged']

const of = (name: string) => ({ params: { path: { name } } })

export type RowQuery = Readonly<{ search?: string | undefined; from?: number; limit: number }>

/** A page of rows; its ETag is that of the table. Fails with an ApiFailure, as the calls below. */
export const readRows = (
  name: string,
  { search, from = 0, limit }: RowQuery,
  signal?: AbortSignal,
): Promise<Answered<TablePage>> =>
  readAnswer(
    api.GET('/tables/{name}/rows', {
      params: { path: { name }, query: { from, limit, ...(search && { search }) } },
      signal: signal ?? null,
    }),
  )

/** Adds, replaces and removes rows. */
export const changeRows = (
  name: string,
  rows: RowsChange,
  change: Change,
): Promise<Answered<Schemas['TableRowsAdded']>> =>
  readAnswer(api.POST('/tables/{name}/rows', { ...of(name), headers: changeHeaders(change), body: rows })) as Promise<
    Answered<Schemas['TableRowsAdded']>
  >

/** What `changeRows` would change. */
export const compareRows = (name: string, rows: RowsChange, signal?: AbortSignal): Promise<TableDiff> =>
  readData(
    api.POST('/tables/{name}/rows', {
      params: { path: { name }, query: { dryRun: true } },
      body: rows,
      signal: signal ?? null,
    }),
  ) as Promise<TableDiff>

/** A whole table, as a file has it. */
export type TableFile = Readonly<{ content: Blob; mediaType: string }>

const upload = (name: string, { content, mediaType }: TableFile, dryRun: boolean, change: Change) =>
  api.PUT('/tables/{name}', {
    params: { path: { name }, ...(dryRun && { query: { dryRun } }) },
    headers: { ...changeHeaders(change), 'content-type': mediaType },
    body: content as never,
    bodySerializer: () => content,
  })

export const putTable = (name: string, file: TableFile, change: Change): Promise<Answered<TableChanged>> =>
  readAnswer(upload(name, file, false, change)) as Promise<Answered<TableChanged>>

/** What `putTable` would change. */
export const compareTable = (name: string, file: TableFile, change: Change): Promise<TableDiff> =>
  readData(upload(name, file, true, change)) as Promise<TableDiff>

export const deleteTable = (name: string, change: Change) =>
  readData(api.DELETE('/tables/{name}', { ...of(name), headers: changeHeaders(change) }))

/** The formats of files, as the API names them. */
export const TABLE_FORMATS = [
  { value: 'text/csv', label: 'CSV', ending: '.csv' },
  { value: 'application/fhir+json', label: 'FHIR ConceptMap', ending: '.fhir.json' },
  { value: 'application/json', label: 'JSON', ending: '.json' },
] as const

export type TableMediaType = (typeof TABLE_FORMATS)[number]['value']

/** The rows as a file. */
export const downloadTable = (name: string, mediaType: TableMediaType): Promise<Blob> =>
  readData(api.GET('/tables/{name}', { ...of(name), headers: { accept: mediaType }, parseAs: 'blob' })) as Promise<Blob>

export const compareTableVersions = (name: string, version: number, other: number, signal?: AbortSignal) =>
  get('/tables/{name}/versions/{version}/diff/{other}', { path: { name, version, other } }, signal)

export const restoreTable = (name: string, version: number, change: Change) => {
  const params = { path: { name, version } }
  return readAnswer(api.POST('/tables/{name}/versions/{version}/restore', { params, headers: changeHeaders(change) }))
}

export type UnmappedCode = Schemas['UnmappedCodes']['codes'][number]

/** Takes codes from the list of those that messages missed. */
export const removeUnmapped = (name: string, codes: string[]) =>
  readData(api.DELETE('/tables/{name}/unmapped', { ...of(name), body: { codes } }))
