/** Fields of `config` that the peer handed to its HTTP client, and parameters in the form of version 1. */
import { isObject, type Json, type JsonObject } from '../../../domain/json.ts'
import { type DocumentPart, textOf } from '../draft.ts'
import type { LookupForm } from '../lookup-paths.ts'
import type { RequestGroup } from './convert-requests.ts'

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

/** Under `query` and `url` are parameters by name; a parameter itself has the text `path`. */
const isOldParameter = (value: Json): boolean => isObject(value) && typeof value.path === 'string'

/** Whether a request of the document has parameters in the form of version 1. */
export function hasOldParameters({ requests }: JsonObject): boolean {
  if (!isObject(requests)) return false
  return [requests.lookup, requests.response].flat().some((request) => {
    const params = isObject(request) && isObject(request.config) ? request.config.params : undefined
    return isObject(params) && Object.values(params).some(isOldParameter)
  })
}
