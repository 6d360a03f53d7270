/** Requests: which of them the peer made at all, their ids, and fields that it read in another way. */
import { isObject, type Json } from '../../../domain/json.ts'
import { parseStatusSet } from '../../../language/status-set.ts'
import { type DocumentPart, textOf } from '../draft.ts'

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
