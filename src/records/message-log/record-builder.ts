/** Builds the records of completed messages; of those that ended done as a line, if a line holds all that is kept. */
import { withoutQuery } from '../../core/http.ts'
import { timeFromId } from '../../core/id.ts'
import { createIsoTime } from '../../core/iso-time.ts'
import type { Json } from '../../core/json.ts'
import { isReplay, type Source } from '../../core/origin.ts'
import {
  doneHead,
  doneLine,
  MAX_KEY_CHARACTERS,
  type MessageRecord,
  type Recorded,
  type RecordedBody,
  type RecordedCall,
  type RecordedStage,
  restText,
} from '../../core/records/message-record.ts'
import { isSecretName } from '../../core/secrets/secrets.ts'
import { type CallSpan, roundMs, shownTarget, type Trace } from '../../core/tracing/trace.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import type { NameLimits } from '../../formats/name-limits.ts'
import { type CompletedMessage, isTriedAgain } from '../../inbound/completed-message.ts'
import { type PathSource, parsePath } from '../../language/paths/path.ts'
import { captureBodies, createBodyCapture } from './bodies.ts'
import { answeredBytes, isPolled } from './lookup-answers.ts'
import {
  compileRedaction,
  createSecretsFinder,
  hideValues,
  redactRecord,
  redactText,
  secretHeaderNames,
  withoutSecretsIn,
  withoutSecretsInKeys,
} from './redaction.ts'

/** What is kept: nothing; records; bodies of messages that did not end done too; all bodies. */
type Policy = 'off' | 'metadata' | 'failures' | 'all'

export type MessageLogSettings = NameLimits &
  Readonly<{
    messageLog: Policy
    messageLogBodyLimitBytes: number
    /** What failed is kept whole up to this size, so that it can be replayed. */
    parserLimitBytes: number
    redactHeaders: readonly string[]
    redactPaths: readonly string[]
  }>

/** What the messages of an endpoint need, compiled with the first of them. */
type RecordPlan = {
  readonly policy: Policy
  readonly keys: ReturnType<typeof compileKeys>
  /** A line holds all that is kept of a message that ended done. */
  readonly inLines: boolean
  /** Values of the message fill the URLs of calls. */
  readonly fillsUrls: boolean
  /** Of the last line: most messages of an endpoint share it. */
  head: Head | undefined
}

type Head = Readonly<{ source: Source; status: number; text: string }>

type RecordBuilder = Readonly<{
  planFor(compiled: CompiledEndpoint | undefined): RecordPlan
  /** The line of a message, if it ended done and the line takes little time; undefined if the record needs `build`. */
  quickLine(plan: RecordPlan, completed: CompletedMessage): string | undefined
  /** The record with its bodies, or the line of a message that ended done. `isCaptured`: whether all bodies are kept. */
  build(completed: CompletedMessage, isCaptured: boolean): Recorded | string
}>

/** The line of a message with more calls is built after its answer. */
const QUICK_CALLS = 8

const NO_SECRETS: readonly string[] = []

