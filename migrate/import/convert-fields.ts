/** The name, the route and the formats of a document. */

import { checkReference } from '../../src/config/checks/path-roots.ts'
import { type Endpoint, EndpointField } from '../../src/config/schema/schema.ts'
import type { Field } from '../../src/config/schema/schema-fields.ts'
import { isObject, type Json } from '../../src/domain/json.ts'
import { collectInto, type Lint } from '../../src/domain/lint.ts'
import { parseExpression } from '../../src/language/jsonata/expression.ts'
import { withoutLastSlash } from '../../src/language/route-pattern.ts'
import { parseStatusSet } from '../../src/language/status-set.ts'
import type { PathContext } from './convert-requests.ts'
import type { DocumentPart } from './draft.ts'
import { type Lookup, type LookupForm, withDataInExpression, withoutPaths } from './lookup-forms.ts'

const FORMATS = ['input', 'output'] as const

export function convertRoute(draft: DocumentPart): void {
  convertPattern(draft.at('endpoint', 'pattern'))
  upperCase(draft.at('endpoint', 'method'))
  const formats = draft.at('transformation')
  if (formats.value === undefined) {
    formats.set({}, { level: 'differs', reason: 'Without formats, every message failed there; here it is JSON.' })
  }
  if (!isObject(formats.value)) return
  for (const name of FORMATS) upperCase(formats.at(name))
  const { value: method } = draft.at('endpoint', 'method')
  const hasBody = method === undefined || method === 'POST' || method === 'PUT' || draft.at('kafkaConsumerTopic').value
  const reason = 'Without this format, every message failed there; here it is JSON.'
  if (formats.at('output').value === undefined) formats.at('output').set('JSON', { level: 'differs', reason })
  if (hasBody && formats.at('input').value === undefined) formats.at('input').set('JSON', { level: 'differs', reason })
}

function convertPattern(pattern: DocumentPart): void {
  const { value } = pattern
  if (typeof value !== 'string') return
  const trimmed = value.trim()
  const started = trimmed.startsWith('/') ? trimmed : `/${trimmed}`
  if (started !== value)
    pattern.set(started, { level: 'changed', reason: 'A pattern starts with "/" and has no spaces.' })
  const ended = withoutLastSlash(started)
  if (ended === started) return
  pattern.set(ended, {
    level: 'changed',
    reason:
      'A "/" at the end makes no difference here: the pattern matches the path that it matched there, and the path without it.',
  })
}

function upperCase(part: DocumentPart): void {
  const { value } = part
  if (typeof value !== 'string' || value === value.trim().toUpperCase()) return
  part.set(value.trim().toUpperCase(), { level: 'changed', reason: 'The value is written in upper case.' })
}

/** The defaults of the settings for expressions; here nothing is evaluated. */
const LIMITS = { timeoutMs: 1000, maxDepth: 500, maxSequence: 1_000_000 }

/** Removes transforms that do not run, before others are checked for what they read of them. */
export function dropUnusable(draft: DocumentPart): void {
  for (const transform of draft.at('inputTransforms').parts()) {
    const { value: text } = transform
    if (typeof text !== 'string') {
      transform.remove({ level: 'lost', reason: 'A transform is a text; every message failed at this one there.' })
      continue
    }
    const parsed = parseExpression(text, LIMITS)
    if (parsed.ok) continue
    transform.remove({
      level: 'lost',
      reason: `The transform is left out, since it does not run here: ${parsed.message}`,
    })
  }
}

export function convertExpressions(draft: DocumentPart, context: PathContext): void {
  for (const transform of draft.at('inputTransforms').parts()) convertExpression(transform, context)
}

function convertExpression(transform: DocumentPart, { form, lookups, endpoint }: PathContext): void {
  const { value: text, name } = transform
  if (typeof text !== 'string') return
  if (form === 'bare' && lookups.length > 0) {
    const moved = withDataInExpression(text, lookups)
    if (moved.text !== text) {
      transform.set(moved.text, { level: 'changed', reason: 'The data of a lookup is under "data" here.' })
    }
    if (moved.isWhole) {
      transform.note({
        level: 'differs',
        before: text,
        reason:
          'The expression reads the whole message ("$$", "$eval" or a wildcard), and lookups have "data" and "headers" here: check what it reads of them.',
      })
    }
  }
  const { text: found, removed } = withoutPaths(String(transform.value), (names) => findsNothing(names, endpoint, name))
  if (removed.length === 0) return
  transform.set(found, {
    level: 'changed',
    reason: `There is nothing at ${removed.map((path) => `"${path}"`).join(', ')}, as there; "()" is the expression without a value.`,
  })
}

function findsNothing(names: readonly string[], endpoint: Endpoint, reader: string): boolean {
  const lints: Lint[] = []
  checkReference(names, 'transform', endpoint, collectInto(lints), reader)
  return lints.some(({ severity }) => severity === 'error')
}

const EXTRACTED = ['requestBody', 'responseBody', 'query', 'lookupRequests'] as const

export function convertState(draft: DocumentPart, form: LookupForm, lookups: readonly Lookup[]): void {
  const extract = draft.at('state', 'extract')
  if (extract.at('system').value !== undefined) {
    extract.at('system').remove({ level: 'changed', reason: 'The times of a message are always stored.' })
  }
  for (const part of EXTRACTED) {
    const group = extract.at(part)
    if (part !== 'lookupRequests') convertPaths(group)
    else for (const lookup of group.parts()) convertLookup(lookup, form, lookups)
  }
  convertStatuses(draft.at('state', 'config', 'includeStatuses'))
}

