/**
 * Runs a sample message through an endpoint and reports each step, without effects: the same compiler and intake as for
 * real messages, with canned answers in place of other systems.
 */

import { setImmediate } from 'node:timers/promises'
import { allows, type Role } from '../../core/access.ts'
import { Failure } from '../../core/failure.ts'
import { isId, NO_ID } from '../../core/id.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { collectInto, isError, isWarning, type Lint, preventsActivation, toFaults } from '../../core/lint.ts'
import { nearest } from '../../core/nearest.ts'
import { HTTP, type Origin } from '../../core/origin.ts'
import type { MessageRecord } from '../../core/records/message-record.ts'
import type { Clock } from '../../core/run.ts'
import { newTableReads } from '../../core/tables/table-reads.ts'
import { shapesOf } from '../../core/tables/table-set.ts'
import { startTrace } from '../../core/tracing/trace.ts'
import type { DocumentBounds } from '../../document/checks/document-bounds.ts'
import { checkDryRun, type DryRunRequest } from '../../document/checks/dry-run-request.ts'
import { isScheduledAlone } from '../../document/doors.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import { type CompiledEndpoint, compileDocument } from '../../endpoints/compiled-endpoint.ts'
import { findClashes, type Registry } from '../../endpoints/endpoint-registry.ts'
import type { EndpointService } from '../../endpoints/endpoint-service.ts'
import * as failures from '../../endpoints/management-failures.ts'
import { parseDocument } from '../../endpoints/parse-document.ts'
import { lintUses } from '../../endpoints/table-changes.ts'
import { DEFAULT_FORMAT, MEDIA_TYPES } from '../../formats/codecs.ts'
import type { Incoming } from '../../inbound/incoming-message.ts'
import type { Intake } from '../../inbound/intake.ts'
import type { PipelineSettings, Services } from '../../pipeline/services.ts'
import { secretHeaderNames } from '../../records/message-log/redaction.ts'
import { cannedServices, encodeBody } from './canned-services.ts'
import { createReport } from './dry-run-report.ts'
import {
  notReproduced,
  type RecordedMessage,
  type RecordedMessages,
  readRecordedMessage,
  recordedOutcome,
} from './recorded-message.ts'
import { createReportValues, type WholeValue } from './shown-values.ts'
import { createStageRecording } from './stage-report.ts'

export type DryRunOptions = Readonly<{
  endpointService: Pick<EndpointService, 'get'> & Partial<Pick<EndpointService, 'versions'>>
  registry: Registry
  intake: Intake
  /** The services of live lookups. */
  services: Services
  settings: PipelineSettings & DocumentBounds & Partial<Readonly<{ redactHeaders: readonly string[] }>>
  clock: Clock
  /** Set if there is a message log. */
  recorded?: RecordedMessages | undefined
}>

/** Who asks. `note`: called with what is asked for, if the roles suffice, before anything is read or run. */
export type DryRunCaller = Readonly<{
  roles: readonly Role[]
  note?(asked: Pick<DryRunRequest, 'live' | 'messageId'>): void
}>

/**
 * In: the request as JSON text; the caller, by default one who may do everything. Out: the report.
 *
 * Fails with BODY_UNREADABLE, BODY_TOO_DEEP, DOCUMENT_TOO_LARGE and DRY_RUN_INVALID if the request itself is wrong, with
 * ID_MALFORMED, ENDPOINT_UNKNOWN, VERSION_UNKNOWN, MESSAGE_UNKNOWN, MESSAGE_BODY_UNKNOWN and STORE_UNAVAILABLE if its
 * endpoint or message cannot be read, with ACCESS_DENIED if the caller may not read bodies of messages, with OVERLOADED and
 * SHUTTING_DOWN as a message would; never for a fault of the document or the message.
 */
export type DryRun = (text: string, caller?: DryRunCaller) => Promise<JsonObject>

/**
 * In: the request with `at`, a JSON Pointer that a report gave for a value that it cut. Out: the whole value, of a dry run
 * that is made for it. Fails as DryRun does.
 */
export type DryRunValue = (text: string, caller?: DryRunCaller) => Promise<WholeValue>

/** Faults with this path are faults of the document, not of the request. */
const IN_DOCUMENT = 'endpoint.'

export const createDryRun =
  (options: DryRunOptions): DryRun =>
  async (text, caller) =>
    (await run(options, text, caller, false)).report