export function createRecordBuilder(settings: MessageLogSettings): RecordBuilder {
  const { messageLog, messageLogBodyLimitBytes, redactHeaders, redactPaths } = settings
  const { parserLimitBytes, parserMaxNames, parserMaxNamesPerObject } = settings
  const secretHeaders = secretHeaderNames(redactHeaders)
  const isHeader = (name: string) => secretHeaders.has(name)
  const findSecrets = createSecretsFinder({ isHeader })
  // Bodies keep the query: a message could not be replayed without it. The record is for more readers.
  const findRecordSecrets = createSecretsFinder({ isHeader, isParameter: isSecretName })
  const redaction = compileRedaction(redactPaths)
  // URLs of calls may hold values that are redacted in bodies, so bodies are read first.
  const quickCalls = redaction === undefined ? QUICK_CALLS : 0
  const formatIso = createIsoTime()
  const plans = new WeakMap<CompiledEndpoint, RecordPlan>()
  const withoutEndpoint: RecordPlan = {
    policy: messageLog === 'off' ? 'off' : 'metadata',
    keys: undefined,
    inLines: false,
    fillsUrls: false,
    head: undefined,
  }

  function planFor(compiled: CompiledEndpoint | undefined): RecordPlan {
    if (compiled === undefined) return withoutEndpoint
    const known = plans.get(compiled)
    if (known !== undefined) return known
    const { endpoint } = compiled
    const policy = endpoint.messageLog ?? messageLog
    const keys = compileKeys(endpoint)
    const fillsUrls = [...endpoint.requests.lookup, ...endpoint.requests.response].some(
      ({ config }) => config?.params?.url !== undefined,
    )
    const inLines = keys === undefined && policy !== 'all' && endpoint.idempotency === undefined
    const plan = { policy, keys, inLines, fillsUrls, head: undefined }
    plans.set(compiled, plan)
    return plan
  }

  function headFor(plan: RecordPlan, compiled: CompiledEndpoint, { source, answer }: CompletedMessage): string {
    const { status } = answer
    const last = plan.head
    if (last !== undefined && last.source === source && last.status === status) return last.text
    const { endpoint, version, document } = compiled
    const text = doneHead(document._id, source, status, endpoint.name, version)
    plan.head = { source, status, text }
    return text
  }

  function toRecorded(completed: CompletedMessage, isCaptured: boolean): Recorded {
    const plan = planFor(completed.compiled)
    const { keys: readKeys } = plan
    const policy = isCaptured ? 'all' : plan.policy
    const { outcome, trace, failure, answer } = completed
    const keys = readKeys === undefined || policy === 'off' ? NO_KEYS : readKeys(trace?.reached)
    // A replayed response is kept with the message that it first answered: only that one knew the secrets in it.
    const keepsBodies =
      answer.repeats === undefined && (policy === 'all' || (policy === 'failures' && outcome !== 'done'))
    const why = failure ?? answer.why
    const missed = [...(trace?.tableReads?.missed.values() ?? [])]
    const quotes = why !== undefined || keys !== NO_KEYS || missed.length > 0
    // Even if no body is kept, the record must not hold values that are redacted in bodies.
    const readsBodies = keepsBodies || (redaction !== undefined && (quotes || (trace?.calls.length ?? 0) > 0))
    const hasCalls = trace !== undefined && trace.calls.length > 0
    const secrets = quotes || hasCalls ? findRecordSecrets(completed) : NO_SECRETS
    const capture = createBodyCapture(
      messageLogBodyLimitBytes,
      redaction,
      readsBodies ? findSecrets(completed) : NO_SECRETS,
      {
        documented: completed.compiled?.endpoint,
        parserMaxNames,
        parserMaxNamesPerObject,
        originalBytes: outcome === 'done' ? 0 : parserLimitBytes,
        answerBytes: wholeAnswerBytes(completed, parserLimitBytes),
      },
    )
    if (readsBodies) captureBodies(completed, capture, secretHeaders)
    const { redacted } = capture
    const bodies = keepsBodies ? capture.bodies : []
    // The message of a failure may quote a body.
    const text = why && withoutSecretsIn(keepsBodies ? why.message : why.unquoted, secrets)
    const error = text && (redaction === undefined ? text : redactText(text, hideValues(redacted)))
    const findings = {
      keys: withoutSecretsInKeys(keys, secrets),
      missed: missed.map((one) => ({ ...one, code: withoutSecretsIn(one.code, secrets) })),
      bodies,
      secrets,
      isCaptured,
      ...(error === undefined ? {} : { error }),
    }
    const record = toMessageRecord(completed, findings, formatIso)
    return { record: redacted.size === 0 ? record : redactRecord(record, redacted), bodies }
  }

  /** The same record as a line; undefined if a line cannot hold all of it. */
  function toDoneLine({ record, bodies }: Recorded, completed: CompletedMessage): string | undefined {
    const { compiled, trace, messageId } = completed
    if (record.outcome !== 'done' || record.replayOf !== undefined) return undefined
    if (compiled === undefined || trace === undefined || bodies.length > 0) return undefined
    if (Object.keys(record.keys).length > 0 || record.missed !== undefined) return undefined
    const head = headFor(planFor(compiled), compiled, completed)
    return doneLine({ head, id: messageId, ms: completed.ms, stages: trace.stages, rest: restText(record) })
  }

  return {
    planFor,
    quickLine: (plan, completed) => {
      const { outcome, trace, compiled, incoming, messageId } = completed
      if (!plan.inLines || outcome !== 'done' || trace === undefined || trace.calls.length > quickCalls)
        return undefined
      if (compiled === undefined || (incoming !== undefined && isReplay(incoming.origin))) return undefined
      const { tableReads } = trace
      if (tableReads !== undefined && tableReads.missed.size > 0) return undefined
      if (plan.fillsUrls && findRecordSecrets(completed).length > 0) return undefined
      const head = headFor(plan, compiled, completed)
      const rest =
        trace.calls.length === 0 && (trace.notMade ?? trace.deliveries ?? tableReads) === undefined
          ? ''
          : restText({
              keys: NO_KEYS,
              bodies: [],
              calls: toRecordedCalls(trace, NO_SECRETS),
              ...keptNotMade(trace),
              ...keptDeliveries(trace),
              ...keptTables(trace),
            })
      return doneLine({ head, id: messageId, ms: completed.ms, stages: trace.stages, rest })
    },
    build: (completed, isCaptured) => {
      const recorded = toRecorded(completed, isCaptured)
      return toDoneLine(recorded, completed) ?? recorded
    },
  }
}

