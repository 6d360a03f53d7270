/** Requests: which of them the peer made at all, their ids, and fields that it read in another way. */

import { checkPath, type ReferenceStage } from '../../src/config/checks/path-roots.ts'
import { type Endpoint, hasBody } from '../../src/config/schema/schema.ts'
import { isObject, type Json, type JsonObject } from '../../src/domain/json.ts'
import { collectInto, type Lint } from '../../src/domain/lint.ts'
import { parsePath } from '../../src/language/paths/path.ts'
import { parseStatusSet } from '../../src/language/status-set.ts'
import { type DocumentPart, textOf } from './draft.ts'
import { isOldParameter, type Lookup, type LookupForm, withData } from './lookup-forms.ts'

export const REQUEST_GROUPS = ['lookup', 'response'] as const
export type RequestGroup = (typeof REQUEST_GROUPS)[number]

/** The requests of a kind that are still there; a single one needs no array. */
export function requestsOf(draft: DocumentPart, kind: RequestGroup): readonly DocumentPart[] {
  const requests = draft.at('requests', kind)
  if (isObject(requests.value)) return [requests]
  return Array.isArray(requests.value) ? requests.parts() : []
}

export function convertRequests(draft: DocumentPart): void {
  for (const kind of REQUEST_GROUPS) {
    for (const request of requestsOf(draft, kind)) {
      if (isObject(request.value)) convertRequest(request, kind)
      else request.remove({ level: 'changed', reason: 'This is no request, so that nothing was sent there.' })
    }
    if (kind === 'response') dropUnsent(draft)
    convertIds(requestsOf(draft, kind), kind)
  }
  convertPrimaries(requestsOf(draft, 'response'))
}

function convertRequest(request: DocumentPart, kind: RequestGroup): void {
  liftConfig(request)
  const id = request.at('id')
  if (typeof id.value === 'number' || typeof id.value === 'boolean') {
    id.set(String(id.value), { level: 'changed', reason: 'An id is a text.' })
  } else if (kind === 'lookup' && (id.value === undefined || id.value === '')) {
    const unnamed = id.value === undefined ? 'undefined' : 'unnamed'
    id.set(unnamed, {
      level: 'changed',
      reason: 'Here every request has an id; this is the name that the lookup had there.',
    })
  }
  const forward = request.at('forwardExistingRequestBody')
  if (forward.value !== undefined && kind === 'response') {
    forward.remove({ level: 'changed', reason: 'A response request sends the output; the field had no effect there.' })
  }
  for (const flag of [forward, request.at('fhirResponse')]) {
    if (flag.value !== undefined && typeof flag.value !== 'boolean') {
      flag.set(isTruthy(flag.value), { level: 'changed', reason: 'The field is true or false.' })
    }
  }
  convertForEach(request.at('forEach'))
  const statuses = request.at('allowedStatuses')
  convertStatuses(statuses)
  if (kind === 'response' && statuses.value !== undefined) statuses.note({ level: 'differs', reason: OWN_STATUSES })
  convertTopic(request)
}

const OWN_STATUSES =
  'Later versions of that service drop this field of a response request; here it says which answers are a success.'

/** Fields that the first versions had in the request itself. */
const CONFIG_FIELDS = ['method', 'url', 'headers', 'params']

/** Later versions took no request without `config`, so one with a URL of its own is of that time. */
function liftConfig(request: DocumentPart): void {
  const { value } = request
  if (!isObject(value) || value.config !== undefined || typeof value.url !== 'string') return
  const entries = Object.entries(value)
  const config = Object.fromEntries(entries.filter(([name]) => CONFIG_FIELDS.includes(name)))
  request.replace({ ...Object.fromEntries(entries.filter(([name]) => !CONFIG_FIELDS.includes(name))), config })
  request.at('config').note({
    level: 'changed',
    after: config,
    reason: 'The HTTP request is described in "config"; the first versions had these fields beside the id.',
  })
}

const isTruthy = (value: Json): boolean => value !== 'false' && Boolean(value)

