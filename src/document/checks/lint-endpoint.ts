/**
 * The rules between the fields of a document that need no compiling. A stage reports the faults of what it compiles
 * (expressions, paths, URLs, sets of statuses), so that each fault is reported once.
 */
import { IDEMPOTENT_METHODS } from '../../core/http.ts'
import { isObject, type Json } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import { CODECS, codecForFormat, optionsOfOthers } from '../../formats/codecs.ts'
import { parseTree } from '../../language/jsonata/expression-engine.ts'
import { hasComputedKey } from '../../language/jsonata/expression-tree.ts'
import { parsePath } from '../../language/paths/path.ts'
import { parseRoutePattern } from '../../language/route-pattern.ts'
import { hasBody, nameBodiless } from '../doors.ts'
import { listMappings } from '../reads/document-mappings.ts'
import type { Endpoint } from '../schema/schema.ts'
import { UNKNOWN_PATTERN } from '../schema/schema-fields.ts'
import { lintAnswer } from './answer-rules.ts'
import { lintAuth } from './auth-rules.ts'
import { lintExtract } from './extract-rules.ts'
import { lintBodyPaths } from './format-paths.ts'
import { lintOutputNames } from './output-names.ts'
import { checkPath } from './path-roots.ts'
import { lintCredentials } from './plain-credentials.ts'
import { lintRequests, lintUnrouted } from './request-rules.ts'
import { lintSchedule } from './schedule-rules.ts'
import { lintMappingLists } from './warnings/mapping-lists.ts'
import { lintUnfilledTexts } from './warnings/unfilled-texts.ts'

/**
 * Checks the rules between the fields of an endpoint. In: an endpoint as checkDocument returns it; stand-ins are skipped.
 * Lints with the paths of the document.
 */
export function lintEndpoint(endpoint: Endpoint, lint: LintSink): void {
  lintRoute(endpoint, lint.at('endpoint', 'pattern'))
  lintForCallers(endpoint, lint)
  lintAuth(endpoint, lint.at('auth'))
  lintFormatOptions(endpoint, lint)
  lintIdempotency(endpoint, lint.at('idempotency'))
  lintRequests(endpoint, lint.at('requests'))
  lintAnswer(endpoint, lint.at('answer'))
  lintUnrouted(endpoint, lint.at('unrouted'))
  lintTopics(endpoint, lint)
  lintMllp(endpoint, lint)
  lintSchedule(endpoint, lint.at('schedule'))
  lintExtract(endpoint, lint.at('state', 'extract'))
  lintKeys(endpoint, lint.at('messageKeys'))
  lintRequired(endpoint, lint.at('inputValidation'))
  lintBodyPaths(endpoint, lint)
  lintOutputNames(endpoint, lint)
  for (const { entries, at } of listMappings(endpoint)) lintMappingLists(entries, endpoint, lint.at(...at))
  lintUnfilledTexts(endpoint, lint)
  lintCredentials(endpoint, lint)
  lintComputedKeys(endpoint, lint.at('inputTransforms'))
}

/** JSONata 1.8 fails where such a key finds nothing, JSONata 2 leaves the field out. */
function lintComputedKeys({ inputTransforms = {} }: Endpoint, lint: LintSink): void {
  for (const [name, text] of Object.entries(inputTransforms)) {
    if (!mayHaveComputedKey(text)) continue
    lint
      .at(name)
      .warning(
        'A key of an object is computed here. If it finds nothing, the field is left out; JSONata 1.8 fails. To fail as well, write a key such as $exists(x) ? x : $error("…").',
      )
  }
}

/** An expression that does not parse is a fault of its stage. */
function mayHaveComputedKey(text: string): boolean {
  if (!text.includes('{')) return false
  try {
    return hasComputedKey(parseTree(text))
  } catch {
    return false
  }
}

/** Answers of requests may be in the format, so these options may have an effect. */
function lintFormatOptions(endpoint: Endpoint, lint: LintSink): void {
  const { lookup, response } = endpoint.requests
  if (lookup.length + response.length > 0) return
  for (const { field, format } of optionsOfOthers(endpoint)) {
    lint
      .at(field)
      .warning(`"${field}" has no effect, since the endpoint neither reads nor writes ${format}; leave it out.`)
  }
}

