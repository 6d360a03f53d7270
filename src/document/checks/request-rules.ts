/** The rules between the fields of lookup and response requests. */
import { FRAMING_HEADERS } from '../../core/http.ts'
import { REFUSED_NAMES } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import { nearest } from '../../core/nearest.ts'
import { isHeaderName, isHeaderValue, NO_HEADER_VALUE } from '../../language/headers.ts'
import { parsePath } from '../../language/paths/path.ts'
import { isPlaceholderName, parseUrlTemplate } from '../../language/url-template.ts'
import { fieldsOfOthers, type NamedTarget, targetOf } from '../../outbound/targets.ts'
import { hasBody, nameBodiless } from '../doors.ts'
import {
  type Endpoint,
  isMarkedPrimary,
  isPrimary,
  type LookupRequest,
  mayBeUnrouted,
  type ResponseRequest,
} from '../schema/schema.ts'
import { UNKNOWN, UNKNOWN_URL } from '../schema/schema-fields.ts'
import { lintBody, lintOwnMapping, lintPage } from './body-rules.ts'
import { lintDelivery } from './delivery-rules.ts'
import { lintLookupOrder } from './lookup-rules.ts'
import { lintRequestAuth } from './request-auth-rules.ts'

type Request = LookupRequest | ResponseRequest

/** Lints at `requests`: ids, primary, headers, placeholders, optional requests, forwarded bodies. */
export function lintRequests(endpoint: Endpoint, lint: LintSink): void {
  const { lookup, response } = endpoint.requests
  lintIds(lookup, 'lookups', lint.at('lookup'))
  lintIds(response, 'responses', lint.at('response'))
  lintPrimary(response, lint.at('response'))
  lintLookupOrder(endpoint, lint)
  for (const [index, request] of lookup.entries()) {
    lintRequest(request, endpoint, lint.at('lookup', index))
    lintForwarding(request, endpoint, lint.at('lookup', index))
    lintBody(request, lint.at('lookup', index))
    lintCache(request, lint.at('lookup', index, 'cache'))
    lintPage(request, lint.at('lookup', index))
    lintFhirResponse(request, endpoint, lint.at('lookup', index, 'fhirResponse'))
  }
  for (const [index, request] of response.entries()) {
    lintRequest(request, endpoint, lint.at('response', index))
    lintOwnMapping(request, lint.at('response', index))
    lintDelivery(request, lint.at('response', index))
  }
}

/** Lints at `unrouted`. */
export function lintUnrouted(endpoint: Endpoint, lint: LintSink): void {
  if (endpoint.unrouted === undefined || mayBeUnrouted(endpoint)) return
  lint.warning('"unrouted" has no effect unless all response requests have "when"; leave it out.')
}

function lintRequest(request: Request, endpoint: Endpoint, lint: LintSink): void {
  const { config } = request
  const target = targetOf(request)
  lintHeaders(config?.headers ?? {}, lint.at('config', 'headers'))
  if (target.checkUrl === undefined) lintPlaceholders(config, lint.at('config'))
  lintOptional(request, target, lint)
  lintItems(request.forEach?.items, lint.at('forEach', 'items'))
  lintRequestAuth(request, target, lint.at('config'))
  for (const [field, sentence] of fieldsOfOthers(target)) {
    if (Object.hasOwn(request, field)) lint.at(field).error(sentence)
  }
  target.lint?.(request, endpoint, lint)
}

function lintIds(requests: readonly Request[], among: string, lint: LintSink): void {
  const first = new Map<string, number>()
  requests.forEach(({ id }, index) => {
    const sink = lint.at(index, 'id')
    const earlier = first.get(id)
    if (REFUSED_NAMES.has(id)) sink.error(`The id "${id}" is reserved; choose another one.`)
    else if (earlier === undefined) first.set(id, index)
    else if (id !== UNKNOWN)
      sink.error(`"${lint.at(earlier).path}" has the id "${id}" already; ids are unique among the ${among}.`)
  })
}

function lintPrimary(responses: readonly ResponseRequest[], lint: LintSink): void {
  let earlier: string | undefined
  responses.forEach((request, index) => {
    if (!isMarkedPrimary(request)) return
    const sink = request.primary === true ? lint.at(index, 'primary') : lint.at(index, 'config', 'primary')
    if (!isPrimary(request)) {
      sink.warning('A request with "forEach" gives many answers and cannot be primary, so this has no effect.')
      return
    }
    if (earlier !== undefined) sink.error(`Only one request can be primary, and "${earlier}" is; leave this out.`)
    earlier ??= lint.at(index).path
  })
}

