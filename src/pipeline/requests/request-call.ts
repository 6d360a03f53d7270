/** The calls of lookups and response requests: built from a message, and sent to their targets. */
import type { DeliveryRules } from '../../core/deliveries/delivery.ts'
import { checkEgress } from '../../core/egress/egress-policy.ts'
import { exclusiveIteration } from '../../core/exclusive-iteration.ts'
import { Failure } from '../../core/failure.ts'
import type { FailureCode } from '../../core/failure-table.ts'
import { IDEMPOTENT_METHODS, REDIRECT_STATUSES, type StatusSet } from '../../core/http.ts'
import { type Awaitable, isObject, type Json, jsonLength } from '../../core/json.ts'
import { leaseFailure } from '../../core/lease.ts'
import { fault, found, type LintSink, type Result } from '../../core/lint.ts'
import type { MessageBudget } from '../../core/message-budget.ts'
import type { Body, Destination } from '../../core/ports/destination.ts'
import { CircuitOpen, type OutboundAnswer, OutboundError } from '../../core/ports/http-client-port.ts'
import type { PreparedRequest } from '../../core/ports/outbound-port.ts'
import { callKey, type Run } from '../../core/run.ts'
import { withReferences } from '../../core/secrets/secrets.ts'
import { endCall, noteSecrets, startCall } from '../../core/tracing/trace.ts'
import { checkPath } from '../../document/checks/path-roots.ts'
import type { Endpoint, LookupRequest, ParameterSpec, ResponseRequest } from '../../document/schema/schema.ts'
import { UNKNOWN_URL } from '../../document/schema/schema-fields.ts'
import type { Codec } from '../../formats/codec.ts'
import { CODECS, codecForHeader, type Format } from '../../formats/codecs.ts'
import { hasStatus, parseStatusSet } from '../../language/status-set.ts'
import { NOWHERE, parseUrlTemplate, type UrlTemplate } from '../../language/url-template.ts'
import { addressOf, formatTarget, type NamedTarget, targetOf } from '../../outbound/targets.ts'
import { createExpressionCompiler } from '../expressions.ts'
import type { PipelineSettings, Services } from '../services.ts'
import { andThen } from './for-each.ts'
import { compileCache } from './lookup-cache.ts'
import { answerRecorded, notRecorded } from './recorded-answers.ts'
import {
  type CallScope,
  compileEvaluation,
  compileItems,
  compileParameter,
  type Evaluated,
  fillHeaders,
  fillUrl,
  parameterText,
  type Reader,
} from './request-parameters.ts'
import { compileSecrets, lowerCaseNames } from './request-secrets.ts'
import { lintReferences, withoutValues } from './secret-references.ts'
import { compileStoring, fillOrderKey, type StoredCall, shownOrigin } from './stored-call.ts'
import { withoutWrapper } from './upstream-answer.ts'

/**
 * Compiles all of a request but its body.
 *
 * Lints, with `lint` at the request: the URL, paths and whether their stage has what they read, allowedStatuses. After an
 * error, the call must not be used.
 */
