/** Fields of a document that one rule each converts: its route, formats, topic, state, expressions, and what means nothing. */

import { takesBody } from '../../src/core/http.ts'
import { isObject, type Json } from '../../src/core/json.ts'
import { checkReference } from '../../src/document/checks/path-roots.ts'
import { EndpointField } from '../../src/document/schema/schema.ts'
import type { Field } from '../../src/document/schema/schema-fields.ts'
import { DEFAULT_FORMAT } from '../../src/formats/codecs.ts'
import { parseExpression } from '../../src/language/jsonata/expression.ts'
import { withoutLastSlash } from '../../src/language/route-pattern.ts'
import { parseStatusSet } from '../../src/language/status-set.ts'
import type { PathContext } from './convert-requests.ts'
import { applyRules, type DocumentPart, drop, faultsIn, type Rule, rewrite } from './draft.ts'
import { type Lookup, type LookupForm, withDataInExpression, withoutPaths } from './lookup-forms.ts'

const isText = (value: Json): value is string => typeof value === 'string'

const upperCase = (at: string): Rule =>
  rewrite('changed', 'The value is written in upper case.', at, (value) => String(value).trim().toUpperCase(), isText)

const ROUTE_RULES: readonly Rule[] = [
  rewrite(
    'changed',
    'A pattern starts with "/" and has no spaces.',
    'endpoint.pattern',
    (pattern) =>
      String(pattern)
        .trim()
        .replace(/^(?!\/)/, '/'),
    isText,
  ),
  rewrite(
    'changed',
    'A "/" at the end makes no difference here: the pattern matches the path that it matched there, and the path without it.',
    'endpoint.pattern',
    (pattern) => withoutLastSlash(String(pattern)),
    isText,
  ),
  upperCase('endpoint.method'),
]

/** The name, the route and the formats of a document. */
export function convertRoute(draft: DocumentPart): void {
  applyRules(draft, ROUTE_RULES, undefined)
  const formats = draft.at('transformation')
  if (formats.value === undefined) {
    formats.set({}, 'differs', 'Without formats, every message failed there; here it is JSON.')
  }
  if (!isObject(formats.value)) return
  applyRules(formats, [upperCase('input'), upperCase('output')], undefined)
  const { value: method = 'POST' } = draft.at('endpoint', 'method')
  const hasBody = takesBody(method) || draft.at('kafkaConsumerTopic').value
  for (const format of [formats.at('output'), ...(hasBody ? [formats.at('input')] : [])]) {
    if (format.value !== undefined) continue
    format.set(
      DEFAULT_FORMAT,
      'differs',
      `Without this format, every message failed there; here it is ${DEFAULT_FORMAT}.`,
    )
  }
}

/** The consumer group of the peer, unless its settings name another; so spelled. */
const PEER_GROUP = 'mappinng-mediator'

export function convertConsumer(draft: DocumentPart, consumerStart: string | undefined): void {
  const start = draft.at('kafkaConsumerStart')
  const topic = draft.at('kafkaConsumerTopic')
  if (topic.value === '') topic.remove('changed', 'An empty topic had no effect there.')
  if (topic.value === undefined || start.value !== undefined) return
  start.set(
    consumerStart ?? `group:${PEER_GROUP}`,
    'changed',
    consumerStart === undefined
      ? 'Consuming starts at the offsets of the consumer group of that service. This is its default group; if KAFKA_CONSUMER_GROUPID names another there, import with --consumer-start group:NAME.'
      : 'Consuming starts where --consumer-start says.',
  )
}

/** Paths that aren't texts gave the whole part of the message. */
const extractRule = (at: string): Rule =>
  drop(
    'lost',
    'A path is a text; the whole of this part of a message cannot be kept.',
    at,
    (path) => !isText(path) || path === '',
  )

const STATE_RULES: readonly Rule[] = [
  drop('changed', 'The times of a message are always stored.', 'state.extract.system'),
  ...['requestBody', 'responseBody', 'query'].map((part) => extractRule(`state.extract.${part}.*`)),
]

const STATUS_RULE: Rule = drop(
  'lost',
  'This is not a status; every message failed at it there.',
  'state.config.includeStatuses.[]',
  (status) => (!isText(status) && typeof status !== 'number') || !parseStatusSet([status]).ok,
)

