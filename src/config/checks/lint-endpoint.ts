/**
 * The rules between the fields of a document that need no compiling. What a stage compiles (expressions, paths, URLs,
 * sets of statuses) it reports itself, so that each fault is told once.
 */
import { FRAMING_HEADERS } from '../../domain/http.ts'
import { REFUSED_NAMES } from '../../domain/json.ts'
import type { LintSink } from '../../domain/lint.ts'
import { nearest } from '../../domain/nearest.ts'
import { isHeaderName, isHeaderValue } from '../../language/headers.ts'
import { parsePath } from '../../language/paths/path.ts'
import { parseRoutePattern } from '../../language/route-pattern.ts'
import { isPlaceholderName, parseUrlTemplate } from '../../language/url-template.ts'
import {
  type Endpoint,
  isMarkedPrimary,
  isPrimary,
  type LookupRequest,
  type ResponseRequest,
} from '../schema/schema.ts'
import { UNKNOWN, UNKNOWN_PATTERN, UNKNOWN_URL } from '../schema/schema-fields.ts'
import { lintAuth } from './auth-rules.ts'
import { lintExtract } from './extract-rules.ts'
import { lintOutputNames } from './output-names.ts'
import { checkPath } from './path-roots.ts'
import { lintCredentials } from './plain-credentials.ts'
import { lintGuards } from './validation-guards.ts'

type Request = LookupRequest | ResponseRequest

/**
 * Checks the rules that hold between the fields of an endpoint: route, ids, primary, headers, placeholders,
 * `state.extract`, parts of the message that a schema requires, names that the output cannot have, and credentials that are written out.
 *
 * In: an endpoint as checkDocument gives it; its stand-ins are passed over. Lints at the places of the document.
 */
export function lintEndpoint(endpoint: Endpoint, lint: LintSink): void {
  const { lookup, response } = endpoint.requests
  lintRoute(endpoint, lint)
  lintAuth(endpoint, lint.at('auth'))
  lintIdempotency(endpoint, lint.at('idempotency'))
  lintIds(lookup, 'lookups', lint.at('requests', 'lookup'))
  lintIds(response, 'responses', lint.at('requests', 'response'))
  lintPrimary(response, lint.at('requests', 'response'))
  lookup.forEach((request, index) => {
    const sink = lint.at('requests', 'lookup', index)
    lintRequest(request, sink)
    lintForwarding(request, endpoint, sink)
  })
  response.forEach((request, index) => {
    lintRequest(request, lint.at('requests', 'response', index))
  })
  lintTopics(endpoint, lint)
  lintExtract(endpoint, lint.at('state', 'extract'))
  lintKeys(endpoint, lint.at('messageKeys'))
  lintGuards(endpoint, lint.at('inputValidation'))
  lintOutputNames(endpoint, lint)
  lintCredentials(endpoint, lint)
}

function lintRoute({ endpoint }: Endpoint, lint: LintSink): void {
  if (endpoint.pattern === UNKNOWN_PATTERN) return
  const pattern = parseRoutePattern(endpoint.pattern)
  if (!pattern.ok) lint.at('endpoint', 'pattern').error(pattern.message)
}

function lintIdempotency({ idempotency, endpoint: { method } }: Endpoint, lint: LintSink): void {
  if (idempotency === undefined || method === 'POST') return
  lint.error(`"idempotency" is for POST only, and this endpoint takes ${method}; leave it out.`)
}

function lintTopics({ kafkaConsumerTopic: topic, transformation, requests }: Endpoint, lint: LintSink): void {
  if (topic !== undefined && transformation.input === undefined) {
    lint
      .at('transformation', 'input')
      .error(
        '"transformation.input" is required where a topic is consumed: say which type of message its records hold.',
      )
  }
  requests.response.forEach(({ kafkaProducerTopic, key }, index) => {
    const sink = lint.at('requests', 'response', index)
    if (key !== undefined && kafkaProducerTopic === undefined) {
      sink.at('key').error('"key" is the key of a record; give "kafkaProducerTopic" as well, or leave it out.')
    }
    if (topic !== undefined && kafkaProducerTopic === topic) {
      sink.at('kafkaProducerTopic').warning(`the endpoint consumes "${topic}" itself, so each record makes another one`)
    }
  })
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

function lintRequest(request: Request, lint: LintSink): void {
  const { config } = request
  lintHeaders(config?.headers ?? {}, lint.at('config', 'headers'))
  lintPlaceholders(config, lint.at('config'))
  lintOptional(request, lint)
}

function lintOptional(request: Request, lint: LintSink): void {
  if (request.optional !== true) {
    if (request.default === undefined) return
    lint.at('default').error('"default" is used only where a request may fail; set "optional": true, or leave it out.')
  } else if ('kafkaProducerTopic' in request && request.kafkaProducerTopic !== undefined) {
    lint
      .at('optional')
      .error(
        'A message whose record the broker did not take always fails, so a topic cannot be optional; leave it out.',
      )
  } else if (isPrimary(request)) {
    lint.at('optional').error('The answer is that of the primary request, which cannot be optional; leave one out.')
  }
}

function lintHeaders(headers: Readonly<Record<string, string>>, lint: LintSink): void {
  const seen = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    const sink = lint.at(name)
    const lowerCase = name.toLowerCase()
    if (!isHeaderName(name)) sink.error(`"${name}" cannot name a header; write letters, digits and hyphens only.`)
    else if (FRAMING_HEADERS.has(lowerCase)) sink.error(`The header "${name}" is set by the service; leave it out.`)
    else if (seen.has(lowerCase))
      sink.error(`The header "${name}" is here twice, but for upper and lower case; keep one.`)
    if (!isHeaderValue(value)) {
      sink.error(`The value of the header "${name}" holds a line break or another character that no header can hold.`)
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
    const sink = lint.at('url')
    sink.warning(`The path segment ":${name}" is sent as it is: "config.params.url" does not define "${name}".`)
  }
}

function lintForwarding(request: LookupRequest, { endpoint, kafkaConsumerTopic }: Endpoint, lint: LintSink): void {
  const hasBody = endpoint.method === 'POST' || endpoint.method === 'PUT' || kafkaConsumerTopic !== undefined
  if (!request.forwardExistingRequestBody || request.forEach !== undefined || hasBody) return
  lint.at('forwardExistingRequestBody').warning(`A ${endpoint.method} brings no body that could be forwarded.`)
}

/** Databases index short texts only. */
const LONGEST_KEY_NAME = 64

function lintKeys(endpoint: Endpoint, lint: LintSink): void {
  for (const [name, text] of Object.entries(endpoint.messageKeys ?? {})) {
    const sink = lint.at(name)
    if (name.length > LONGEST_KEY_NAME) sink.error(`The name has more than ${LONGEST_KEY_NAME} characters; shorten it.`)
    const path = parsePath(text)
    if (path.ok) checkPath(path.value, 'record', endpoint, sink)
    else sink.error(path.message)
  }
}