/** The room for answers of lookups that a replay uses; 0 if it uses none, or there is no room for all of them. */
function wholeAnswerBytes({ outcome, incoming, compiled, trace }: CompletedMessage, limitBytes: number): number {
  if (outcome === 'done' || incoming === undefined || compiled === undefined || trace === undefined) return 0
  if (!isPolled(incoming.origin.door, compiled.endpoint)) return 0
  return answeredBytes(trace.calls) > limitBytes ? 0 : limitBytes
}

const NO_STAGES: readonly RecordedStage[] = []
const NO_CALLS: readonly RecordedCall[] = []

/** A `forEach` may make thousands of calls, and each takes memory until the record is written. */
const MAX_CALLS = 200

/** The parts of the record that are without secrets and redacted values; `secrets`: those to take out of the others. */
type Findings = Pick<MessageRecord, 'keys' | 'error'> &
  Required<Pick<MessageRecord, 'missed'>> &
  Readonly<{ bodies: readonly RecordedBody[]; secrets: readonly string[]; isCaptured: boolean }>

/** `formatIso` formats a time, and caches the last: formatting costs as much as the rest of the record. */
function toMessageRecord(
  completed: CompletedMessage,
  { keys, missed, bodies, error, secrets, isCaptured }: Findings,
  formatIso: (timeMs: number) => string,
): MessageRecord {
  const { messageId, source, outcome, ms, answer, trace, compiled, code, failure, incoming } = completed
  const record: { -readonly [Name in keyof MessageRecord]: MessageRecord[Name] } = {
    id: messageId,
    source,
    startedAt: formatIso(timeFromId(messageId)),
    ms,
    outcome,
    status: answer.status,
    stages: trace === undefined ? NO_STAGES : trace.stages.map(toRecordedStage),
    calls: trace === undefined ? NO_CALLS : toRecordedCalls(trace, secrets),
    keys,
    bodies: bodies.map(({ summary }) => summary),
  }
  if (compiled !== undefined) {
    record.endpointId = compiled.document._id
    record.endpoint = compiled.document.name
    record.endpointVersion = compiled.version
  }
  if (code !== '') record.code = code
  const why = failure ?? answer.why
  if (why?.stage !== undefined) record.stage = why.stage
  else if (answer.refused) record.stage = 'respond'
  if (why?.options.path !== undefined) record.path = why.options.path
  if (error !== undefined) record.error = error
  const callsOmitted = (trace?.calls.length ?? 0) - record.calls.length
  if (callsOmitted > 0) record.callsOmitted = callsOmitted
  if (trace !== undefined) Object.assign(record, keptNotMade(trace), keptDeliveries(trace), keptTables(trace))
  if (missed.length > 0) record.missed = missed
  if (isTriedAgain(completed)) record.triedAgain = true
  if (answer.repeats !== undefined) record.answerOf = answer.repeats
  if (incoming !== undefined && isReplay(incoming.origin)) record.replayOf = incoming.origin.replayOf
  if (isCaptured) record.captured = true
  return record
}

