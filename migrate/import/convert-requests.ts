/** Requests: which of them the peer made at all, their fields, and their paths, which it read in another way. */

import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { checkPath } from '../../src/document/checks/path-roots.ts'
import { hasBody } from '../../src/document/doors.ts'
import type { Endpoint } from '../../src/document/schema/schema.ts'
import type { ReferenceStage } from '../../src/document/schema/schema-fields.ts'
import { parsePath } from '../../src/language/paths/path.ts'
import { parseStatusSet } from '../../src/language/status-set.ts'
import { applyRules, type ChangeLevel, type DocumentPart, drop, faultsIn, type Rule, rewrite, toText } from './draft.ts'
import { isOldParameter, type Lookup, type LookupForm, withData } from './lookup-forms.ts'

export const REQUEST_GROUPS = ['lookup', 'response'] as const
export type RequestGroup = (typeof REQUEST_GROUPS)[number]

/** The requests of a kind that are still there; a single one needs no array. */
export function listRequests(draft: DocumentPart, kind: RequestGroup): readonly DocumentPart[] {
  const requests = draft.at('requests', kind)
  if (isObject(requests.value)) return [requests]
  return Array.isArray(requests.value) ? requests.parts() : []
}

export function convertRequests(draft: DocumentPart): void {
  for (const kind of REQUEST_GROUPS) {
    for (const request of listRequests(draft, kind)) {
      if (isObject(request.value)) {
        liftConfig(request)
        convertFields(request, kind)
      } else request.remove('changed', 'This is not a request, so nothing was sent there.')
    }
    if (kind === 'response') dropUnsent(draft)
    convertIds(listRequests(draft, kind), kind)
  }
  convertPrimaries(listRequests(draft, 'response'))
}

type RequestContext = Readonly<{ kind: RequestGroup; request: DocumentPart }>

const hasItems = (forEach: Json): boolean =>
  isObject(forEach) && typeof forEach.items === 'string' && forEach.items !== ''

const isNoStatus = (value: Json): boolean =>
  (typeof value !== 'string' && typeof value !== 'number') || value === '*' || !parseStatusSet([value]).ok

const isTruthy = (value: Json): boolean => value !== 'false' && Boolean(value)

const numberIn = (value: Json): number => Number(toText(value))

const isText = (value: Json): value is string => typeof value === 'string'

const flagRule = (at: string): Rule<RequestContext> =>
  rewrite('changed', 'The field is true or false.', at, isTruthy, (value) => typeof value !== 'boolean')

const ID_RULE: Rule = rewrite('changed', 'An id is a text.', 'id', String, (id) => /number|boolean/.test(typeof id))

const FIELD_RULES: readonly Rule<RequestContext>[] = [
  drop(
    'changed',
    'A response request sends the output; the field had no effect there.',
    'forwardExistingRequestBody',
    (_value, { kind }) => kind === 'response',
  ),
  flagRule('forwardExistingRequestBody'),
  flagRule('fhirResponse'),
  drop('changed', 'Without items, the field had no effect there.', 'forEach', (forEach) => !hasItems(forEach)),
  rewrite('differs', 'Here at most 1000 calls of a request are in flight at once.', 'forEach.concurrency', (value) =>
    numberIn(value) > 1000 ? 1000 : value,
  ),
  drop(
    'differs',
    'The value is not a number from 1 to 1000; without it, the calls are made one by one.',
    'forEach.concurrency',
    (value) => !Number.isInteger(numberIn(value)) || numberIn(value) < 1,
  ),
  rewrite('changed', 'The value is a number.', 'forEach.concurrency', (value) =>
    value === String(numberIn(value)) ? value : numberIn(value),
  ),
  drop(
    'changed',
    'The field had no effect there: it is a list of statuses.',
    'allowedStatuses',
    (value) => !Array.isArray(value),
  ),
  drop('changed', 'No status matched the value there, so it had no effect.', 'allowedStatuses.[]', isNoStatus),
  drop(
    'differs',
    'There no status matched any of the values, so that every answer failed; here "2xx" is success.',
    'allowedStatuses',
    (value) => Array.isArray(value) && value.every((one: Json | undefined) => one === undefined),
  ),
  drop('changed', 'An empty topic had no effect there.', 'kafkaProducerTopic', (topic) => topic === ''),
]

