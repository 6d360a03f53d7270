/** `cache` of lookups: which answers may be kept, and for which requests they are the answers. */
import { createHash } from 'node:crypto'
import type { StatusSet } from '../../core/http.ts'
import { isObject } from '../../core/json.ts'
import type { CacheRule, Destination } from '../../core/ports/destination.ts'
import type { PreparedRequest } from '../../core/ports/outbound-port.ts'
import { encodedForms, isSecretName, isSecretParameter } from '../../core/secrets/secrets.ts'
import type { Endpoint, LookupRequest, ParameterSpec, ResponseRequest } from '../../document/schema/schema.ts'
import { OPTION_SCHEMAS } from '../../formats/codecs.ts'
import { hasStatus } from '../../language/status-set.ts'
import type { CallScope } from './request-parameters.ts'

type LookupCache = Readonly<{
  rule: CacheRule
  /** The request with its key; without one if it carries credentials of the caller, as its answer is for that caller alone. */
  withKey(prepared: PreparedRequest, scope: CallScope): PreparedRequest
}>

/** `isOwn`: whether a header says nothing about the answer, as the service adds it for each message. */
export function compileCache(
  request: LookupRequest | ResponseRequest,
  endpoint: Endpoint,
  allowed: StatusSet,
  options: Destination['options'],
  isOwn: (header: string) => boolean,
): LookupCache | undefined {
  const cache = 'cache' in request ? request.cache : undefined
  if (cache === undefined) return undefined
  const { seconds, staleSeconds = 0 } = cache
  const rule = {
    freshMs: seconds * 1_000,
    staleMs: staleSeconds * 1_000,
    allows: (status: number) => hasStatus(allowed, status),
  }
  // What else decides over the answer, and whether it may stay: endpoints share it only where it would be the same for both.
  const { validation = null } = request as LookupRequest
  const formats = (Object.keys(OPTION_SCHEMAS) as (keyof typeof OPTION_SCHEMAS)[]).map(
    (field) => endpoint[field] ?? null,
  )
  const shared = JSON.stringify([cache, request.allowedStatuses ?? null, validation, formats, options])
  // Whatever such a header is made of, it may be of the caller, unless it is the document's own.
  const credentials = Object.entries(request.config?.headers ?? {})
    .filter(([name, value]) => typeof value !== 'string' && isSecretName(name) && !isConstant(value))
    .map(([name]) => name.toLowerCase())
  /** By the headers of the message: the items of a forEach have the same. */
  const known = new WeakMap<object, readonly string[] | undefined>()
  const formsFor = ({ requestHeaders, query }: CallScope): readonly string[] | undefined => {
    if (!isObject(requestHeaders)) return []
    if (!known.has(requestHeaders)) {
      const parts = [...credentialsIn(requestHeaders, isSecretName), ...credentialsIn(query, isSecretParameter)]
      known.set(requestHeaders, parts.length > MAX_PARTS ? undefined : parts.flatMap(encodedForms))
    }
    return known.get(requestHeaders)
  }
  return {
    rule,
    withKey: (prepared, scope) => {
      if (credentials.some((name) => Object.hasOwn(prepared.headers, name))) return prepared
      if (showsAny(prepared, formsFor(scope))) return prepared
      const { method, headers, auth = {} } = prepared
      const sent = Object.entries(headers).filter(([name]) => !isOwn(name))
      const parts = JSON.stringify([shared, method, sent, auth])
      return { ...prepared, cacheKey: createHash('sha256').update(parts).digest('base64') }
    },
  }
}

const isConstant = ({ path = '' }: ParameterSpec): boolean => /^constants\b/.test(path)

/** In characters: a shorter part of a credential, such as "Basic", is none by itself. */
const MIN_CREDENTIAL = 8
/** A caller who sends more parts gets no answer from the cache: looking for all of them takes long. */
const MAX_PARTS = 100

/** Whether the request carries one of the texts. Undefined: too many. */
function showsAny({ url, headers }: PreparedRequest, texts: readonly string[] | undefined): boolean {
  if (texts?.length === 0) return false
  const sent = [url, ...Object.values(headers)].join('\n')
  return texts?.some((text) => sent.includes(text)) ?? true
}

/** The values under such names, and their parts: a document may send on the token of a header alone. */
function credentialsIn(values: unknown, isName: (name: string) => boolean): readonly string[] {
  if (!isObject(values)) return []
  return Object.entries(values)
    .filter(([name]) => isName(name))
    .flatMap(([, value]) => [value].flat())
    .filter((value) => typeof value === 'string')
    .flatMap((value) => [value, ...value.split(/[\s;,=]+/).filter((part) => part.length >= MIN_CREDENTIAL)])
}
