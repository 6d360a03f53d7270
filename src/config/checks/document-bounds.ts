/** How much one endpoint document may ask of the service, before any of it is compiled. */
import { Failure } from '../../domain/failure.ts'
import type { LintSink } from '../../domain/lint.ts'
import type { Endpoint } from '../schema/schema.ts'

/** Names and units as in src/settings/settings.ts. */
export type DocumentBounds = Readonly<{
  documentLimitBytes: number
  documentMaxMappings: number
  documentMaxRequests: number
}>

/**
 * Reports each bound that a checked endpoint is over.
 *
 * Fails with DOCUMENT_TOO_LARGE, as compiling so much for its other faults is what the bound is against.
 */
export function lintBounds(endpoint: Endpoint, bounds: DocumentBounds, lint: LintSink): void {
  const { documentLimitBytes, documentMaxMappings, documentMaxRequests } = bounds
  const bytes = Buffer.byteLength(JSON.stringify(endpoint))
  if (bytes > documentLimitBytes) {
    throw new Failure(
      'DOCUMENT_TOO_LARGE',
      `The endpoint document has ${bytes} bytes, and ${documentLimitBytes} is the most (DOCUMENT_LIMIT); divide it into several endpoints.`,
    )
  }
  const { lookup, response } = endpoint.requests
  const requests = lookup.length + response.length
  if (requests > documentMaxRequests) {
    lint
      .at('requests')
      .error(
        `The document has ${requests} requests, and ${documentMaxRequests} is the most (DOCUMENT_MAX_REQUESTS); leave some out.`,
      )
  }
  const mappings = Object.keys(endpoint.inputMapping ?? {}).length
  if (mappings > documentMaxMappings) {
    lint
      .at('inputMapping')
      .error(
        `The mapping has ${mappings} entries, and ${documentMaxMappings} is the most (DOCUMENT_MAX_MAPPINGS); map whole objects instead of their fields.`,
      )
  }
}