const toRecordedStage = ({ stage, startMs, endMs }: Trace['stages'][number]): RecordedStage => ({
  stage,
  ms: endMs - startMs,
})

/** The calls that a record keeps, failed ones first if there are too many. `secrets`: to be taken out of their targets. */
const toRecordedCalls = ({ startMs, calls }: Trace, secrets: readonly string[]): readonly RecordedCall[] =>
  calls.length === 0 ? NO_CALLS : keptCalls(calls).map((call) => toRecordedCall(call, startMs, secrets))

/** All of them: a replay must know which requests it need not store again. */
const keptDeliveries = ({ deliveries }: Trace): Pick<MessageRecord, 'deliveries'> =>
  deliveries === undefined
    ? {}
    : {
        deliveries: deliveries.map(({ id, requestId, item }) => ({
          id,
          request: requestId,
          ...(item === undefined ? {} : { item }),
        })),
      }

const keptNotMade = ({ notMade }: Trace): Pick<MessageRecord, 'notMade'> =>
  notMade === undefined ? {} : { notMade: notMade.slice(0, MAX_CALLS) }

const keptTables = ({ tableReads }: Trace): Pick<MessageRecord, 'tables'> =>
  tableReads === undefined ? {} : { tables: Object.fromEntries(tableReads.versions) }

const hasFailed = ({ answer, stale, fault }: CallSpan): boolean =>
  (fault ?? stale) !== undefined || (answer?.status ?? 0) >= 400

/** Of too many calls, those that failed and as many others as there is room for, in their order. */
export function keptCalls(calls: readonly CallSpan[]): readonly CallSpan[] {
  if (calls.length <= MAX_CALLS) return calls
  const kept = new Set(calls.filter(hasFailed).slice(0, MAX_CALLS))
  for (const call of calls) if (kept.size < MAX_CALLS) kept.add(call)
  return calls.filter((call) => kept.has(call))
}

function toRecordedCall(
  { kind, id, item, method, target, startMs, endMs, answer, remark, token, cached, stale, fault }: CallSpan,
  messageStartMs: number,
  secrets: readonly string[],
): RecordedCall {
  const call: { -readonly [Name in keyof RecordedCall]: RecordedCall[Name] } = {
    kind,
    id,
    method,
    // Documents cannot name URLs with credentials, so only the query may hold some.
    // Before the cut: a part of a secret would not be found.
    target: shownTarget(withoutSecretsIn(withoutQuery(target), secrets)),
    startMs: roundMs(startMs - messageStartMs),
    ms: Number.isNaN(endMs) ? 0 : roundMs(endMs - startMs),
  }
  if (item !== undefined) call.item = item
  if (answer !== undefined) call.status = answer.status
  if (remark !== undefined) call.remark = remark
  if (token !== undefined) call.token = token
  if (cached) call.cached = true
  if (stale !== undefined) call.stale = stale
  if (fault !== undefined) call.fault = fault
  return call
}

type Keys = MessageRecord['keys']

/** Values a message. */
const MAX_VALUES = 10

const NO_KEYS: Keys = {}

/** Builds the reader of an endpoint's keys. Its paths were checked at registration. */
export function compileKeys({ messageKeys }: Endpoint): ((reached: object | undefined) => Keys) | undefined {
  const paths = Object.entries(messageKeys ?? {}).flatMap(([name, text]) => {
    const path = parsePath(text)
    return path.ok ? [{ name, path: path.value }] : []
  })
  if (paths.length === 0) return undefined
  return (reached) => {
    if (reached === undefined) return NO_KEYS
    const keys: Record<string, string | readonly string[]> = {}
    let left = MAX_VALUES
    for (const { name, path } of paths) {
      const values = [...new Set(collectTexts(path.read(reached as PathSource)))].slice(0, left)
      left -= values.length
      const [first] = values
      if (first !== undefined) keys[name] = values.length === 1 ? first : values
    }
    return keys
  }
}

function collectTexts(value: Json | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap(collectTexts)
  if (value === undefined || value === null || typeof value === 'object' || value === '') return []
  return [String(value).slice(0, MAX_KEY_CHARACTERS)]
}