export const createDryRunValue =
  (options: DryRunOptions): DryRunValue =>
  async (text, caller) => {
    const { values, at } = await run(options, text, caller, true)
    const whole = values?.()
    if (whole !== undefined && typeof whole !== 'string') return whole
    const message = whole ?? `The report of this dry run has no value at "${at}".`
    throw failures.dryRunInvalid([{ path: 'at', message, severity: 'error' }])
  }

type Ran = Readonly<{ report: JsonObject; at?: string | undefined; values?: () => WholeValue | string | undefined }>

async function run(
  { endpointService, registry, intake, services, settings, clock, recorded }: DryRunOptions,
  text: string,
  caller: DryRunCaller | undefined,
  isOfValue: boolean,
): Promise<Ran> {
  const refused = intake.refusal()
  if (refused !== undefined) throw refused
  const { raw, faults } = parseDocument(text)
  // Reading a long request, running its message and each part of the report may each take some hundredths of a second.
  await setImmediate()
  const { request, lints: wrong } = checkDryRun(raw, isOfValue)
  const outside = faults.filter(({ path }) => !path.startsWith(IN_DOCUMENT))
  if (wrong.length + outside.length > 0) throw failures.dryRunInvalid([...outside, ...wrong])
  const inside = faults
    .filter(({ path }) => path.startsWith(IN_DOCUMENT))
    .map((fault) => ({ ...fault, path: fault.path.slice(IN_DOCUMENT.length) }))

  if (caller !== undefined) {
    demandRoles(request, caller.roles)
    caller.note?.(request)
  }
  const original = await readOriginal(request, recorded)
  const { document, id } = await readDocument(request, original?.record, endpointService)
  const canned = cannedServices(request, services, settings.answerLimitBytes, original?.exchanges)
  const now = new Date(clock()).toISOString()
  const stamp = { _id: id, createdAt: now, updatedAt: now, version: registry.get(id)?.version ?? 0 }
  const bounds = request.endpoint === undefined ? undefined : settings
  const recording = createStageRecording()
  const observed = { ...canned.services, observer: recording }
  const { lints, compiled } = await compileDocument(document, stamp, observed, settings, { bounds })
  const unfound = request.endpoint === undefined ? [] : lintUses(compiled.tableUses ?? [], shapesOf(intake.tables))
  const lint = reportLints([...inside, ...lints, ...unfound], findClashes(compiled, registry))
  const runs = request.endpoint === undefined ? !lints.some(preventsActivation) : lint.errors.length === 0
  if (!runs || request.run === false) return { report: { ran: false, lint } }
  const { endpoint } = compiled
  const unknown = unknownParts(request, endpoint)
  if (unknown.length > 0) throw failures.dryRunInvalid(unknown)

  const trace = startTrace()
  trace.tableReads = newTableReads(true)
  await setImmediate()
  const completed = await intake.runDry(
    compiled,
    toIncoming(request, compiled, Date.parse(now), original?.incoming),
    trace,
  )
  await setImmediate()
  const values = createReportValues(trace.secrets, request)
  const secretHeaders = secretHeaderNames(settings.redactHeaders ?? [])
  const report = {
    ran: true,
    lint,
    ...(original === undefined
      ? {}
      : {
          recorded: recordedOutcome(original),
          notReproduced: notReproduced(request, original, endpoint, secretHeaders),
        }),
    ...(await createReport({ completed, trace, recording, canned, endpoint, values, view: request.view })),
  }
  return { report, at: request.at, values: values.whole }
}

/**
 * A recorded message needs who may read its bodies; anything else than this message in a stored document needs an author,
 * as a draft can read secrets and a live lookup uses the network. Fails with ACCESS_DENIED.
 */
function demandRoles({ endpoint, messageId, live }: DryRunRequest, roles: readonly Role[]): void {
  if (messageId !== undefined && !allows(roles, 'operator')) {
    throw new Failure('ACCESS_DENIED', 'A dry run of a recorded message shows its bodies: it needs the role operator.')
  }
  if ((messageId === undefined || endpoint !== undefined || live) && !allows(roles, 'author')) {
    throw new Failure(
      'ACCESS_DENIED',
      'This dry run needs the role author, as it is not that of a recorded message alone.',
    )
  }
}

/** The recorded message that is asked for. */
async function readOriginal(
  { messageId }: DryRunRequest,
  recorded: RecordedMessages | undefined,
): Promise<RecordedMessage | undefined> {
  if (messageId === undefined) return undefined
  if (recorded !== undefined) return readRecordedMessage(messageId, recorded)
  const message = 'Recorded messages are read on the admin port of a running service only; give the "message" itself.'
  throw failures.dryRunInvalid([{ path: 'messageId', message, severity: 'error' }])
}

