/**
 * The first check of an endpoint document: its form is checked and its defaults are filled in, so that all later code can
 * rely on the type `Endpoint`.
 */
import { isObject, type Json } from '../../core/json.ts'
import { collectInto, type Lint, type LintSink } from '../../core/lint.ts'
import { withoutStamps } from '../../core/stored-document.ts'
import { hasTargetField, TARGET_FIELDS } from '../../outbound/targets.ts'
import { DOCUMENT_DOORS } from '../doors.ts'
import { NO_TEXT, replaceFileReferences } from '../file-references.ts'
import { type Endpoint, EndpointField } from '../schema/schema.ts'
import { UNKNOWN_PATTERN, UNKNOWN_URL } from '../schema/schema-fields.ts'
import { checkField, standIn } from './check-field.ts'

/**
 * Checks the form of a document and normalises it: defaults filled in, single requests as arrays, methods in upper
 * case, read-only fields removed, the order of the fields kept. Never throws.
 *
 * Out: the endpoint, and every fault of form, each once. With faults, the endpoint has stand-ins for the faulty values
 * (`UNKNOWN…` of schema-fields.ts): it can be checked further and must not be stored.
 */
export function checkDocument(raw: Json): { endpoint: Endpoint; lints: readonly Lint[] } {
  const lints: Lint[] = []
  const sink = collectInto(lints)
  // A document that was read can be sent back.
  const written = replaceFileReferences(isObject(raw) ? withoutStamps(raw) : raw, refuseFile, sink)
  // The walk over the schema returns a value of the schema's type; a property test checks this.
  const endpoint = (checkField(EndpointField, written, sink) ?? standIn(EndpointField)) as Endpoint
  checkInputType(endpoint, lints)
  return { endpoint: checkTargets(checkDoors(endpoint, lints), written, lints), lints }
}

function refuseFile(_name: Json, lint: LintSink): string {
  lint.error('"$file" names a file of a project, which only the command line reads; put the text of the file here.')
  return NO_TEXT
}

/** Whether none of these fields has a fault; only then a rule between them is checked. */
const areSound = (lints: readonly Lint[], ...paths: readonly string[]) =>
  !lints.some((lint) => paths.includes(lint.path))

function checkInputType(endpoint: Endpoint, lints: Lint[]): void {
  if (endpoint.transformation.input !== undefined) return
  if (!areSound(lints, '', 'endpoint', 'endpoint.method', 'transformation', 'transformation.input')) return
  const lint = collectInto(lints).at('transformation', 'input')
  for (const { isOpen, body } of ALL_DOORS) {
    const required = isOpen(endpoint) ? body(endpoint) : undefined
    if (required !== undefined) lint.error(`"transformation.input" is required ${required}`)
  }
}

/** Without anything that brings messages, the endpoint gets a stand-in for its route. */
function checkDoors(endpoint: Endpoint, lints: Lint[]): Endpoint {
  if (ALL_DOORS.some(({ isOpen }) => isOpen(endpoint))) return endpoint
  const fields = ALL_DOORS.map(({ field }) => field)
  if (areSound(lints, '', 'endpoint', ...fields)) {
    const others = fields.filter((field) => field !== ROUTE).map((field) => `"${field}"`)
    collectInto(lints)
      .at(...ROUTE.split('.'))
      .error(
        `"${ROUTE}" is required: give the path of the endpoint, or another field that brings messages: ${others.join(', ')}.`,
      )
  }
  return { ...endpoint, endpoint: { ...endpoint.endpoint, pattern: UNKNOWN_PATTERN } }
}

const ALL_DOORS = Object.values(DOCUMENT_DOORS)
const ROUTE = DOCUMENT_DOORS.http.field

/** A response request has exactly one target; one without any gets a stand-in for its URL. */
function checkTargets(endpoint: Endpoint, written: Json, lints: Lint[]): Endpoint {
  const { requests } = endpoint
  const single = isObject(written) && isObject(written.requests) && isObject(written.requests.response)
  const responses = collectInto(lints).at('requests', 'response')
  const response = requests.response.map((request, index) => {
    const lint = single ? responses : responses.at(index)
    const { path } = lint
    const named = TARGET_FIELDS.filter((field) => hasTargetField(request, field)).map((field) => `"${field}"`)
    if (named.length === 1) return request
    if (areSound(lints, path, `${path}.config`, ...TARGET_FIELDS.map((field) => `${path}.${field}`))) {
      const choice = TARGET_FIELDS.map((field) => `"${field}"`).join(' or a ')
      lint.error(
        named.length > 1
          ? `"${path}" has both ${named.join(' and ')}; keep the one that the output should go to.`
          : `"${path}" has nowhere to go; give it a ${choice}.`,
      )
    }
    if (named.length > 1) return request
    return { ...request, config: { method: 'POST' as const, ...request.config, url: UNKNOWN_URL } }
  })
  return { ...endpoint, requests: { ...requests, response } }
}