export function compileCall(
  kind: RequestKind,
  request: LookupRequest | ResponseRequest,
  endpoint: Endpoint,
  services: Services,
  settings: PipelineSettings,
  lint: LintSink,
): RequestCall {
  const { forEach } = request
  const stage = kind === 'LOOKUP' ? 'lookup' : 'respond'
  const traced = kind === 'LOOKUP' ? 'lookup' : 'response'
  const stageOf = (inside: boolean) => (inside && forEach !== undefined ? (`${stage}-item` as const) : stage)
  const compileExpression = createExpressionCompiler(endpoint, settings, services)
  const reader: Reader = {
    check: (path, inside, sink) => checkPath(path, stageOf(inside), endpoint, sink),
    compile: (text, sink) => compileExpression(text, stageOf(true), sink),
  }
  const config: NonNullable<ResponseRequest['config']> = request.config ?? { method: 'POST' }
  const { method } = config
  const parameters = (group: 'query' | 'url') =>
    Object.entries(config.params?.[group] ?? {}).flatMap(([name, spec]) =>
      compileParameter(name, spec, reader, lint.at('config', 'params', group, name)),
    )
  const query = parameters('query')
  const named = parameters('url')
  const target = targetOf(request)
  const url = compileUrl(
    config.url,
    targetOf({ config }),
    Object.keys(config.params?.url ?? {}),
    services,
    lint.at('config', 'url'),
  )
  // A value without a placeholder is not read: a message without it must not fail.
  const placeholders = named.filter(({ name }) => url.placeholders.includes(name))
  const urlParts = {
    template: url,
    placeholders,
    query,
    path: lint.path,
    limitBytes: settings.requestUrlLimitBytes,
    isLookup: kind === 'LOOKUP',
  }
  const { texts, values } = splitHeaders(config.headers ?? {})
  const headerValues = values.flatMap(([name, spec]) =>
    compileParameter(name, spec, reader, lint.at('config', 'headers', name)),
  )
  const setsAccept = !target.isHttp || values.some(([name]) => name.toLowerCase() === 'accept')
  const own = setsAccept ? texts : withAccept(texts, endpoint.transformation.output)
  const headers = lowerCaseNames(own)
  const compileTokenUrl = (text: string, sink: LintSink) => compileUrl(text, targetOf({}), [], services, sink)
  const documented = { url, headers: own, auth: config.auth }
  const complete = compileSecrets(documented, services.secrets, compileTokenUrl, lint.at('config'))
  const allowed = compileAllowed(request.allowedStatuses, lint.at('allowedStatuses'))
  const isDurable = 'delivery' in request && request.delivery !== undefined
  const timeoutMs = compileTimeout(request.timeoutMs, settings, isDurable, lint.at('timeoutMs'))
  const originName = url.base?.reference.text
  const options: Destination['options'] = {
    // The schedule of a delivery decides.
    retries: isDurable ? 0 : compileRetries(request, target, method, settings, lint.at('retries')),
    ...compileRedirects(kind, config, allowed),
    ...(request.idempotent === true || isDurable ? { idempotent: true } : {}),
    ...(originName === undefined ? {} : { originName }),
  }
  const carriesTransaction = settings.openhimRegister && target.isHttp && !Object.hasOwn(headers, TRANSACTION_HEADER)
  const setsTransaction = carriesTransaction && !values.some(([name]) => name.toLowerCase() === TRANSACTION_HEADER)
  const isOwn = (name: string) => setsTransaction && name === TRANSACTION_HEADER
  const cache = compileCache(request, endpoint, allowed, options, isOwn)
  const to: Destination = {
    target: target.id,
    address: addressOf(request, target),
    options,
    ...(cache && { cache: cache.rule }),
  }
  const { outbound } = services
  const shownMethod = target.method ?? method
  const unwraps = kind === 'LOOKUP' && settings.openhimRegister
  const keySpec = 'key' in request ? request.key : undefined
  const [key] = keySpec === undefined ? [] : compileParameter('key', keySpec, reader, lint.at('key'))

  const storing =
    'delivery' in request ? compileStoring(request, reader, services.secrets, lint.at('delivery')) : undefined
  const orderKey = storing?.orderKey ?? key

  const evaluate = compileEvaluation([
    ...placeholders,
    ...query,
    ...headerValues,
    ...[key, storing?.orderKey].filter((one) => one !== undefined),
  ])
  /** What of the request is of the message. `added`: headers. */
  const fillValues = (scope: CallScope, { budget }: Run, evaluated: Evaluated) => {
    const shownUrl = fillUrl(urlParts, scope, evaluated)
    const recordKey = (key && parameterText(key, scope, evaluated, 'be the key of a record')) ?? null
    budget.spend(shownUrl.length + (recordKey?.length ?? 0), lint.path)
    const fromMessage =
      headerValues.length === 0 ? undefined : fillHeaders(headerValues, scope, evaluated, settings.requestUrlLimitBytes)
    if (fromMessage !== undefined) budget.spend(jsonLength(fromMessage, budget.leftBytes), lint.path)
    const added = carriesTransaction ? { ...transactionHeader(scope), ...fromMessage } : fromMessage
    return { shownUrl, recordKey, added }
  }
  const buildUncached = (scope: CallScope, run: Run, evaluated: Evaluated): PreparedRequest => {
    const { shownUrl, recordKey, added } = fillValues(scope, run, evaluated)
    return complete({
      method,
      key: recordKey,
      shownUrl,
      values: added,
      fillUrl: (resolve) => fillUrl(urlParts, scope, evaluated, resolve),
    })
  }
  const buildStored = (rules: DeliveryRules, scope: CallScope, run: Run, evaluated: Evaluated): StoredCall => {
    const { shownUrl, recordKey, added = {} } = fillValues(scope, run, evaluated)
    const hasOwnQuery = url.base !== undefined && query.length > 0
    const bareUrl = hasOwnQuery ? fillUrl({ ...urlParts, query: [] }, scope, evaluated) : shownUrl
    const ordered = orderKey && fillOrderKey(orderKey, scope, evaluated)
    if (ordered !== undefined) run.budget.spend(ordered.length, lint.path)
    return {
      target: formatTarget(target, to.address, originName ?? shownOrigin(shownUrl)),
      ...(ordered === undefined ? {} : { orderKey: ordered }),
      request: {
        to,
        method,
        url: bareUrl,
        ...(hasOwnQuery ? { query: shownUrl.slice(bareUrl.length).replace(/^[?&]/, '') } : {}),
        headers,
        values: added,
        ...(config.auth === undefined ? {} : { auth: config.auth as Json }),
        key: recordKey,
        allowed,
        timeoutMs,
        rules,
      },
    }
  }

  const build: typeof buildUncached =
    cache === undefined
      ? buildUncached
      : (scope, run, evaluated) => cache.withKey(buildUncached(scope, run, evaluated), scope)
  return {
    path: lint.path,
    id: request.id,
    allowed,
    contentType: headers['content-type'],
    items: forEach && compileItems(forEach.items, kind, reader, settings, lint.at('forEach', 'items')),
    concurrency: Number(forEach?.concurrency ?? 1),
    prepare: (scope, run) => andThen(evaluate(scope, run), (evaluated) => build(scope, run, evaluated)),
    prepareStored:
      storing &&
      ((scope, run) => andThen(evaluate(scope, run), (values) => buildStored(storing.rules, scope, run, values))),
    toUrl: ({ cacheKey: _, ...prepared }, next, scope) => {
      // A link may repeat a secret of the URL in a form that nobody can foresee.
      const hidden = url.references.length > 0 ? `${originName ?? new URL(next).origin}/…` : undefined
      const other = { ...prepared, url: next, shownUrl: hidden ?? withReferences(next, prepared.secrets) }
      return cache === undefined ? other : cache.withKey(other, scope)
    },
    send: (prepared, body, run, item, ending) => {
      const recorded = kind === 'LOOKUP' ? run.recordedAnswers?.get(callKey(request.id, item)) : undefined
      if (kind === 'LOOKUP' && run.recordedAnswers !== undefined && recorded === undefined) {
        return Promise.reject(notRecorded(request.id, item, lint.path))
      }
      const lost = leaseFailure(run.lease)
      if (lost !== undefined) return Promise.reject(lost)
      if (prepared.secrets !== undefined) noteSecrets(run.trace, prepared.secrets)
      const shown = formatTarget(target, to.address, prepared.shownUrl)
      const called = startCall(run.trace, { kind: traced, id: request.id, item, method: shownMethod, target: shown })
      const left = run.deadlineAt - run.clock()
      if (left <= 0) {
        endCall(called, 'deadline')
        const sentence = `The message ran out of time before "${request.id}" was called.`
        const failure = new Failure('DEADLINE_EXCEEDED', sentence, { path: lint.path })
        return Promise.try(() => ending.failed(failure, run))
      }
      // Not an async function: while it waits, its frame takes twice the memory of these two.
      const answering =
        recorded === undefined
          ? outbound.send(to, { prepared, body, timeoutMs: Math.min(timeoutMs, left) }, run, called)
          : answerRecorded(recorded, called, run)
      return answering.then(
        (received) => {
          const answer = unwraps ? withoutWrapper(received) : received
          endCall(called, answer)
          if (answer.body.byteLength <= LARGE_ANSWER_BYTES) return ending.answered(answer, run, item)
          return exclusiveIteration().then(() => ending.answered(answer, run, item))
        },
        (thrown: unknown) => {
          if (kind === 'RESPONSE' && thrown instanceof OutboundError && thrown.answer !== undefined) {
            // The target has accepted the request, even if its answer cannot be decoded.
            endCall(called, thrown.answer)
            return ending.answered(thrown.answer, run, item)
          }
          endCall(called, thrown instanceof OutboundError ? thrown.fault : 'internal')
          if (!(thrown instanceof OutboundError)) throw thrown
          const lostMeanwhile = leaseFailure(run.lease)
          if (lostMeanwhile !== undefined) throw lostMeanwhile
          return ending.failed(outboundFailure(kind, request.id, lint.path, thrown, prepared, run.budget), run)
        },
      )
    },
  }
}