function convertForEach(forEach: DocumentPart): void {
  if (forEach.value === undefined) return
  const items = forEach.at('items').value
  if (typeof items !== 'string' || items === '') {
    forEach.remove({ level: 'changed', reason: 'Without items, the field had no effect there.' })
    return
  }
  const concurrency = forEach.at('concurrency')
  const { value } = concurrency
  if (value === undefined) return
  const count = Number(textOf(value))
  if (count > 1000) {
    concurrency.set(1000, { level: 'differs', reason: 'Here at most 1000 calls of a request are in flight at once.' })
  } else if (!Number.isInteger(count) || count < 1) {
    concurrency.remove({
      level: 'differs',
      reason: 'The value is no number from 1 to 1000; without it, the calls are made one by one.',
    })
  } else if (typeof value !== 'number' && value !== String(count)) {
    concurrency.set(count, { level: 'changed', reason: 'The value is a number.' })
  }
}

function convertStatuses(statuses: DocumentPart): void {
  const { value } = statuses
  if (value === undefined) return
  if (!Array.isArray(value)) {
    statuses.remove({ level: 'changed', reason: 'The field had no effect there: it is a list of statuses.' })
    return
  }
  for (const status of statuses.parts()) {
    const { value: one } = status
    const isSound = (typeof one === 'string' || typeof one === 'number') && one !== '*' && parseStatusSet([one]).ok
    if (!isSound) status.remove({ level: 'changed', reason: 'No status matched the value there, so it had no effect.' })
  }
  if (statuses.parts().length > 0) return
  statuses.remove({
    level: 'differs',
    reason: 'There no status matched any of the values, so that every answer failed; here "2xx" is success.',
  })
}

function convertTopic(request: DocumentPart): void {
  const topic = request.at('kafkaProducerTopic')
  if (topic.value === '') topic.remove({ level: 'changed', reason: 'An empty topic had no effect there.' })
  const config = request.at('config')
  if (typeof topic.value !== 'string' || config.value === undefined) return
  config.remove({ level: 'changed', reason: 'The output goes to the topic; the request had no effect there.' })
}

/** The peer skipped response requests without an id, a URL or a method, and those without a topic. */
function dropUnsent(draft: DocumentPart): void {
  const responses = requestsOf(draft, 'response')
  const unsent = responses.filter(({ value }) => !isSent(value))
  for (const response of unsent) {
    response.remove({
      level: 'changed',
      reason:
        'That service made no response request without an id, a URL and a method, or a topic, so it had no effect there.',
    })
  }
  const left = requestsOf(draft, 'response')
  if (unsent.length === 0 || left.length !== 1) return
  left[0]?.note({
    level: 'differs',
    reason:
      'As the only response request, its answer is returned alone; there it was keyed by its id, since the list had other entries.',
  })
}

function isSent(request: Json | undefined): boolean {
  if (!isObject(request) || !request.id) return false
  const { config, kafkaProducerTopic } = request
  return Boolean(kafkaProducerTopic) || (isObject(config) && Boolean(config.url) && Boolean(config.method))
}

/** Of requests with the same id, the answer of the last one counted there; all of them were made. */
function convertIds(requests: readonly DocumentPart[], kind: RequestGroup): void {
  const taken = new Set(requests.map((request) => request.at('id').value))
  const last = new Map(requests.map((request) => [request.at('id').value, request]))
  for (const request of requests) {
    const id = request.at('id')
    if (typeof id.value !== 'string' || last.get(id.value) === request) continue
    const free = freeName(id.value, taken)
    taken.add(free)
    id.set(
      free,
      kind === 'lookup'
        ? { level: 'changed', reason: 'A later lookup has the same id, and its answer replaced this one.' }
        : {
            level: 'differs',
            reason: 'A later request has the same id, and its answer replaced this one; here the answer shows both.',
          },
    )
  }
}

/** `name`, or `name-2` and so on. */
export function freeName(name: string, taken: ReadonlySet<unknown>): string {
  for (let number = 2; ; number += 1) if (!taken.has(`${name}-${number}`)) return `${name}-${number}`
}

function convertPrimaries(responses: readonly DocumentPart[]): void {
  const marks = responses.flatMap((response) =>
    [response.at('primary'), response.at('config', 'primary')].filter(({ value }) => value !== undefined),
  )
  for (const mark of marks) {
    if (typeof mark.value === 'boolean') continue
    mark.set(isTruthy(mark.value ?? null), { level: 'changed', reason: 'The field is true or false.' })
  }
  const primary = responses.filter(
    (response) => response.at('primary').value === true || response.at('config', 'primary').value === true,
  )
  for (const mark of marks) {
    if (mark.value !== true || responses.length === 1) continue
    if (primary.length === 1) mark.note({ level: 'differs', reason: ONE_PRIMARY })
    else mark.remove({ level: 'differs', reason: SEVERAL_PRIMARY })
  }
}

