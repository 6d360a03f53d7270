/** The calls of lookups and response requests: built from a message, and sent. */

import { refusalOf } from '../../core/egress/egress-policy.ts'
import { Failure } from '../../core/failure.ts'
import { IDEMPOTENT_METHODS, REDIRECT_STATUSES, type StatusSet } from '../../core/http.ts'
import { isObject } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import { ownTurn } from '../../core/own-turn.ts'
import { OutboundError } from '../../core/ports/http-client-port.ts'
import { endCall, noteSecrets, startCall } from '../../core/tracing/trace.ts'
import { checkPath } from '../../document/checks/path-roots.ts'
import type { Endpoint, LookupRequest, ResponseRequest } from '../../document/schema/schema.ts'
import { UNKNOWN_URL } from '../../document/schema/schema-fields.ts'
import { hasStatus, parseStatusSet } from '../../language/status-set.ts'
import { parseUrlTemplate, type UrlTemplate } from '../../language/url-template.ts'
import type { PipelineSettings, Services } from '../services.ts'
import { withAccept } from './accept.ts'
import { outboundFailure } from './call-failure.ts'
import { answerOf, type CallOptions, deliverToTopic, deliverToUrl } from './delivery.ts'
import { withoutWrapper } from './mediator-answer.ts'
import type { RequestCall, RequestKind } from './request-call.ts'
import {
  type CallScope,
  type Check,
  compileItems,
  compileParameter,
  fillUrl,
  parameterText,
} from './request-parameters.ts'
import { compileHeaders, lintReferences, openAccount, secretsOfUrl } from './secret-references.ts'

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
  const check: Check = (path, inside, sink) =>
    checkPath(path, inside && forEach !== undefined ? `${stage}-item` : stage, endpoint, sink)
  const config: NonNullable<ResponseRequest['config']> = request.config ?? { method: 'POST' }
  const { method } = config
  const parameters = (group: 'query' | 'url') =>
    Object.entries(config.params?.[group] ?? {}).flatMap(([name, spec]) =>
      compileParameter(name, spec, check, lint.at('config', 'params', group, name)),
    )
  const query = parameters('query')
  const named = parameters('url')
  const url = compileUrl(config.url, Object.keys(config.params?.url ?? {}), services, lint.at('config', 'url'))
  // A value without a placeholder is not read: a message without it must not fail.
  const placeholders = named.filter(({ name }) => url.placeholders.includes(name))
  const urlParts = { template: url, placeholders, query, path: lint.path, limitBytes: settings.requestUrlLimitBytes }
  const topic = 'kafkaProducerTopic' in request ? request.kafkaProducerTopic : undefined
  const written = config.headers ?? {}
  const own = topic === undefined ? withAccept(written, endpoint.transformation.output) : written
  const headers = Object.fromEntries(Object.entries(own).map(([name, value]) => [name.toLowerCase(), value]))
  const secretHeaders = compileHeaders(own, services.secrets, lint.at('config', 'headers'))
  const refers = secretHeaders !== undefined || url.references.length > 0
  const urlPath = lint.at('config', 'url').path
  const allowed = compileAllowed(request.allowedStatuses, lint.at('allowedStatuses'))
  const idempotent = IDEMPOTENT_METHODS.has(config.method) || request.idempotent === true
  if (!idempotent && (request.retries ?? 0) > 0) {
    lint
      .at('retries')
      .warning(`A ${config.method} is sent once only; set "idempotent": true if the target may receive it twice.`)
  }
  const retries = idempotent ? (request.retries ?? settings.requestRetries) : 0
  const timeoutMs = request.timeoutMs ?? settings.requestTimeoutMs
  if (request.timeoutMs !== undefined && request.timeoutMs > settings.messageTimeoutMs) {
    lint
      .at('timeoutMs')
      .warning(
        `The message ends before: after ${settings.messageTimeoutMs} ms (MESSAGE_TIMEOUT_MS). Write at most that, or raise the setting.`,
      )
  }
  const originName = url.base?.reference.text
  const options: CallOptions = {
    retries,
    ...compileRedirects(kind, config, allowed),
    ...(request.idempotent === true ? { idempotent: true } : {}),
    ...(originName === undefined ? {} : { originName }),
  }
  const deliver = topic === undefined ? deliverToUrl(services.http, options) : deliverToTopic(topic, services.producer)
  const unwraps = kind === 'LOOKUP' && settings.openhimRegister
  const carriesTransaction =
    settings.openhimRegister && topic === undefined && !Object.hasOwn(headers, TRANSACTION_HEADER)
  const keySpec = 'key' in request ? request.key : undefined
  const [key] = keySpec === undefined ? [] : compileParameter('key', keySpec, check, lint.at('key'))

  return {
    path: lint.path,
    id: request.id,
    allowed,
    contentType: headers['content-type'],
    items: forEach && compileItems(forEach.items, check, settings, lint.at('forEach', 'items')),
    concurrency: Number(forEach?.concurrency ?? 1),
    prepare: (scope, { budget }) => {
      const shownUrl = fillUrl(urlParts, scope)
      const recordKey = (key && parameterText(key, scope, 'be the key of a record')) ?? null
      budget.spend(shownUrl.length + (recordKey?.length ?? 0), lint.path)
      const transaction = carriesTransaction ? transactionOf(scope) : {}
      if (!refers) {
        const carried = carriesTransaction ? { ...headers, ...transaction } : headers
        return { method, url: shownUrl, headers: carried, key: recordKey, shownUrl, secrets: undefined }
      }
      const account = openAccount(services.secrets)
      const secretOf = secretsOfUrl(url, account, urlPath)
      return {
        method,
        url: url.references.length === 0 ? shownUrl : fillUrl(urlParts, scope, secretOf),
        headers: { ...(secretHeaders?.(account.resolve) ?? headers), ...transaction },
        key: recordKey,
        shownUrl,
        secrets: account.values,
      }
    },
    send: (prepared, body, run, item, ending) => {
      const target = topic === undefined ? prepared.shownUrl : `kafka:${topic}`
      if (prepared.secrets !== undefined) noteSecrets(run.trace, prepared.secrets)
      const called = startCall(run.trace, { kind: traced, id: request.id, item, method, target })
      const left = run.deadlineAt - run.clock()
      if (left <= 0) {
        endCall(called, 'deadline')
        const sentence = `The message ran out of time before "${request.id}" was called.`
        const failure = new Failure('DEADLINE_EXCEEDED', sentence, { path: lint.path })
        return Promise.try(() => ending.failed(failure, run))
      }
      // Not an async function: while it waits, its frame takes twice the memory of these two.
      return deliver(prepared, body, Math.min(timeoutMs, left), run, called).then(
        (delivered) => {
          const received = answerOf(delivered)
          const answer = unwraps ? withoutWrapper(received) : received
          endCall(called, answer)
          if (answer.body.byteLength <= LARGE_ANSWER_BYTES) return ending.answered(answer, run)
          return ownTurn().then(() => ending.answered(answer, run))
        },
        (thrown: unknown) => {
          if (kind === 'RESPONSE' && thrown instanceof OutboundError && thrown.answer !== undefined) {
            // The target has accepted the request, even if its answer cannot be decoded.
            endCall(called, thrown.answer)
            return ending.answered(thrown.answer, run)
          }
          endCall(called, thrown instanceof OutboundError ? thrown.fault : 'internal')
          if (!(thrown instanceof OutboundError)) throw thrown
          return ending.failed(outboundFailure(kind, request.id, lint.path, thrown, prepared, run.budget), run)
        },
      )
    },
  }
}