type WrittenHeaders = NonNullable<NonNullable<ResponseRequest['config']>['headers']>

/** The headers with a fixed text, and those whose value is of the message. */
export function splitHeaders(headers: WrittenHeaders) {
  const texts: Record<string, string> = {}
  const values: (readonly [name: string, spec: ParameterSpec])[] = []
  for (const [name, written] of Object.entries(headers)) {
    if (typeof written === 'string') texts[name] = written
    else values.push([name, written])
  }
  return { texts, values }
}

/** A request that may not be sent twice is not retried. */
function compileRetries(
  { retries, idempotent }: LookupRequest | ResponseRequest,
  target: NamedTarget,
  method: string,
  { requestRetries }: PipelineSettings,
  lint: LintSink,
): number {
  const mayRepeat = target.method === undefined && IDEMPOTENT_METHODS.has(method)
  if (mayRepeat || idempotent === true) return retries ?? requestRetries
  if ((retries ?? 0) > 0) {
    lint.warning(
      `A ${target.method ?? method} is sent once only; set "idempotent": true if the target may receive it twice.`,
    )
  }
  return 0
}

function compileTimeout(
  timeoutMs: number | undefined,
  { requestTimeoutMs, messageTimeoutMs }: PipelineSettings,
  isDurable: boolean,
  lint: LintSink,
): number {
  if (timeoutMs !== undefined && timeoutMs > messageTimeoutMs && !isDurable) {
    lint.warning(
      `The message ends before: after ${messageTimeoutMs} ms (MESSAGE_TIMEOUT_MS). Write at most that, or raise the setting.`,
    )
  }
  return timeoutMs ?? requestTimeoutMs
}

