/** The endpoint documents that messages are matched with: those of a running service, or of a folder. */

import { join } from 'node:path'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { parseRoutePattern } from '../../src/language/route-pattern.ts'
import { createRouteTable } from '../../src/language/route-table.ts'
import { ComparisonImpossible, type EndpointDocument, listFiles, listRequests, readJsonFile } from './comparison.ts'

export type MatchedEndpoint = Readonly<{ document: EndpointDocument; urlParams: JsonObject }>

export interface EndpointDocuments {
  /** `path`: percent-encoded. */
  find(method: string, path: string): MatchedEndpoint | undefined
  /** The documents of the endpoints that a document calls, by the paths of its requests, and those that they call. */
  calledBy(document: EndpointDocument): readonly EndpointDocument[]
}

/** Documents whose pattern cannot be read match nothing. */
export function createEndpointDocuments(documents: readonly EndpointDocument[]): EndpointDocuments {
  const routes = createRouteTable<EndpointDocument>()
  for (const document of documents) {
    const { method = 'POST', pattern } = isObject(document.endpoint) ? document.endpoint : {}
    if (typeof pattern !== 'string' || typeof method !== 'string' || !parseRoutePattern(pattern).ok) continue
    routes.add(method.toUpperCase(), pattern, document)
  }
  const addCalled = (document: EndpointDocument, called: Set<EndpointDocument>): void => {
    for (const { config } of [...listRequests(document, 'lookup'), ...listRequests(document, 'response')]) {
      const { method = 'GET', url } = isObject(config) ? config : {}
      const path = URL.parse(String(url))?.pathname ?? ''
      const target = routes.find(String(method).toUpperCase(), path)?.target
      if (target === undefined || called.has(target)) continue
      called.add(target)
      addCalled(target, called)
    }
  }
  return {
    find: (method, path) => {
      const found = routes.find(method, path)
      return found && { document: found.target, urlParams: found.urlParams }
    },
    calledBy: (document) => {
      const called = new Set<EndpointDocument>()
      addCalled(document, called)
      return [...called]
    },
  }
}

/** Reads the documents below a folder; other JSON files are left out. Throws ComparisonImpossible. */
export function readDocuments(folder: string): readonly EndpointDocument[] {
  const documents = listFiles(folder, '.json').flatMap((file) => documentsIn(readJsonFile(join(folder, file), file)))
  if (documents.length === 0) throw new ComparisonImpossible(`${folder} has no endpoint documents.`)
  return documents
}

/** The documents in the answer of `GET /endpoints`, or of a file. */
export const documentsIn = (value: Json): readonly EndpointDocument[] =>
  (Array.isArray(value) ? value : [value]).filter(isDocument)

const isDocument = (value: Json): value is EndpointDocument =>
  isObject(value) && typeof value.name === 'string' && isObject(value.endpoint) && 'pattern' in value.endpoint