function lintRoute({ endpoint: { pattern } }: Endpoint, lint: LintSink): void {
  if (pattern === undefined || pattern === UNKNOWN_PATTERN) return
  const parsed = parseRoutePattern(pattern)
  if (!parsed.ok) lint.error(parsed.message)
}

/** Fields for callers of the route alone. */
const FOR_CALLERS = ['auth', 'rateLimit', 'idempotency'] as const

function lintForCallers(endpoint: Endpoint, lint: LintSink): void {
  for (const name of FOR_CALLERS) {
    if (endpoint[name] === undefined) continue
    if (endpoint.endpoint.pattern === undefined) {
      lint.at(name).warning(`"${name}" has no effect without "endpoint.pattern"; leave it out.`)
    } else if (endpoint.mllp !== undefined) {
      lint
        .at(name)
        .warning(
          `"${name}" does not hold for messages over MLLP; MLLP_TLS_CA_FILE says who may send them, and "limits" how many run.`,
        )
    }
  }
}

function lintIdempotency({ idempotency, endpoint: { method } }: Endpoint, lint: LintSink): void {
  if (idempotency === undefined || !IDEMPOTENT_METHODS.has(method)) return
  lint.error(`"idempotency" is for POST and PATCH only, and this endpoint takes ${method}; leave it out.`)
}

function lintTopics(endpoint: Endpoint, lint: LintSink): void {
  const { kafkaConsumerTopic: topic, kafkaConsumerStart, kafka } = endpoint
  if (kafkaConsumerStart !== undefined && topic === undefined) {
    lint
      .at('kafkaConsumerStart')
      .warning('"kafkaConsumerStart" has no effect without "kafkaConsumerTopic"; leave it out.')
  }
  if (kafka !== undefined && topic === undefined) {
    lint.at('kafka').error('"kafka" is for the records of a topic; give "kafkaConsumerTopic" as well, or leave it out.')
  }
}

function lintMllp({ mllp, messageLog, transformation: { input } }: Endpoint, lint: LintSink): void {
  if (mllp === undefined) return
  const framed = CODECS.hl7v2.name
  if (input !== undefined && codecForFormat(input).name !== framed) {
    lint
      .at('transformation', 'input')
      .warning(`MLLP brings messages of HL7 v2, which cannot be read as ${input}; take ${framed}, or leave "mllp" out.`)
  }
  if (messageLog !== 'off') return
  lint
    .at('messageLog')
    .warning(
      'A message over MLLP is acknowledged once it is in the message log; with "off", it is stored nowhere then.',
    )
}

/** Databases index short texts only. */
const MAX_KEY_NAME_CHARACTERS = 64

function lintKeys(endpoint: Endpoint, lint: LintSink): void {
  for (const [name, text] of Object.entries(endpoint.messageKeys ?? {})) {
    const sink = lint.at(name)
    if (name === '__proto__')
      sink.error('"__proto__" cannot be the name of a key; choose another.', { toleratedInStored: true })
    if (name.length > MAX_KEY_NAME_CHARACTERS)
      sink.error(`The name has more than ${MAX_KEY_NAME_CHARACTERS} characters; shorten it.`)
    const path = parsePath(text)
    if (path.ok) checkPath(path.value, 'record', endpoint, sink)
    else sink.error(path.message)
  }
}

/**
 * Warns of schemas that check less or more than their author probably expects: a schema checks a part of the message only if
 * the message has it or the schema requires it.
 */
function lintRequired(endpoint: Endpoint, lint: LintSink): void {
  const { inputValidation: schema, requests } = endpoint
  if (schema === undefined) return
  const required = namesIn(schema.required)
  const query = isObject(schema.properties) ? schema.properties.query : undefined
  if (isObject(query) && namesIn(query.required).length > 0 && !required.includes('query')) {
    lint
      .at('properties', 'query')
      .warning(
        'A request without any query passes this; add "query" to the "required" of the schema if it must have one.',
      )
  }
  if (!hasBody(endpoint) && required.includes('requestBody')) {
    lint.at('required').warning(`Every message is refused: a ${nameBodiless(endpoint)} has no "requestBody".`)
  }
  if (requests.lookup.length === 0 && required.includes('lookupRequests')) {
    lint.at('required').warning('Every message is refused: without lookups there is no "lookupRequests".')
  }
}

const namesIn = (required: Json | undefined): readonly Json[] => (Array.isArray(required) ? required : [])