function lintOptional(request: Request, { promise }: NamedTarget, lint: LintSink): void {
  const sink = lint.at('optional')
  if (request.optional !== true) {
    if (request.default === undefined) return
    lint.at('default').error('"default" is used only where a request may fail; set "optional": true, or leave it out.')
  } else if (promise !== undefined) {
    sink.error(promise)
  } else if (isPrimary(request)) {
    sink.error('The answer is that of the primary request, which cannot be optional; leave one out.')
  }
}

/** Warns of a path that keeps the lists of several parents apart by its last `[]`. */
function lintItems(items: string | undefined, lint: LintSink): void {
  const path = items === undefined ? undefined : parsePath(items)
  if (!path?.ok) return
  const kinds = path.value.steps.map(({ kind }) => kind)
  // Of two in a row, the first alone would keep them apart as well.
  if (kinds.at(-1) !== 'each' || kinds.at(-2) === 'each') return
  if (!kinds.slice(0, -1).some((kind) => kind === 'each' || kind === 'any')) return
  lint.warning(
    `"${items}" gives a list of lists, and each request gets a whole list as its item; leave out the last "[]".`,
  )
}

/** Lints the names and texts of headers. */
export function lintHeaders(headers: NonNullable<NonNullable<Request['config']>['headers']>, lint: LintSink): void {
  const seen = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    const sink = lint.at(name)
    const lowerCase = name.toLowerCase()
    if (!isHeaderName(name)) sink.error(`"${name}" cannot name a header; write letters, digits and hyphens only.`)
    else if (FRAMING_HEADERS.has(lowerCase)) sink.error(`The header "${name}" is set by the service; leave it out.`)
    else if (seen.has(lowerCase))
      sink.error(`The header "${name}" is here twice, but for upper and lower case; keep one.`)
    if (typeof value !== 'string') {
      if (lowerCase === 'content-type')
        sink.error(
          'The body is written as its Content-Type says, so that must be a text; no value of the message can be it.',
        )
    } else if (!isHeaderValue(value)) {
      sink.error(`The value of the header "${name}" ${NO_HEADER_VALUE}.`)
    }
    seen.add(lowerCase)
  }
}

/** Warns of values without a placeholder in the URL, and of path segments `:name` without a value. */
function lintPlaceholders(config: Request['config'], lint: LintSink): void {
  if (config?.url === undefined || config.url === UNKNOWN_URL) return
  const defined = Object.keys(config.params?.url ?? {})
  const template = parseUrlTemplate(config.url, defined)
  if (!template.ok) return
  const { placeholders, undefinedNames } = template.value
  for (const name of defined) {
    if (name === UNKNOWN || placeholders.includes(name)) continue
    const meant = nearest(name, undefinedNames)
    const advice = meant === undefined ? '; leave it out or add it to the URL.' : `; did you mean ":${meant}"?`
    const sentence = isPlaceholderName(name)
      ? `The URL has no placeholder ":${name}"${advice}`
      : `No placeholder can have the name "${name}"; use letters, digits, "_" and "-" only.`
    lint.at('params', 'url', name).warning(sentence)
  }
  if (defined.includes(UNKNOWN)) return
  for (const name of undefinedNames) {
    lint
      .at('url')
      .warning(`The path segment ":${name}" is sent unchanged: "config.params.url" does not define "${name}".`)
  }
}

function lintForwarding(request: LookupRequest, endpoint: Endpoint, lint: LintSink): void {
  if (!request.forwardExistingRequestBody || request.forEach !== undefined || hasBody(endpoint)) return
  lint.at('forwardExistingRequestBody').warning(`A ${nameBodiless(endpoint)} brings no body that could be forwarded.`)
}

function lintCache(request: LookupRequest, lint: LintSink): void {
  const { cache, config, forwardExistingRequestBody, page } = request
  if (cache === undefined) return
  const target = targetOf(request)
  if (!target.isHttp) lint.error(`${target.requests} has no answer that could be kept; leave "cache" out.`)
  else if (config.method !== 'GET')
    lint.error(`Only answers to a GET are kept, not to a ${config.method}; leave "cache" out.`)
  else if (forwardExistingRequestBody === true || config.body !== undefined) {
    lint.error('The answer to a request with a body is not kept; send none, or leave "cache" out.')
  } else if (page !== undefined) {
    lint.error('Pages that were kept at different times do not belong together; leave "cache" or "page" out.')
  }
}

function lintFhirResponse({ fhirResponse }: LookupRequest, { failures }: Endpoint, lint: LintSink): void {
  if (fhirResponse && failures === 'plain')
    lint.warning('The "failures" of the endpoint are "plain", so this has no effect.')
}