function convertFields(request: DocumentPart, kind: RequestGroup): void {
  const id = request.at('id')
  if (kind === 'lookup' && (id.value === undefined || id.value === '')) {
    const reason = 'Here every request has an id; this is the name that the lookup had there.'
    id.set(id.value === undefined ? 'undefined' : 'unnamed', 'changed', reason)
  }
  applyRules(request, [ID_RULE, ...FIELD_RULES], { kind, request })
  const [statuses, config] = [request.at('allowedStatuses'), request.at('config')]
  if (kind === 'response' && statuses.value !== undefined) {
    statuses.note(
      'differs',
      'Later versions of that service drop this field of a response request; here it says which answers are a success.',
    )
  }
  if (config.value !== undefined && isText(request.at('kafkaProducerTopic').value ?? null))
    config.remove('changed', 'The output goes to the topic; the request had no effect there.')
}

/** Fields that the first versions had in the request itself. */
const CONFIG_FIELDS = ['method', 'url', 'headers', 'params']

/** Later versions took no request without `config`, so one with a URL of its own is of that time. */
function liftConfig(request: DocumentPart): void {
  const { value } = request
  if (!isObject(value) || value.config !== undefined || typeof value.url !== 'string') return
  const { true: lifted = [], false: kept = [] } = Object.groupBy(Object.entries(value), ([name]) =>
    CONFIG_FIELDS.includes(name) ? 'true' : 'false',
  )
  const config = Object.fromEntries(lifted)
  request.replace({ ...Object.fromEntries(kept), config })
  request
    .at('config')
    .note('changed', 'The HTTP request is described in "config"; the first versions had these fields beside the id.', {
      after: config,
    })
}

/** The peer skipped response requests without an id, a URL or a method, and those without a topic. */
function dropUnsent(draft: DocumentPart): void {
  const unsent = listRequests(draft, 'response').filter(({ value }) => !isSent(value))
  for (const response of unsent) {
    response.remove(
      'changed',
      'That service made no response request without an id, a URL and a method, or a topic, so it had no effect there.',
    )
  }
  const [only, ...others] = listRequests(draft, 'response')
  if (unsent.length === 0 || others.length > 0) return
  only?.note(
    'differs',
    'As the only response request, its answer is returned alone; there it was keyed by its id, since the list had other entries.',
  )
}

function isSent(request: Json | undefined): boolean {
  if (!isObject(request) || !request.id) return false
  const { config, kafkaProducerTopic } = request
  return Boolean(kafkaProducerTopic) || (isObject(config) && Boolean(config.url) && Boolean(config.method))
}

const SAME_ID: Readonly<Record<RequestGroup, readonly [ChangeLevel, string]>> = {
  lookup: ['changed', 'A later lookup has the same id, and its answer replaced this one.'],
  response: [
    'differs',
    'A later request has the same id, and its answer replaced this one; here the answer shows both.',
  ],
}

/** Of requests with the same id, the answer of the last one counted there; all of them were made. */
function convertIds(requests: readonly DocumentPart[], kind: RequestGroup): void {
  const last = new Map(requests.map((request) => [request.at('id').value, request]))
  const taken = new Set(last.keys())
  for (const request of requests) {
    const id = request.at('id')
    if (typeof id.value !== 'string' || last.get(id.value) === request) continue
    const free = freeName(id.value, taken)
    taken.add(free)
    id.set(free, ...SAME_ID[kind])
  }
}

/** `name`, or `name-2` and so on. */
export function freeName(name: string, taken: ReadonlySet<unknown>): string {
  for (let number = 2; ; number += 1) if (!taken.has(`${name}-${number}`)) return `${name}-${number}`
}

function convertPrimaries(responses: readonly DocumentPart[]): void {
  const listMarks = (response: DocumentPart) => [response.at('primary'), response.at('config', 'primary')]
  const marks = responses.flatMap(listMarks).filter(({ value }) => value !== undefined)
  for (const mark of marks) applyRules(mark, [flagRule('')], { kind: 'response', request: mark })
  const primary = responses.filter((response) => listMarks(response).some(({ value }) => value === true))
  for (const mark of marks) {
    if (mark.value !== true || responses.length === 1) continue
    if (primary.length === 1) mark.note('differs', ONE_PRIMARY)
    else mark.remove('differs', SEVERAL_PRIMARY)
  }
}

