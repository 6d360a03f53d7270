/** Builds the records of completed messages; of those that ended done as a line, if a line holds all that is kept. */

import { createIsoTime } from '../../core/iso-time.ts'
import { doneHead, doneLine, restText } from '../../core/records/done-line.ts'
import type { Recorded } from '../../core/records/message-record.ts'
import { isSecretName } from '../../core/secrets/secrets.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import type { NameLimits } from '../../formats/name-limits.ts'
import type { CompletedMessage } from '../../inbound/completed-message.ts'
import type { Source } from '../../inbound/incoming-message.ts'
import { createBodyCapture } from './body-capture.ts'
import { compileKeys, NO_KEYS } from './business-keys.ts'
import { callsOf, recordOf } from './record-of-message.ts'
import { captureBodies } from './recorded-bodies.ts'
import { createSecretsOf, secretHeadersOf, withoutSecretsIn, withoutSecretsInKeys } from './recorded-secrets.ts'
import { compileRedaction, hideValues, redactRecord, redactText } from './redaction.ts'

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
export type RecordPlan = {
  readonly policy: Policy
  readonly keys: ReturnType<typeof compileKeys>
  /** Whether a line holds all that is kept of a message that ended done. */
  readonly inLines: boolean
  /** Whether values of the message fill the URLs of calls. */
  readonly fillsUrls: boolean
  /** Of the last line: most messages of an endpoint share it. */
  head: Head | undefined
}

type Head = Readonly<{ source: Source; status: number; text: string }>

export type RecordBuilder = Readonly<{
  planOf(compiled: CompiledEndpoint | undefined): RecordPlan
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
  const secretHeaders = secretHeadersOf(redactHeaders)
  const isHeader = (name: string) => secretHeaders.has(name)
  const secretsOf = createSecretsOf({ isHeader })
  // Bodies keep the query: a message could not be replayed without it. The record is for more readers.
  const secretsOfRecord = createSecretsOf({ isHeader, isParameter: isSecretName })
  const redaction = compileRedaction(redactPaths)
  // URLs of calls may hold values that are redacted in bodies, so bodies are read first.
  const quickCalls = redaction === undefined ? QUICK_CALLS : 0
  const isoOf = createIsoTime()
  const plans = new WeakMap<CompiledEndpoint, RecordPlan>()
  const withoutEndpoint: RecordPlan = {
    policy: messageLog === 'off' ? 'off' : 'metadata',
    keys: undefined,
    inLines: false,
    fillsUrls: false,
    head: undefined,
  }

  function planOf(compiled: CompiledEndpoint | undefined): RecordPlan {
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

  function headOf(plan: RecordPlan, compiled: CompiledEndpoint, { source, answer }: CompletedMessage): string {
    const { status } = answer
    const last = plan.head
    if (last !== undefined && last.source === source && last.status === status) return last.text
    const { endpoint, version, document } = compiled
    const text = doneHead(document._id, source, status, endpoint.name, version)
    plan.head = { source, status, text }
    return text
  }

  function recordedOf(completed: CompletedMessage, isCaptured: boolean): Recorded {
    const plan = planOf(completed.compiled)
    const { keys: readKeys } = plan
    const policy = isCaptured ? 'all' : plan.policy
    const { outcome, trace, failure, answer } = completed
    const keys = readKeys === undefined || policy === 'off' ? NO_KEYS : readKeys(trace?.reached)
    // A replayed response is kept with the message that it first answered: only that one knew the secrets in it.
    const keepsBodies =
      answer.repeats === undefined && (policy === 'all' || (policy === 'failures' && outcome !== 'done'))
    const why = failure ?? answer.why
    const quotes = why !== undefined || keys !== NO_KEYS
    // Even if no body is kept, the record must not hold values that are redacted in bodies.
    const readsBodies = keepsBodies || (redaction !== undefined && (quotes || (trace?.calls.length ?? 0) > 0))
    const hasCalls = trace !== undefined && trace.calls.length > 0
    const secrets = quotes || hasCalls ? secretsOfRecord(completed) : NO_SECRETS
    const capture = createBodyCapture(
      messageLogBodyLimitBytes,
      redaction,
      readsBodies ? secretsOf(completed) : NO_SECRETS,
      { parserMaxNames, parserMaxNamesPerObject, originalBytes: outcome === 'done' ? 0 : parserLimitBytes },
    )
    if (readsBodies) captureBodies(completed, capture, secretHeaders)
    const { redacted } = capture
    const bodies = keepsBodies ? capture.bodies : []
    // The message of a failure may quote a body.
    const text = why && withoutSecretsIn(keepsBodies ? why.message : why.unquoted, secrets)
    const error = text && (redaction === undefined ? text : redactText(text, hideValues(redacted)))
    const findings = {
      keys: withoutSecretsInKeys(keys, secrets),
      bodies,
      secrets,
      isCaptured,
      ...(error === undefined ? {} : { error }),
    }
    const record = recordOf(completed, findings, isoOf)
    return { record: redacted.size === 0 ? record : redactRecord(record, redacted), bodies }
  }

  /** The same record as a line; undefined if a line cannot hold all of it. */
  function lineOf({ record, bodies }: Recorded, completed: CompletedMessage): string | undefined {
    const { compiled, trace, messageId } = completed
    if (record.outcome !== 'done' || record.replayOf !== undefined) return undefined
    if (compiled === undefined || trace === undefined || bodies.length > 0) return undefined
    if (Object.keys(record.keys).length > 0) return undefined
    const head = headOf(planOf(compiled), compiled, completed)
    return doneLine({ head, id: messageId, ms: completed.ms, stages: trace.stages, rest: restText(record) })
  }

  return {
    planOf,
    quickLine: (plan, completed) => {
      const { outcome, trace, compiled, incoming, messageId } = completed
      if (!plan.inLines || outcome !== 'done' || trace === undefined || trace.calls.length > quickCalls)
        return undefined
      if (compiled === undefined || incoming?.replayOf !== undefined) return undefined
      if (plan.fillsUrls && secretsOfRecord(completed).length > 0) return undefined
      const head = headOf(plan, compiled, completed)
      const rest =
        trace.calls.length === 0 ? '' : restText({ keys: NO_KEYS, bodies: [], calls: callsOf(trace, NO_SECRETS) })
      return doneLine({ head, id: messageId, ms: completed.ms, stages: trace.stages, rest })
    },
    build: (completed, isCaptured) => {
      const recorded = recordedOf(completed, isCaptured)
      return lineOf(recorded, completed) ?? recorded
    },
  }
}