/** The faults as its registration would report them; a document with clashes still runs. */
function reportLints(lints: readonly Lint[], clashes: readonly Lint[]) {
  return {
    errors: toFaults(lints.filter(isError)),
    clashes: toFaults(clashes),
    warnings: toFaults(lints.filter(isWarning)),
  }
}

/**
 * The message as it would arrive; a body without a type has the input type of the endpoint. An endpoint with a schedule alone
 * has runs alone, due now if the message does not say when. `original`: a recorded message, which has every part that is not
 * given.
 */
export function toIncoming(
  { message }: Pick<DryRunRequest, 'message'>,
  { endpoint }: CompiledEndpoint,
  nowMs: number,
  original?: Incoming,
): Incoming {
  const { body, contentType, headers = {}, query, urlParams, timestamps } = message
  const given = timestamps?.scheduledFor
  const isRun = given !== undefined || (original === undefined && isScheduledAlone(endpoint))
  const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const before = original?.requestHeaders ?? {}
  const assumed =
    typeof body === 'string'
      ? (before['content-type'] ?? MEDIA_TYPES[endpoint.transformation.input ?? DEFAULT_FORMAT])
      : MEDIA_TYPES[DEFAULT_FORMAT]
  const type = contentType ?? named['content-type'] ?? assumed
  return {
    origin: HTTP,
    ...original,
    ...(isRun ? { origin: RUN, scheduledFor: new Date(given ?? nowMs).toISOString() } : {}),
    requestHeaders: {
      ...before,
      ...named,
      ...(body === undefined && contentType === undefined ? {} : { 'content-type': type }),
    },
    query: query ?? original?.query ?? {},
    urlParams: urlParams ?? original?.urlParams ?? {},
    body: isRun ? undefined : body === undefined ? original?.body : encodeBody(body),
  }
}

type Endpoints = Pick<EndpointService, 'get'> & Partial<Pick<EndpointService, 'versions'>>

/**
 * The document to run, and the id of the endpoint that it would replace: the endpoint that is named, else the one of the
 * recorded message. Fails with DRY_RUN_INVALID, ID_MALFORMED, ENDPOINT_UNKNOWN, VERSION_UNKNOWN and STORE_UNAVAILABLE.
 */
async function readDocument(
  { endpoint, endpointId, version }: DryRunRequest,
  record: MessageRecord | undefined,
  endpoints: Endpoints,
): Promise<Readonly<{ document: Json; id: string }>> {
  const own = endpoint?._id
  const named = endpointId ?? record?.endpointId
  if (endpoint !== undefined) {
    if (endpointId !== undefined) await endpoints.get(endpointId)
    return { document: endpoint, id: named ?? (typeof own === 'string' && isId(own) ? own : NO_ID) }
  }
  if (named === undefined)
    throw invalid('messageId', 'No endpoint took this message; give an "endpointId" or "endpoint".')
  const wanted = version === 'recorded' ? record?.endpointVersion : version
  if (version === undefined) return { document: await endpoints.get(named), id: named }
  if (wanted === undefined || endpoints.versions === undefined) {
    throw invalid('version', 'The version that processed the message is not recorded; give its number.')
  }
  const { document } = await endpoints.versions.get(named, wanted)
  if (document === null)
    throw invalid('version', `Version ${wanted} is the deletion of the endpoint; give another one.`)
  return { document, id: named }
}

const invalid = (path: string, message: string) => failures.dryRunInvalid([{ path, message, severity: 'error' }])

const RUN: Origin = { door: 'schedule' }

/** Why the endpoint cannot get the message; undefined if it can. */
export const refuseRun = ({ timestamps }: DryRunRequest['message'], { schedule }: Endpoint): string | undefined =>
  timestamps?.scheduledFor === undefined || schedule !== undefined
    ? undefined
    : 'The endpoint has no "schedule", and so no runs; leave "timestamps" out.'

/** Canned answers that no request of the endpoint would get, and runs that it does not have: they are mistakes. */
function unknownParts(request: DryRunRequest, endpoint: Endpoint): Lint[] {
  const { requests } = endpoint
  const lints: Lint[] = []
  const refusal = refuseRun(request.message, endpoint)
  if (refusal !== undefined) collectInto(lints, 'message').at('timestamps').error(refusal)
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