const ONE_PRIMARY =
  'Later versions of that service drop this field and return the answers of all requests; here this answer is returned alone.'
const SEVERAL_PRIMARY =
  'Several requests are primary, and only one can be. Later versions of that service drop the field and return the answers of all requests, as happens here now.'

/** Numbers that the peer's HTTP client had in `config`, and their fields here. */
const LIMITS = [
  {
    from: ['config', 'timeout'],
    to: ['timeoutMs'],
    replaces: false,
    min: 1,
    max: 300_000,
    reasons: ['The time limit of the request is this field here.', 'The time limit of a request is "timeoutMs" here.'],
  },
  {
    from: ['config', 'maxRedirects'],
    to: ['config', 'followRedirects'],
    replaces: true,
    min: 0,
    max: 10,
    reasons: ['The limit of redirects is this field here.', 'The limit of redirects is "followRedirects" here.'],
  },
] as const

/** Options of the peer's HTTP client that changed what was sent or read, and that this service does not have. */
const LOST_OPTIONS =
  'responseType responseEncoding proxy socketPath transformRequest transformResponse paramsSerializer maxContentLength maxBodyLength decompress'

const OPTION_RULES: readonly Rule<RequestContext>[] = [
  drop(
    'changed',
    'Another body replaced this one, so the field had no effect there.',
    'config.data',
    (_data, { kind, request }) => kind === 'response' || request.at('forwardExistingRequestBody').value === true,
  ),
  drop('lost', 'A lookup cannot send a fixed body here.', 'config.data'),
  drop(
    'changed',
    'Answers are read as JSON without this option too.',
    'config.responseType',
    (type) => type === 'json',
  ),
  ...LOST_OPTIONS.split(' ').map((name) =>
    drop('lost', 'This option of the HTTP client of that service has no counterpart.', `config.${name}`),
  ),
]

/** Fields of `config` that the peer handed to its HTTP client. */
export function convertClientOptions(request: DocumentPart, kind: RequestGroup): void {
  for (const { from, to, replaces, min, max, reasons } of LIMITS) {
    const [old, field] = [request.at(...from), request.at(...to)]
    if (old.value === undefined) continue
    const limit = Math.min(Math.round(Number(toText(old.value))), max)
    if (limit >= min && (replaces || field.value === undefined)) field.set(limit, 'changed', reasons[0])
    old.remove('changed', reasons[1])
  }
  applyRules(request, OPTION_RULES, { kind, request })
}

/** Moves parameters of version 1, `params.NAME`, to `params.query.NAME`. */
export function convertOldParameters(params: DocumentPart, form: LookupForm): void {
  const { value } = params
  if (!isObject(value)) return
  const isOld = ([, parameter]: readonly [string, Json]) => isOldParameter(parameter)
  const old = Object.entries(value)
    .filter(isOld)
    .map(([name, parameter]) => [name, withoutNulls(parameter as JsonObject)] as const)
  if (old.length === 0) return
  const { query, ...others } = Object.fromEntries(Object.entries(value).filter((one) => !isOld(one)))
  const moved = 'Parameters of the query are under "query" here'
  for (const [name, parameter] of old) {
    const shown = { before: value[name], after: { query: { [name]: parameter } } }
    if (form === 'bare') params.at(name).note('changed', `${moved}.`, shown)
    else {
      const reason = `${moved}; from version 2 on, that service did not read this one and sent the request without it.`
      params.at(name).note('differs', reason, shown)
    }
  }
  params.replace({ ...others, query: { ...(isObject(query) ? query : {}), ...Object.fromEntries(old) } })
}

const withoutNulls = (parameter: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(parameter).filter(([, value]) => value !== null))

/** Roots that a parameter could have there. With any other one, every message failed. */
const PEER_ROOTS: ReadonlySet<string> = new Set(
  'payload query transforms state lookupRequests responseBody urlParams constants timestamps item'.split(' '),
)

