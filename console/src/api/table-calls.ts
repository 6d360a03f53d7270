/** Tables of codes: their rows in pages, changes with what they would change, versions, and the codes that they lack. */
import type { Paths } from '../../../src/api/types.ts'
import { type Answered, api, readAnswer, readData, type Schemas } from './client.ts'
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
const as = (headers: Record<string, string>) => ({ headers: { 'content-type': 'application/json', ...headers } })

export const listTables = (signal?: AbortSignal): Promise<readonly TableRow[]> =>
  readData(api.GET('/tables', { ...(signal && { signal }) }))

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
      ...(signal && { signal }),
    }),
  )

/** Adds, replaces and removes rows. */
export const changeRows = (
  name: string,
  rows: RowsChange,
  change: Change,
): Promise<Answered<Schemas['TableRowsAdded']>> =>
  readAnswer(api.POST('/tables/{name}/rows', { ...of(name), ...as(changeHeaders(change)), body: rows })) as Promise<
    Answered<Schemas['TableRowsAdded']>
  >

/** What `changeRows` would change. */
export const compareRows = (name: string, rows: RowsChange, signal?: AbortSignal): Promise<TableDiff> =>
  readData(
    api.POST('/tables/{name}/rows', {
      params: { path: { name }, query: { dryRun: true } },
      ...as({}),
      body: rows,
      ...(signal && { signal }),
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

/** Newest first. */
export const listTableVersions = (name: string, signal?: AbortSignal): Promise<readonly TableVersion[]> =>
  readData(api.GET('/tables/{name}/versions', { ...of(name), ...(signal && { signal }) }))

export const compareTableVersions = (name: string, from: number, to: number, signal?: AbortSignal) =>
  readData(
    api.GET('/tables/{name}/versions/{version}/diff/{other}', {
      params: { path: { name, version: String(from), other: String(to) } },
      ...(signal && { signal }),
    }),
  )

/** How many of the newest messages a version maps otherwise than the one before it. */
export const readTableEffect = (name: string, version: number, signal?: AbortSignal): Promise<Schemas['TableEffect']> =>
  readData(
    api.GET('/tables/{name}/versions/{version}/effect', {
      params: { path: { name, version: String(version) } },
      ...(signal && { signal }),
    }),
  )

export const restoreTable = (name: string, version: number, change: Change) =>
  readAnswer(
    api.POST('/tables/{name}/versions/{version}/restore', {
      params: { path: { name, version: String(version) } },
      ...as(changeHeaders(change)),
    }),
  )

export type UnmappedCode = Schemas['UnmappedCodes']['codes'][number]
const MAX_UNMAPPED = 1_000

/** The codes that messages missed in a table, those that were missed most often first. */
export const listUnmapped = (name: string, signal?: AbortSignal): Promise<Schemas['UnmappedCodes']> =>
  readData(
    api.GET('/tables/{name}/unmapped', {
      params: { path: { name }, query: { limit: MAX_UNMAPPED } },
      ...(signal && { signal }),
    }),
  )

/** Takes codes from the list of those that messages missed. */
export const removeUnmapped = (name: string, codes: string[]) =>
  readData(api.DELETE('/tables/{name}/unmapped', { ...of(name), body: { codes } }))
