/**
 * Runs a sample message through an endpoint and reports its course, without effects: the same compiler and intake as for
 * real messages, with canned answers in place of other systems.
 */
import type { DocumentBounds } from '../config/checks/document-bounds.ts'
import { checkDryRun, type DryRunRequest } from '../config/checks/dry-run-request.ts'
import type { Endpoint } from '../config/schema/schema.ts'
import { isId } from '../domain/id.ts'
import type { Json, JsonObject } from '../domain/json.ts'
import { collectInto, keepsOut, type Lint } from '../domain/lint.ts'
import { nearest } from '../domain/nearest.ts'
import type { Clock } from '../domain/run.ts'
import { type CallSpan, startTrace, type Trace } from '../domain/tracing/trace.ts'
import { findClashes } from '../endpoints/clash.ts'
import { compileDocument } from '../endpoints/compile-document.ts'
import type { CompiledEndpoint } from '../endpoints/compiled-endpoint.ts'
import type { Registry } from '../endpoints/endpoint-registry.ts'
import type { EndpointService } from '../endpoints/endpoint-service.ts'
import * as failures from '../endpoints/management-failures.ts'
import { parseDocument } from '../endpoints/parse-document.ts'
import { MEDIA_TYPES } from '../formats/codecs.ts'
import type { Incoming } from '../intake/incoming-message.ts'
import type { Intake } from '../intake/intake.ts'
import type { PipelineSettings, Services } from '../pipeline/services.ts'
import { bytesOf, cannedServices } from './canned-services.ts'
import { createCourse } from './course.ts'
import { reportOf } from './dry-run-report.ts'
import { createReportValues } from './report-values.ts'

export type DryRunOptions = Readonly<{
  endpointService: Pick<EndpointService, 'get'>
  registry: Registry
  intake: Intake
  /** The services of live lookups. */
  services: Services
  settings: PipelineSettings & DocumentBounds
  clock: Clock
}>

/**
 * In: the request as JSON text. Out: the report.
 *
 * Fails with BODY_UNREADABLE, BODY_TOO_DEEP, DOCUMENT_TOO_LARGE and DRY_RUN_INVALID if the request itself is wrong, with
 * ID_MALFORMED, ENDPOINT_UNKNOWN and STORE_UNAVAILABLE if its endpoint cannot be read, with OVERLOADED and SHUTTING_DOWN as
 * a message would; never for a fault of the document or the message.
 */
export type DryRun = (text: string) => Promise<JsonObject>

/** The id of a document without one: no endpoint ever gets it. */
const NO_ID = '0'.repeat(24)

/** Faults with this path are faults of the document, not of the request. */
const IN_DOCUMENT = 'endpoint.'

export function createDryRun({ endpointService, registry, intake, services, settings, clock }: DryRunOptions): DryRun {
  return async (text) => {
    const refused = intake.refusal()
    if (refused !== undefined) throw refused
    const { raw, faults } = parseDocument(text)
    const { request, lints: wrong } = checkDryRun(raw)
    const outside = faults.filter(({ path }) => !path.startsWith(IN_DOCUMENT))
    if (wrong.length + outside.length > 0) throw failures.dryRunInvalid([...outside, ...wrong])
    const inside = faults
      .filter(({ path }) => path.startsWith(IN_DOCUMENT))
      .map((fault) => ({ ...fault, path: fault.path.slice(IN_DOCUMENT.length) }))

    const { document, id } = await documentOf(request, endpointService)
    let trace: Trace | undefined
    const canned = cannedServices(request, () => trace?.calls.at(-1) as CallSpan, services)
    const now = new Date(clock()).toISOString()
    const stamp = { _id: id, createdAt: now, updatedAt: now, version: registry.get(id)?.version ?? 0 }
    const bounds = request.endpoint === undefined ? undefined : settings
    const course = createCourse()
    const observed = { ...canned.services, observer: course }
    const { lints, compiled } = await compileDocument(document, stamp, observed, settings, { bounds })
    const lint = lintOf([...inside, ...lints], findClashes(compiled, registry))
    const runs = request.endpoint === undefined ? !lints.some(keepsOut) : lint.errors.length === 0
    if (!runs) return { ran: false, lint }
    const unknown = unknownRequests(request, compiled.endpoint)
    if (unknown.length > 0) throw failures.dryRunInvalid(unknown)

    trace = startTrace()
    const completed = await intake.rehearse(compiled, incomingOf(request, compiled), trace)
    const { endpoint } = compiled
    const values = createReportValues(trace.secrets)
    return { ran: true, lint, ...reportOf({ completed, trace, course, canned, endpoint, values }) }
  }
}

/** Canned answers that no request of the endpoint would get: they are mistakes. */
function unknownRequests(request: DryRunRequest, { requests }: Endpoint): Lint[] {
  const lints: Lint[] = []
  const check = (group: 'lookups' | 'responses', known: readonly string[]) => {
    for (const id of Object.keys(request[group] ?? {}).filter((name) => !known.includes(name))) {
      const near = nearest(id, known)
      const hint = near === undefined ? `its ${group} are ${known.join(', ') || 'none'}.` : `did you mean "${near}"?`
      collectInto(lints, group).at(id).error(`The endpoint has no request "${id}" among its ${group}; ${hint}`)
    }
  }
  check(
    'lookups',
    requests.lookup.map(({ id }) => id),
  )
  check(
    'responses',
    requests.response.map(({ id }) => id),
  )
  return lints
}

/** The document to run, and the id of the endpoint that it would replace. */
async function documentOf(
  { endpoint, endpointId }: DryRunRequest,
  endpointService: DryRunOptions['endpointService'],
): Promise<Readonly<{ document: Json; id: string }>> {
  const stored = endpointId === undefined ? undefined : await endpointService.get(endpointId)
  const own = endpoint?._id
  const id = endpointId ?? (typeof own === 'string' && isId(own) ? own : NO_ID)
  return { document: endpoint ?? stored ?? {}, id }
}

/** The faults as its registration would report them; a document with clashes still runs. */
function lintOf(lints: readonly Lint[], clashes: readonly Lint[]) {
  const shown = (some: readonly Lint[]) => some.map(({ path, message }) => ({ path, message }))
  return {
    errors: shown(lints.filter(({ severity }) => severity === 'error')),
    clashes: shown(clashes),
    warnings: shown(lints.filter(({ severity }) => severity === 'warning')),
  }
}

function incomingOf({ message }: DryRunRequest, { endpoint }: CompiledEndpoint): Incoming {
  const { body, contentType, headers = {}, query = {}, urlParams = {} } = message
  const assumed = typeof body === 'string' ? MEDIA_TYPES[endpoint.transformation.input ?? 'JSON'] : MEDIA_TYPES.JSON
  const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const type = contentType ?? given['content-type'] ?? assumed
  return {
    requestHeaders: body === undefined && contentType === undefined ? given : { ...given, 'content-type': type },
    query,
    urlParams,
    body: body === undefined ? undefined : bytesOf(body),
  }
}
