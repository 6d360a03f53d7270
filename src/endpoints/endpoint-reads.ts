/** Reads endpoint documents and their versions from the store. */

import { setImmediate as nextIteration } from 'node:timers/promises'
import { Failure } from '../core/failure.ts'
import { isId } from '../core/id.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { isError } from '../core/lint.ts'
import { type StoredDocument, type Version, type VersionSummary, withoutStamps } from '../core/stored-document.ts'
import { checkDocument } from '../document/checks/check-document.ts'
import { describeChange, diffDocuments } from '../document/diff/document-diff.ts'
import { parsePath } from '../language/paths/path.ts'
import type { DocumentVersion, EndpointStore, ListedDocument } from '../store/sql/endpoint-store.ts'
import * as failures from './management-failures.ts'
import { parseDocument } from './parse-document.ts'
import { createStoreQueue } from './store-queue.ts'

/** Field paths, each with the values that match. */
type Filters = readonly (readonly [path: string, values: readonly string[]])[]

/** Each method fails with STORE_UNAVAILABLE. */
export interface EndpointReads {
  /**
   * The documents, oldest first, some at a time. A document matches a filter if the value at its path is one of its texts.
   * Fails with FILTER_INVALID.
   */
  list(filters: Filters): AsyncIterable<readonly ListedDocument[]>
  /**
   * The same documents again, as they were in the list, some at a time. Rejects with VersionGone if a version is no longer
   * stored, which is so after many further changes only.
   */
  readAgain(listed: readonly ListedLength[]): AsyncIterable<readonly Uint8Array[]>
  /** Fails with ID_MALFORMED, ENDPOINT_UNKNOWN. */
  get(id: string): Promise<StoredDocument>
  readonly versions: Readonly<{
    /** Newest first; also of recently deleted endpoints. Fails with ID_MALFORMED, ENDPOINT_UNKNOWN. */
    list(id: string): Promise<readonly VersionSummary[]>
    /** Fails with ID_MALFORMED, ENDPOINT_UNKNOWN, VERSION_UNKNOWN. */
    get(id: string, version: number): Promise<Version>
    /** The changes from one version to another. Fails as `get` does, and for a deletion with VERSION_UNKNOWN. */
    diff(id: string, before: number, after: number): Promise<VersionDiff>
  }>
  /**
   * The changes that a document would make. In: the document as JSON text. Fails as `get` does, with BODY_UNREADABLE and
   * BODY_TOO_DEEP, and with CONFIGURATION_INVALID if its form is wrong; the rules between its fields are not checked.
   */
  diff(id: string, text: string): Promise<DocumentDiff>
}

export type ListedLength = DocumentVersion & Readonly<{ byteLength: number }>

export class VersionGone extends Error {
  override readonly name = 'VersionGone'

  constructor({ id, version }: DocumentVersion) {
    super(`Version ${version} of ${id} is no longer stored.`)
  }
}

export type DocumentDiff = Readonly<{ changes: readonly ReturnType<typeof describeChange>[] }>
export type VersionDiff = DocumentDiff & Readonly<{ from: VersionSummary; to: VersionSummary }>

