/** The message that is measured: the sample that users try first, and the same with state. */
import { readFileSync } from 'node:fs'
import type { JsonObject } from '../src/domain/json.ts'

const folder = new URL('../samples/flat-json-to-fhir-patient/', import.meta.url)

const read = (name: string): JsonObject => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as JsonObject

type EndpointDocument = JsonObject & {
  readonly name: string
  readonly endpoint: Readonly<{ pattern: string }>
  readonly inputMapping: JsonObject
}

/** The endpoint documents, by the names that the report uses. */
export function readDocuments(): Readonly<Record<'stateless' | 'stateful', EndpointDocument>> {
  const stateless = read('endpoint.json') as EndpointDocument
  const stateful = {
    ...stateless,
    name: `${stateless.name}, with state`,
    endpoint: { ...stateless.endpoint, pattern: `${stateless.endpoint.pattern}-with-state` },
    state: { extract: { responseBody: { previousType: 'resourceType' } } },
    inputMapping: { ...stateless.inputMapping, 'state.responseBody.previousType': 'implicitRules' },
  }
  return { stateless, stateful }
}

export const readInput = (): JsonObject => read('input.json')