/** What a path of a lookup keeps of it since version 3. */
const KEPT_RULES: readonly Rule<Lookup>[] = [
  drop('lost', 'Headers of a lookup cannot be kept in the state.', '', (path) =>
    /^headers(?:$|[.[])/.test(String(path)),
  ),
  drop('lost', 'The data of a lookup can be kept by paths in it only, not as a whole.', '', (path) => path === 'data'),
  drop(
    'lost',
    'One of the answers of a lookup with "forEach" cannot be kept alone.',
    '',
    (path, { isList }) => isList && String(path).startsWith('['),
  ),
  rewrite('changed', 'The paths of a lookup are read in its data here.', '', (path) =>
    String(path).replace(/^data(?:\.(?=.)|(?=\[))/s, ''),
  ),
]

/** `state.extract` and `state.config`: what a message leaves for the next one, and which of it that one reads. */
export function convertState(draft: DocumentPart, form: LookupForm, lookups: readonly Lookup[]): void {
  applyRules(draft, STATE_RULES, undefined)
  for (const lookup of draft.at('state', 'extract', 'lookupRequests').parts()) {
    const known = lookups.find(({ id }) => id === lookup.name)
    if (known === undefined) {
      lookup.remove('changed', 'There is no lookup with this id, so it had no effect there.')
      continue
    }
    applyRules(lookup, [extractRule('*')], undefined)
    if (form === 'wrapped') for (const path of lookup.parts()) applyRules(path, KEPT_RULES, known)
  }
  applyRules(draft, [STATUS_RULE], undefined)
}

/** The defaults of the settings for expressions; here nothing is evaluated. */
const LIMITS = { timeoutMs: 1000, maxDepth: 500, maxSequence: 1_000_000 }

/** Removes transforms that do not run, before others are checked for what they read of them. */
export function dropUnusable(draft: DocumentPart): void {
  for (const transform of draft.at('inputTransforms').parts()) {
    const { value: text } = transform
    if (typeof text !== 'string') {
      transform.remove('lost', 'A transform is a text; every message failed at this one there.')
      continue
    }
    const parsed = parseExpression(text, LIMITS)
    if (!parsed.ok) transform.remove('lost', `The transform is left out, since it does not run here: ${parsed.message}`)
  }
}

/** `inputTransforms`: expressions with the paths that this service has. */
export function convertExpressions(draft: DocumentPart, { form, lookups, endpoint }: PathContext): void {
  for (const transform of draft.at('inputTransforms').parts()) {
    const { value: text, name } = transform
    if (typeof text !== 'string') continue
    if (form === 'bare' && lookups.length > 0) {
      const moved = withDataInExpression(text, lookups)
      if (moved.text !== text) transform.set(moved.text, 'changed', 'The data of a lookup is under "data" here.')
      const reason =
        'The expression reads the whole message ("$$", "$eval" or a wildcard), and lookups have "data" and "headers" here: check what it reads of them.'
      if (moved.isWhole) transform.note('differs', reason, { before: text })
    }
    const isNothing = (names: readonly string[]) =>
      faultsIn((lint) => checkReference(names, 'transform', endpoint, lint, name)).length > 0
    const { text: found, removed: paths } = withoutPaths(String(transform.value), isNothing)
    if (paths.length === 0) continue
    const places = paths.map((path) => `"${path}"`).join(', ')
    transform.set(found, 'changed', `There is nothing at ${places}, as there; "()" is the expression without a value.`)
  }
}

/** Set by each service itself. */
const STAMP_RULES = '_id __v createdAt updatedAt created_at updated_at lastUpdated'
  .split(' ')
  .map((at) => drop('changed', 'Each service sets this field by itself for the documents that it stores.', at))

/** The fields that the peer has too. A document with another one was edited for this service. */
const PEER_FIELDS: ReadonlySet<string> = new Set(
  (
    'name description endpoint pattern method transformation input output kafkaConsumerTopic inputMapping constants ' +
    'inputTransforms inputValidation requests lookup response id config url headers params query path prefix postfix primary ' +
    'kafkaProducerTopic forwardExistingRequestBody forEach items concurrency allowedStatuses fhirResponse ' +
    'state extract requestBody responseBody lookupRequests networkErrors includeStatuses'
  ).split(' '),
)

/** Removes what the service sets by itself, and nulls and empty values that both services read as left out. */
export function removeNothings(draft: DocumentPart): void {
  applyRules(draft, STAMP_RULES, undefined)
  visitFields(draft, (part, field) => {
    if (field === undefined || !isNothing(field, part.value)) return field !== undefined
    part.remove('changed', 'The value means that the field is left out.')
    return false
  })
  visitFields(draft, (part, field, holder) => {
    if (field === undefined || PEER_FIELDS.has(part.name) || !isListed(holder, part.name)) return field !== undefined
    part.note('carried', 'This is a field of this service only; it had no effect there and has one here.')
    return false
  })
}

const isListed = ({ properties, items }: Field, name: string): boolean =>
  Object.hasOwn(properties ?? items?.properties ?? {}, name)

/** Removes fields that this service does not have, when all rules have read them. */
export function removeUnknown(draft: DocumentPart): void {
  visitFields(draft, (part, field) => {
    if (field !== undefined) return true
    const reason =
      part.name === '_id'
        ? 'The id of a part of a document, which that service sets by itself, has no counterpart and had no effect there.'
        : 'The field is unknown here and had no effect there.'
    part.remove('changed', reason)
    return false
  })
}

/** Visits every part with its field, undefined for a name that the schema does not list; `visit` says whether to go into it. */
function visitFields(
  draft: DocumentPart,
  visit: (part: DocumentPart, field: Field | undefined, holder: Field) => boolean,
  holder: Field = EndpointField,
): void {
  for (const [part, field] of listFields(holder, draft)) {
    if (visit(part, field, holder) && field !== undefined) visitFields(part, visit, field)
  }
}

function listFields(field: Field, draft: DocumentPart): readonly (readonly [DocumentPart, Field | undefined])[] {
  const { value } = draft
  if (Array.isArray(value)) return field.items ? draft.parts().map((part) => [part, field.items]) : []
  if (!isObject(value)) return []
  // A single request means an array of one.
  if (field.single && field.items) return listFields(field.items, draft)
  const { properties, additionalProperties } = field
  if (properties !== undefined) {
    return draft.parts().map((part) => [part, Object.hasOwn(properties, part.name) ? properties[part.name] : undefined])
  }
  return typeof additionalProperties === 'object' ? draft.parts().map((part) => [part, additionalProperties]) : []
}

function isNothing({ type, absentAs, properties }: Field, value: Json | undefined): boolean {
  if (value === null) return type !== undefined
  if (absentAs === undefined || typeof absentAs !== 'object') return false
  if (Array.isArray(value)) return value.length === 0 && type === 'array'
  return isObject(value) && Object.keys(value).length === 0 && properties !== undefined
}