/** Reading so much takes some milliseconds. */
const LARGE_ANSWER_BYTES = 512 * 1024

/** The core finds the calls of one transaction by this header of the message. */
const TRANSACTION_HEADER = 'x-openhim-transactionid'

function transactionOf({ requestHeaders }: CallScope): Readonly<Record<string, string>> {
  const id = isObject(requestHeaders) ? requestHeaders[TRANSACTION_HEADER] : undefined
  return typeof id === 'string' && id !== '' ? { [TRANSACTION_HEADER]: id } : {}
}

/** `text`: undefined for a response that has a topic instead. */
function compileUrl(
  text: string | undefined,
  names: readonly string[],
  { secrets, egress }: Services,
  lint: LintSink,
): UrlTemplate {
  const nowhere: UrlTemplate = {
    placeholders: [],
    undefinedNames: [],
    references: [],
    base: undefined,
    fill: () => ({ ok: true, value: '' }),
  }
  if (text === undefined) return nowhere
  const template = parseUrlTemplate(text, names)
  if (!template.ok) {
    lint.error(template.message)
    return nowhere
  }
  lintReferences(text, secrets, lint)
  const host = template.value.base === undefined && text !== UNKNOWN_URL ? URL.parse(text.trim()) : null
  const refusal = host && refusalOf(host, egress)
  if (refusal) lint.warning(`Every call will fail with EGRESS_DENIED: the host is not allowed, as ${refusal}.`)
  return template.value
}

/** The redirects within its origin that a GET lookup follows by default. */
const ASSUMED_REDIRECTS = 5

function compileRedirects(
  kind: RequestKind,
  { method, followRedirects }: NonNullable<ResponseRequest['config']>,
  { ranges }: StatusSet,
): Pick<CallOptions, 'redirects' | 'staysOnOrigin'> {
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
