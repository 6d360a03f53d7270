/** The calls of lookups and response requests: what of them the document has, and how the rest is made of a message. */
import type { DeliveryRules } from '../../core/deliveries/delivery.ts'
import { checkEgress } from '../../core/egress/egress-policy.ts'
import { IDEMPOTENT_METHODS, REDIRECT_STATUSES, type StatusSet } from '../../core/http.ts'
import { type Awaitable, isObject, type Json, jsonLength } from '../../core/json.ts'
import { fault, found, type LintSink, type Result } from '../../core/lint.ts'
import type { Destination } from '../../core/ports/destination.ts'
import type { PreparedRequest } from '../../core/ports/outbound-port.ts'
import type { Run } from '../../core/run.ts'
import { withReferences } from '../../core/secrets/secrets.ts'
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
import { lintReferences } from './secret-references.ts'
import { compileSend, type RequestKind, type SendCall } from './send-call.ts'
import { compileStoring, fillOrderKey, type StoredCall, shownOrigin } from './stored-call.ts'

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
    send: compileSend({
      kind,
      id: request.id,
      path: lint.path,
      to,
      target,
      method: target.method ?? method,
      timeoutMs,
      unwraps: kind === 'LOOKUP' && settings.openhimRegister,
      outbound: services.outbound,
    }),
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

/** The core finds the calls of one transaction by this header of the message. */
const TRANSACTION_HEADER = 'x-openhim-transactionid'

function transactionHeader({ requestHeaders }: CallScope): Readonly<Record<string, string>> {
  const id = isObject(requestHeaders) ? requestHeaders[TRANSACTION_HEADER] : undefined
  return typeof id === 'string' && id !== '' ? { [TRANSACTION_HEADER]: id } : {}
}

/** `text`: undefined for a response whose target is no URL. */
function compileUrl(
  text: string | undefined,
  { checkUrl, answerHere }: NamedTarget,
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
  const leaves = answerHere === undefined && template.value.base === undefined
  const host = leaves && text !== UNKNOWN_URL ? URL.parse(text.trim()) : null
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
  send: SendCall
}>

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