/** Paths that are no texts gave the whole part of the message. */
function convertPaths(group: DocumentPart): void {
  for (const path of group.parts()) {
    if (typeof path.value === 'string' && path.value !== '') continue
    path.remove({ level: 'lost', reason: 'A path is a text; the whole of this part of a message cannot be kept.' })
  }
}

function convertLookup(lookup: DocumentPart, form: LookupForm, lookups: readonly Lookup[]): void {
  const known = lookups.find(({ id }) => id === lookup.name)
  if (known === undefined) {
    lookup.remove({ level: 'changed', reason: 'There is no lookup with this id, so it had no effect there.' })
    return
  }
  convertPaths(lookup)
  if (form === 'bare') return
  for (const path of lookup.parts()) convertExtracted(path, known)
}

function convertExtracted(path: DocumentPart, { isList }: Lookup): void {
  const text = String(path.value)
  const [, inner] = /^data(?:\.(?=.)|(?=\[))(.*)$/s.exec(text) ?? []
  if (inner !== undefined) {
    path.set(inner, { level: 'changed', reason: 'The paths of a lookup are read in its data here.' })
  } else if (/^headers(?:$|[.[])/.test(text)) {
    path.remove({ level: 'lost', reason: 'Headers of a lookup cannot be kept in the state.' })
  } else if (text === 'data') {
    path.remove({ level: 'lost', reason: 'The data of a lookup can be kept by paths in it only, not as a whole.' })
  } else if (isList && text.startsWith('[')) {
    path.remove({ level: 'lost', reason: 'One of the answers of a lookup with "forEach" cannot be kept alone.' })
  }
}

function convertStatuses(statuses: DocumentPart): void {
  if (!Array.isArray(statuses.value)) return
  for (const status of statuses.parts()) {
    const { value } = status
    if ((typeof value === 'string' || typeof value === 'number') && parseStatusSet([value]).ok) continue
    status.remove({ level: 'lost', reason: 'This is no status; every message failed at it there.' })
  }
}

/** Set by each service itself. */
const STAMPS = ['_id', '__v', 'createdAt', 'updatedAt', 'created_at', 'updated_at', 'lastUpdated']

/** Fields of this service that the peer does not have. A document that has one was edited for this service. */
const OWN_FIELDS: ReadonlySet<string> = new Set(
  (
    'auth limits rateLimit idempotency messageLog messageKeys labels failures kafkaConsumerStart kafka ' +
    'timeoutMs retries idempotent optional default followRedirects key'
  ).split(' '),
)

/** Removes what the service sets by itself, and nulls and empty values that both services read as left out. */
export function removeNothings(draft: DocumentPart): void {
  for (const name of STAMPS) {
    const stamp = draft.at(name)
    if (stamp.value !== undefined)
      stamp.remove({
        level: 'changed',
        reason: 'Each service sets this field by itself for the documents that it stores.',
      })
  }
  removeBelow(EndpointField, draft)
  noteOwn(EndpointField, draft)
}

function removeBelow(field: Field, draft: DocumentPart): void {
  for (const [part, inner] of fieldsOf(field, draft)) {
    if (inner === undefined) continue
    if (isNothing(inner, part.value)) {
      part.remove({ level: 'changed', reason: 'The value stands for a field that is left out.' })
    } else removeBelow(inner, part)
  }
}

function noteOwn(field: Field, draft: DocumentPart): void {
  for (const [part, inner] of fieldsOf(field, draft)) {
    if (inner === undefined) continue
    if (OWN_FIELDS.has(part.name) && isListed(field, part.name)) {
      part.note({
        level: 'carried',
        reason: 'This is a field of this service only; it had no effect there and has one here.',
      })
    } else noteOwn(inner, part)
  }
}

const isListed = ({ properties, items }: Field, name: string): boolean =>
  Object.hasOwn(properties ?? items?.properties ?? {}, name)

/** Removes fields that this service does not have, when all rules have read them. */
export function removeUnknown(draft: DocumentPart, field: Field = EndpointField): void {
  for (const [part, inner] of fieldsOf(field, draft)) {
    if (inner !== undefined) {
      removeUnknown(part, inner)
      continue
    }
    part.remove({
      level: 'changed',
      reason:
        part.name === '_id'
          ? 'The id of a part of a document, which that service sets by itself, has no counterpart and had no effect there.'
          : 'The field is unknown here and had no effect there.',
    })
  }
}

/** The members or items with their fields; undefined for the field of a name that the schema does not list. */
function fieldsOf(field: Field, draft: DocumentPart): readonly (readonly [DocumentPart, Field | undefined])[] {
  const { value } = draft
  if (Array.isArray(value)) return field.items ? draft.parts().map((part) => [part, field.items]) : []
  if (!isObject(value)) return []
  // A single request stands for an array of one.
  if (field.single && field.items) return fieldsOf(field.items, draft)
  const { properties, additionalProperties } = field
  if (properties !== undefined) {
    return draft.parts().map((part) => [part, Object.hasOwn(properties, part.name) ? properties[part.name] : undefined])
  }
  if (typeof additionalProperties !== 'object') return []
  return draft.parts().map((part) => [part, additionalProperties])
}

function isNothing({ type, absentAs, properties }: Field, value: Json | undefined): boolean {
  if (value === null) return type !== undefined
  if (absentAs === undefined || typeof absentAs !== 'object') return false
  if (Array.isArray(value)) return value.length === 0 && type === 'array'
  return isObject(value) && Object.keys(value).length === 0 && properties !== undefined
}
