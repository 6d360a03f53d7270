/** Bounds on one endpoint document, checked before it is compiled. */
import { Failure } from '../../core/failure.ts'
import type { LintSink } from '../../core/lint.ts'
import { listNestedEntries } from '../../language/mapping/nested-entries.ts'
import { listMappings } from '../reads/document-mappings.ts'
import type { Endpoint } from '../schema/schema.ts'

/** Names and units as in src/settings/settings.ts. */
export type DocumentBounds = Readonly<{
  documentLimitBytes: number
  documentMaxMappings: number
  documentMaxRequests: number
  serverPort: number
  adminPort: number
}>

/** In characters. Names and ids are labels of metrics and stand in the record of each message. */
const MAX_NAME_CHARACTERS = 200
const MAX_ID_CHARACTERS = 100

/** Lints each bound that a checked endpoint exceeds. Throws DOCUMENT_TOO_LARGE: compiling so large a document costs too much. */
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
    const sink = lint.at('requests')
    sink.error(
      `The document has ${requests} requests, and ${documentMaxRequests} is the most (DOCUMENT_MAX_REQUESTS); leave some out.`,
    )
  }
  let mappings = 0
  for (const { entries, at } of listMappings(endpoint)) {
    const before = mappings
    mappings += listNestedEntries(entries).length
    if (mappings <= documentMaxMappings || before > documentMaxMappings) continue
    const which = before === 0 ? 'The mapping has' : 'The mappings of the document up to this one have'
    lint
      .at(...at)
      .error(
        `${which} ${mappings} entries, and ${documentMaxMappings} is the most (DOCUMENT_MAX_MAPPINGS); map whole objects instead of their fields.`,
      )
  }
  lintNames(endpoint, lint)
  lintPort(endpoint, bounds, lint.at('mllp', 'port'))
}

/** After a restart, the port for MLLP might be opened first, and keep the service from listening. */
function lintPort({ mllp }: Endpoint, { serverPort, adminPort }: DocumentBounds, lint: LintSink): void {
  if (mllp === undefined) return
  for (const [setting, port] of [
    ['SERVER_PORT', serverPort],
    ['ADMIN_PORT', adminPort],
  ] as const) {
    if (mllp.port === port) lint.error(`The service itself listens on port ${port} (${setting}); choose another.`)
  }
}

function lintNames({ name, requests, inputTransforms = {} }: Endpoint, lint: LintSink): void {
  lintLength('The name', name, MAX_NAME_CHARACTERS, lint.at('name'))
  for (const group of ['lookup', 'response'] as const) {
    for (const [index, { id }] of requests[group].entries()) {
      lintLength('The id', id, MAX_ID_CHARACTERS, lint.at('requests', group, index, 'id'))
    }
  }
  for (const id of Object.keys(inputTransforms)) {
    lintLength('The name', id, MAX_ID_CHARACTERS, lint.at('inputTransforms', id))
  }
}

function lintLength(what: string, value: string, longest: number, lint: LintSink): void {
  if (value.length <= longest) return
  lint.error(`${what} has ${value.length} characters, and ${longest} is the most; shorten it.`)
}