const ONE_PRIMARY =
  'Later versions of that service drop this field and return the answers of all requests; here this answer is returned alone.'
const SEVERAL_PRIMARY =
  'Several requests are primary, and only one can be. Later versions of that service drop the field and return the answers of all requests, as happens here now.'

const LONGEST_TIMEOUT_MS = 300_000
const MOST_REDIRECTS = 10

/** Options that changed what was sent or read, and that this service does not have. */
const LOST_OPTIONS = [
  'responseType',
  'responseEncoding',
  'proxy',
  'socketPath',
  'transformRequest',
  'transformResponse',
  'paramsSerializer',
  'maxContentLength',
  'maxBodyLength',
  'decompress',
]

export function convertClientOptions(request: DocumentPart, kind: RequestGroup): void {
  const config = request.at('config')
  if (!isObject(config.value)) return
  convertTimeout(request, config.at('timeout'))
  convertRedirects(config)
  const data = config.at('data')
  if (data.value !== undefined) {
    const isReplaced = kind === 'response' || request.at('forwardExistingRequestBody').value === true
    data.remove(
      isReplaced
        ? { level: 'changed', reason: 'Another body replaced this one, so the field had no effect there.' }
        : { level: 'lost', reason: 'A lookup cannot send a fixed body here.' },
    )
  }
  for (const name of LOST_OPTIONS) {
    const option = config.at(name)
    if (option.value === undefined) continue
    const isDefault = name === 'responseType' && option.value === 'json'
    option.remove(
      isDefault
        ? { level: 'changed', reason: 'Answers are read as JSON without this option too.' }
        : { level: 'lost', reason: 'This option of the HTTP client of that service has no counterpart.' },
    )
  }
}

function convertTimeout(request: DocumentPart, timeout: DocumentPart): void {
  const { value } = timeout
  if (value === undefined) return
  const timeoutMs = Math.min(Math.round(Number(textOf(value))), LONGEST_TIMEOUT_MS)
  if (timeoutMs > 0 && request.at('timeoutMs').value === undefined) {
    request
      .at('timeoutMs')
      .set(timeoutMs, { level: 'changed', reason: 'The time limit of the request is this field here.' })
  }
  timeout.remove({ level: 'changed', reason: 'The time limit of a request is "timeoutMs" here.' })
}

function convertRedirects(config: DocumentPart): void {
  const redirects = config.at('maxRedirects')
  const { value } = redirects
  if (value === undefined) return
  const count = Math.min(Math.round(Number(textOf(value))), MOST_REDIRECTS)
  if (count >= 0)
    config.at('followRedirects').set(count, { level: 'changed', reason: 'The limit of redirects is this field here.' })
  redirects.remove({ level: 'changed', reason: 'The limit of redirects is "followRedirects" here.' })
}

/** Moves parameters of version 1, `params.NAME`, to `params.query.NAME`. */
export function convertOldParameters(params: DocumentPart, form: LookupForm): void {
  const { value } = params
  if (!isObject(value)) return
  const old = Object.entries(value).filter(([, parameter]) => isOldParameter(parameter))
  if (old.length === 0) return
  const names = new Set(old.map(([name]) => name))
  const kept = Object.entries(value).filter(([name]) => !names.has(name))
  const query = kept.find(([name]) => name === 'query')?.[1]
  const reason =
    form === 'bare'
      ? 'Parameters of the query are under "query" here.'
      : 'Parameters of the query are under "query" here; from version 2 on, that service did not read this one and sent the request without it.'
  for (const [name, parameter] of old) {
    params.at(name).note({
      level: form === 'bare' ? 'changed' : 'differs',
      before: parameter,
      after: { query: { [name]: withoutNulls(parameter as JsonObject) } },
      reason,
    })
  }
  const others = kept.filter(([name]) => name !== 'query')
  const sound = old.map(([name, parameter]) => [name, withoutNulls(parameter as JsonObject)])
  const moved: JsonObject = { ...(isObject(query) ? query : {}), ...Object.fromEntries(sound) }
  params.replace({ ...Object.fromEntries(others), query: moved })
}