export type PathContext = Readonly<{ form: LookupForm; lookups: readonly Lookup[]; endpoint: Endpoint }>

/** Paths of a request: parameters and `forEach.items`. The peer read them in another way than the sources of a mapping. */
export function convertRequestPaths(request: DocumentPart, kind: RequestGroup, context: PathContext): void {
  const hasForEach = request.at('forEach').value !== undefined
  const before = kind === 'lookup' ? 'lookup' : 'respond'
  const items = request.at('forEach', 'items')
  if (items.value !== undefined) {
    convertPath(items, kind, context)
    if (findsNothing(items, before, context)) {
      request.remove(
        'lost',
        'There is nothing at the path of "forEach.items", so that every message failed there; here messages go on without this request.',
      )
      return
    }
  }
  const stage = hasForEach ? (`${before}-item` as const) : before
  for (const place of ['query', 'url']) {
    const parameters = request.at('config', 'params', place)
    if (!isObject(parameters.value)) continue
    for (const parameter of parameters.parts()) convertParameter(parameter, kind, stage, context)
  }
}

const AFFIX_RULES: readonly Rule[] = ['prefix', 'postfix'].flatMap((at) => [
  drop('changed', 'The value had no effect there.', at, (affix) => affix === false || affix === 0),
  rewrite('changed', 'The value is a text.', at, toText),
])

function convertParameter(
  parameter: DocumentPart,
  kind: RequestGroup,
  stage: ReferenceStage,
  context: PathContext,
): void {
  const path = parameter.at('path')
  if (typeof path.value !== 'string' || path.value === '') {
    parameter.remove('lost', 'A parameter without a path made every message fail there.')
    return
  }
  applyRules(parameter, AFFIX_RULES, undefined)
  const [root = ''] = path.value.trim().split('.')
  if (root === 'payload' && stage === 'lookup' && !hasBody(context.endpoint)) {
    parameter.remove(
      'changed',
      'A message of this method has no body, so the parameter had no effect there; a ":name" is sent unchanged.',
    )
    return
  }
  convertPath(path, kind, context)
  const isKnown = PEER_ROOTS.has(root)
  if (!findsNothing(path, stage, context)) {
    const reason = `The parameter works here. There every message failed: parameters could not read "${root}".`
    if (!isKnown) path.note('differs', reason)
  } else if (isKnown) {
    parameter.remove(
      'changed',
      'There is nothing at this path when the request is made, so the parameter had no effect there.',
    )
  } else parameter.remove('lost', 'A message has no such part, so that every message failed there.')
}

const isRootAlone = (path: Json): boolean => isText(path) && PEER_ROOTS.has(path) && path !== 'item'

const PATH_RULES: readonly Rule[] = [
  rewrite('changed', 'Spaces around a path are not part of it.', '', (path) => String(path).trim()),
  rewrite('changed', 'No dot is before a bracket here.', '', (path) => String(path).replaceAll('.[', '[')),
  rewrite(
    'changed',
    'That service read this path as the field of that name in it.',
    '',
    (root) => `${root}.${root}`,
    isRootAlone,
  ),
]

/** The peer read a root alone as a field of that name below the root. */
function convertPath(path: DocumentPart, kind: RequestGroup, { form, lookups }: PathContext): void {
  const { value } = path
  if (typeof value !== 'string') return
  applyRules(path, PATH_RULES, undefined)
  if (isRootAlone(value.trim())) return
  const moved = form === 'bare' && kind === 'response' ? withData(String(path.value), lookups) : undefined
  if (moved !== undefined) path.set(moved, 'changed', 'The data of a lookup is under "data" here.')
}

/** True if a path finds nothing at a stage, whatever the message. The peer makes all lookups at once: none reads another. */
function findsNothing({ value }: DocumentPart, stage: ReferenceStage, { endpoint }: PathContext): boolean {
  const path = parsePath(String(value))
  if (path.ok && stage.startsWith('lookup') && path.value.root === 'lookupRequests') return true
  return !path.ok || faultsIn((lint) => checkPath(path.value, stage, endpoint, lint)).length > 0
}