export function createEndpointReads(store: EndpointStore): EndpointReads {
  const read = <T>(id: string, work: () => Promise<T>): Promise<T> => {
    if (!isId(id)) throw failures.malformedId(id)
    return failures.callEndpointStore(work)
  }
  const listVersions = async (id: string): Promise<readonly VersionSummary[]> => {
    const versions = await read(id, () => store.versions(id))
    if (versions.length === 0) throw failures.unknown(id)
    return versions
  }
  const getVersion = async (id: string, version: number): Promise<Version> => {
    const found = await read(id, () => store.version(id, version))
    if (found !== undefined) return found
    await listVersions(id)
    throw failures.unknownVersion(id, version)
  }
  const get = async (id: string): Promise<StoredDocument> => {
    const document = await read(id, () => store.get(id))
    if (document === undefined) throw failures.unknown(id)
    return document
  }
  /** Pages of all lists are read one after the other, and messages run between two of them. */
  const enqueue = createStoreQueue()
  const readPage = <T>(work: () => Promise<T>): Promise<T> =>
    enqueue(async () => {
      await nextIteration()
      return failures.callEndpointStore(work)
    })
  async function* list(filters: Filters): AsyncGenerator<readonly ListedDocument[]> {
    const matches = compileFilters(filters)
    for (let after = ''; ; ) {
      const page = await readPage(() => store.page(after))
      const { id } = page.at(-1) ?? {}
      if (id === undefined) return
      after = id
      yield filters.length === 0
        ? page
        : page.filter(({ bytes }) => matches(JSON.parse(decoder.decode(bytes)) as JsonObject))
    }
  }
  async function* readAgain(listed: readonly ListedLength[]): AsyncGenerator<readonly Uint8Array[]> {
    for (const page of splitIntoPages(listed)) {
      const documents = await readPage(() => store.readVersions(page))
      yield documents.map((bytes, index) => {
        if (bytes === undefined) throw new VersionGone(page[index] as ListedLength)
        return bytes
      })
    }
  }
  return {
    list,
    readAgain,
    get,
    versions: {
      list: listVersions,
      get: getVersion,
      diff: async (id, before, after) => {
        const { document: one, ...from } = await getVersion(id, before)
        if (one === null) throw failures.emptyVersion(before)
        const { document: other, ...to } = await getVersion(id, after)
        if (other === null) throw failures.emptyVersion(after)
        return { from, to, changes: describeChanges(one, other) }
      },
    },
    diff: async (id, text) => {
      const { raw, faults } = parseDocument(text)
      const { endpoint, lints } = checkDocument(raw)
      const errors = [...faults, ...lints.filter(isError)]
      const stored = await get(id)
      if (errors.length > 0) throw failures.invalid(errors)
      return { changes: describeChanges(stored, endpoint as unknown as JsonObject) }
    },
  }
}

const decoder = new TextDecoder()

/** Of documents that are read at once, which takes a few milliseconds. */
const PAGE_DOCUMENTS = 100
const PAGE_BYTES = 256 * 1024

function* splitIntoPages(listed: readonly ListedLength[]): Generator<readonly ListedLength[]> {
  let page: ListedLength[] = []
  let bytes = 0
  for (const one of listed) {
    page.push(one)
    bytes += one.byteLength
    if (bytes < PAGE_BYTES && page.length < PAGE_DOCUMENTS) continue
    yield page
    page = []
    bytes = 0
  }
  if (page.length > 0) yield page
}

const describeChanges = (before: JsonObject, after: JsonObject): DocumentDiff['changes'] =>
  diffDocuments(withoutStamps(before), withoutStamps(after)).map(describeChange)

/** A document must match all filters (`EndpointReads.list`). Fails with FILTER_INVALID. */
export function compileFilters(filters: Filters): (document: JsonObject) => boolean {
  const tests = filters.map(([path, values]) => compileFilter(path, values))
  return (document) => tests.every((test) => test(document))
}

/**
 * Compares the value at a field path, as text, with `values`; an array matches if one of its elements does. The filter
 * never reaches a query language. Fails with FILTER_INVALID.
 */
function compileFilter(path: string, values: readonly string[]): (document: JsonObject) => boolean {
  const parsed = parsePath(path)
  if (!parsed.ok) throw new Failure('FILTER_INVALID', `The filter "${path}" is not a field path: ${parsed.message}`)
  const { value: field } = parsed
  const matches = (value: Json | undefined): boolean => {
    // Within an array, null also means an element without the field.
    if (Array.isArray(value)) return value.some((item) => item !== null && matches(item))
    return value !== undefined && !isObject(value) && values.includes(String(value))
  }
  return (document) => matches(field.read(document))
}