const withoutNulls = (parameter: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(parameter).filter(([, value]) => value !== null))

/** Roots that a parameter could have there. With any other one, every message failed. */
const PEER_ROOTS: ReadonlySet<string> = new Set(
  'payload query transforms state lookupRequests responseBody urlParams constants timestamps item'.split(' '),
)

export type PathContext = Readonly<{ form: LookupForm; lookups: readonly Lookup[]; endpoint: Endpoint }>

export function convertRequestPaths(request: DocumentPart, kind: RequestGroup, context: PathContext): void {
  const hasItems = request.at('forEach').value !== undefined
  const before = kind === 'lookup' ? 'lookup' : 'respond'
  const items = request.at('forEach', 'items')
  if (items.value !== undefined) {
    convertPath(items, kind, context)
    if (isNothing(items, before, context)) {
      request.remove({
        level: 'lost',
        reason:
          'There is nothing at the path of "forEach.items", so that every message failed there; here messages go on without this request.',
      })
      return
    }
  }
  const stage = hasItems ? (`${before}-item` as const) : before
  for (const place of ['query', 'url'] as const) {
    const parameters = request.at('config', 'params', place)
    if (!isObject(parameters.value)) continue
    for (const parameter of parameters.parts()) convertParameter(parameter, kind, stage, context)
  }
}

function convertParameter(
  parameter: DocumentPart,
  kind: RequestGroup,
  stage: ReferenceStage,
  context: PathContext,
): void {
  const path = parameter.at('path')
  if (typeof path.value !== 'string' || path.value === '') {
    parameter.remove({ level: 'lost', reason: 'A parameter without a path made every message fail there.' })
    return
  }
  for (const affix of [parameter.at('prefix'), parameter.at('postfix')]) {
    if (affix.value === undefined || typeof affix.value === 'string') continue
    if (affix.value === false || affix.value === 0)
      affix.remove({ level: 'changed', reason: 'The value had no effect there.' })
    else affix.set(textOf(affix.value), { level: 'changed', reason: 'The value is a text.' })
  }
  const [root = ''] = path.value.trim().split('.')
  if (root === 'payload' && stage === 'lookup' && !hasBody(context.endpoint)) {
    parameter.remove({
      level: 'changed',
      reason: 'A message of this method has no body, so the parameter had no effect there; a ":name" is sent as it is.',
    })
    return
  }
  convertPath(path, kind, context)
  if (!isNothing(path, stage, context)) {
    if (PEER_ROOTS.has(root)) return
    path.note({
      level: 'differs',
      reason: `The parameter works here. There every message failed: parameters could not read "${root}".`,
    })
  } else if (PEER_ROOTS.has(root)) {
    parameter.remove({
      level: 'changed',
      reason: 'There is nothing at this path when the request is made, so the parameter had no effect there.',
    })
  } else {
    parameter.remove({ level: 'lost', reason: 'A message has no such part, so that every message failed there.' })
  }
}

/** The peer read a root alone as a field of that name below the root. */
function convertPath(path: DocumentPart, kind: RequestGroup, { form, lookups }: PathContext): void {
  const { value } = path
  if (typeof value !== 'string') return
  const trimmed = value.trim()
  if (trimmed !== value) path.set(trimmed, { level: 'changed', reason: 'Spaces around a path are not part of it.' })
  const joined = trimmed.replaceAll('.[', '[')
  if (joined !== trimmed) path.set(joined, { level: 'changed', reason: 'No dot stands before a bracket here.' })
  if (PEER_ROOTS.has(trimmed) && trimmed !== 'item') {
    path.set(`${trimmed}.${trimmed}`, {
      level: 'changed',
      reason: 'That service read this path as the field of that name in it.',
    })
    return
  }
  const moved = form === 'bare' && kind === 'response' ? withData(joined, lookups) : undefined
  if (moved !== undefined) path.set(moved, { level: 'changed', reason: 'The data of a lookup is under "data" here.' })
}

function isNothing({ value }: DocumentPart, stage: ReferenceStage, { endpoint }: PathContext): boolean {
  const path = parsePath(String(value))
  if (!path.ok) return true
  const lints: Lint[] = []
  checkPath(path.value, stage, endpoint, collectInto(lints))
  return lints.some(({ severity }) => severity === 'error')
}