/** Reading so much takes some milliseconds. */
const LARGE_ANSWER_BYTES = 512 * 1024

/** The core finds the calls of one transaction by this header of the message. */
const TRANSACTION_HEADER = 'x-openhim-transactionid'

function transactionHeader({ requestHeaders }: CallScope): Readonly<Record<string, string>> {
  const id = isObject(requestHeaders) ? requestHeaders[TRANSACTION_HEADER] : undefined
  return typeof id === 'string' && id !== '' ? { [TRANSACTION_HEADER]: id } : {}
}

/** `text`: undefined for a response whose target is no URL. */
function compileUrl(
  text: string | undefined,
  { checkUrl }: NamedTarget,
  names: readonly string[],
  { secrets, egress }: Services,
  lint: LintSink,
): UrlTemplate {
  if (text === undefined) return NOWHERE
  const template = checkUrl === undefined ? parseUrlTemplate(text, names) : fixedUrl(text, checkUrl)
  if (!template.ok) {
    lint.error(template.message)
    return NOWHERE
  }
  lintReferences(text, secrets, lint)
  const host = template.value.base === undefined && text !== UNKNOWN_URL ? URL.parse(text.trim()) : null
  const refusal = host && checkEgress(host, egress)
  if (refusal) lint.warning(`Every call will fail with EGRESS_DENIED: the host is not allowed, as ${refusal}.`)
  return template.value
}

/** A URL that is not a template. */
function fixedUrl(text: string, checkUrl: (url: string) => string | undefined): Result<UrlTemplate> {
  const wrong = checkUrl(text.trim())
  return wrong === undefined ? found({ ...NOWHERE, fill: () => found(text.trim()) }) : fault(wrong)
}

/** The redirects within its origin that a GET lookup follows by default. */
const ASSUMED_REDIRECTS = 5

function compileRedirects(
  kind: RequestKind,
  { method, followRedirects }: NonNullable<ResponseRequest['config']>,
  { ranges }: StatusSet,
): Pick<Destination['options'], 'redirects' | 'staysOnOrigin'> {
  if (followRedirects !== undefined) return followRedirects === 0 ? {} : { redirects: followRedirects }
  if (kind !== 'LOOKUP' || method !== 'GET') return {}
  // A lookup that names a redirect as a success reads the redirect itself.
  const named: StatusSet = { any: false, ranges }
  const isAnswer = [...REDIRECT_STATUSES].some((status) => hasStatus(named, status))
  return isAnswer ? {} : { redirects: ASSUMED_REDIRECTS, staysOnOrigin: true }
}

function compileAllowed(statuses: readonly (string | number)[] = ['2xx'], lint: LintSink): StatusSet {
  const set = parseStatusSet(statuses)
  if (set.ok) return set.value
  lint.error(set.message)
  return { any: false, ranges: [] }
}

