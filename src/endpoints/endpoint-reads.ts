/** Reads endpoint documents and their versions from the store. */
import { setImmediate as turn } from 'node:timers/promises'
import { checkDocument } from '../config/checks/check-document.ts'
import { describeChange, diffDocuments } from '../document-diff/document-diff.ts'
import { Failure } from '../domain/failure.ts'
import { isId } from '../domain/id.ts'
import { isObject, type Json, type JsonObject } from '../domain/json.ts'
import type { EndpointStore } from '../domain/ports/endpoint-store-port.ts'
import { contentOf, type StoredDocument, type Version, type VersionSummary } from '../domain/stored-document.ts'
import { parsePath } from '../language/paths/path.ts'
import * as failures from './management-failures.ts'
import { parseDocument } from './parse-document.ts'

/** Field paths, each with the values that match. */
type Filters = readonly (readonly [path: string, values: readonly string[]])[]

/** Each method fails with STORE_UNAVAILABLE. */
export interface EndpointReads {
  /**
   * The documents as JSON text, oldest first, some at a time. A document matches a filter if the value at its path is one of
   * its texts. Fails with FILTER_INVALID.
   */
  list(filters: Filters): AsyncIterable<readonly string[]>
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
  let last: Promise<unknown> = Promise.resolve()
  const readPage = (after: string) => {
    const page = last.then(() => turn()).then(() => failures.callEndpointStore(() => store.page(after)))
    last = page.catch(() => undefined)
    return page
  }
  async function* list(filters: Filters): AsyncGenerator<readonly string[]> {
    const matches = compileFilters(filters)
    for (let after = ''; ; ) {
      const page = await readPage(after)
      const { id } = page.at(-1) ?? {}
      if (id === undefined) return
      after = id
      const texts = page.map(({ text }) => text)
      yield filters.length === 0 ? texts : texts.filter((text) => matches(JSON.parse(text) as JsonObject))
    }
  }
  return {
    list,
    get,
    versions: {
      list: listVersions,
      get: getVersion,
      diff: async (id, before, after) => {
        const { document: one, ...from } = await getVersion(id, before)
        if (one === null) throw failures.emptyVersion(before)
        const { document: other, ...to } = await getVersion(id, after)
        if (other === null) throw failures.emptyVersion(after)
        return { from, to, changes: changesOf(one, other) }
      },
    },
    diff: async (id, text) => {
      const { raw, faults } = parseDocument(text)
      const { endpoint, lints } = checkDocument(raw)
      const errors = [...faults, ...lints.filter(({ severity }) => severity === 'error')]
      const stored = await get(id)
      if (errors.length > 0) throw failures.invalid(errors)
      return { changes: changesOf(stored, endpoint as unknown as JsonObject) }
    },
  }
}

const changesOf = (before: JsonObject, after: JsonObject): DocumentDiff['changes'] =>
  diffDocuments(contentOf(before), contentOf(after)).map(describeChange)

/** Whether a document matches all filters (`EndpointReads.list`). Fails with FILTER_INVALID. */
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
    // Within an array, null also stands for an element without the field.
    if (Array.isArray(value)) return value.some((item) => item !== null && matches(item))
    return value !== undefined && !isObject(value) && values.includes(String(value))
  }
  return (document) => matches(field.read(document))
}