export type RequestCall = Readonly<{
  /** Path of the request in the document, for example `requests.lookup[0]`. */
  path: string
  id: string
  allowed: StatusSet
  /** Content-Type of the request's configured headers. */
  contentType: string | undefined
  /** The items of its forEach. Fails with FOREACH_INVALID. */
  items: ((message: CallScope) => readonly Json[]) | undefined
  concurrency: number
  /** Builds the request but its body. Fails with PARAMETER_INVALID, SECRET_UNAVAILABLE, as expressions do, and as `run.budget` does. */
  prepare(scope: CallScope, run: Run): Awaitable<PreparedRequest>
  /** Builds what is stored of a request that is durable, in the same way, without its secrets; undefined of any other. */
  prepareStored: ((scope: CallScope, run: Run) => Awaitable<StoredCall>) | undefined
  /** The same request to another URL. */
  toUrl(prepared: PreparedRequest, url: string, scope: CallScope): PreparedRequest
  /**
   * `item`: the index of its item, in a forEach. Gives what `ending` makes of the answer, or of a failure:
   * <kind>_UNREACHABLE, _TIMED_OUT, _REFUSED, _UNREADABLE or _CIRCUIT_OPEN, EGRESS_DENIED and DEADLINE_EXCEEDED. Rejects with
   * LOOKUP_NOT_RECORDED and SCHEDULE_LEASE_LOST.
   */
  send<Result>(
    prepared: PreparedRequest,
    body: Body | undefined,
    run: Run,
    item: number | undefined,
    ending: CallEnding<Result>,
  ): Promise<Result>
}>

/** Makes the result of a call from its answer or failure. What it throws rejects `send`. */
export type CallEnding<Result> = Readonly<{
  /** `item`: as for `send`. */
  answered(answer: OutboundAnswer, run: Run, item: number | undefined): Awaitable<Result>
  failed(failure: Failure, run: Run): Result
}>

type RequestKind = 'LOOKUP' | 'RESPONSE'

/**
 * The `Accept` of a request whose document sets none: without one, some services answer with XML or HTML.
 *
 * In: headers as written, names in any case, and the output type of the endpoint. Out: the same with an `accept` (RFC 9110
 * section 12.5.1), unless they have one.
 */
function withAccept(headers: Readonly<Record<string, string>>, output: Format): Readonly<Record<string, string>> {
  const written = (lowerCase: string) => Object.entries(headers).find(([name]) => name.toLowerCase() === lowerCase)?.[1]
  if (written('accept') !== undefined) return headers
  const codec: Codec = codecForHeader(written('content-type')) ?? CODECS.json
  return { ...headers, accept: codec.profiles[output]?.accept ?? codec.accept }
}

/**
 * The failure of a message by a call without a whole answer. `id` and `path`: of the request. No text has the value of a
 * secret; the text for the log has no path of a URL.
 */
function outboundFailure(
  kind: RequestKind,
  id: string,
  path: string,
  error: OutboundError,
  prepared: PreparedRequest,
  budget: MessageBudget,
): Failure {
  if (error.fault === 'over-budget') return budget.refusal(path)
  const codes = {
    unreachable: `${kind}_UNREACHABLE`,
    timeout: `${kind}_TIMED_OUT`,
    'too-large': `${kind}_UNREADABLE`,
    unreadable: `${kind}_UNREADABLE`,
    refused: `${kind}_REFUSED`,
    denied: 'EGRESS_DENIED',
    'circuit-open': `${kind}_CIRCUIT_OPEN`,
    'no-auth': 'AUTH_UNAVAILABLE',
  } as const satisfies Record<Exclude<OutboundError['fault'], 'over-budget'>, FailureCode>
  const sentence = (text: string) => `The request "${id}" failed: ${text}`
  const { url, shownUrl, secrets } = prepared
  const { origin, pathname } = URL.parse(url) ?? { origin: '', pathname: '' }
  const text = url === shownUrl ? error.message : error.message.replaceAll(origin + pathname, withoutQuery(shownUrl))
  const base = BASE.exec(shownUrl)?.[0]
  const unquoted = withoutPaths(base === undefined ? error.message : error.message.replaceAll(origin, base))
  return withoutValues(
    new Failure(codes[error.fault], sentence(text), {
      path,
      cause: error,
      unquoted: sentence(unquoted),
      ...(error instanceof CircuitOpen ? ofCircuit(error) : {}),
    }),
    secrets,
  )
}

/** The status of the calls that opened the circuit: senders need not know of circuits. */
const ofCircuit = ({ status, retryAfterMs }: CircuitOpen) => ({
  status,
  headers: { 'retry-after': `${Math.ceil(retryAfterMs / 1000)}` },
})

/** A secret reference in place of an origin. */
const BASE = /^\$\{[^}]*\}/

/** The path of a URL may have values of the message, such as the number of a patient. */
const withoutPaths = (text: string): string => text.replace(/(https?:\/\/[^\s/]+|\$\{[^}]*\})\/\S*/g, '$1')

const withoutQuery = (url: string): string => url.split('?', 1)[0] ?? ''
