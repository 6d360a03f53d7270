/** `cache` of lookups: which answers may be kept, and for which requests they are the answers. */
import { createHash } from 'node:crypto'
import type { StatusSet } from '../../core/http.ts'
import { isObject } from '../../core/json.ts'
import type { CacheRule, Destination, PreparedRequest } from '../../core/ports/outbound-port.ts'
import { encodedForms, isSecretName, isSecretParameter } from '../../core/secrets/secrets.ts'
import type { LookupRequest, ResponseRequest } from '../../document/schema/schema.ts'
import { hasStatus } from '../../language/status-set.ts'
import type { CallScope } from './request-parameters.ts'

type LookupCache = Readonly<{
  rule: CacheRule
  /** The request with its key; without one if its answer must not be kept. */
  withKey(prepared: PreparedRequest, scope: CallScope): PreparedRequest
}>

/** `isOwn`: whether a header says nothing about the answer, as the service adds it for each message. */
export function compileCache(
  request: LookupRequest | ResponseRequest,
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
  // What else decides over the answer: endpoints share it only where it would be the same for both.
  const shared = JSON.stringify([cache, request.allowedStatuses ?? null, options])
  return {
    rule,
    withKey: (prepared, scope) => {
      if (showsCaller(prepared, scope)) return prepared
      const { method, url, headers, auth = {} } = prepared
      const sent = Object.entries(headers).filter(([name]) => !isOwn(name))
      const parts = JSON.stringify([shared, method, url, sent, auth])
      return { ...prepared, cacheKey: createHash('sha256').update(parts).digest('base64') }
    },
  }
}

/** In characters: a shorter part of a credential, such as "Basic", is none by itself. */
const MIN_CREDENTIAL = 8

/** Whether the request carries credentials of the caller: the answer is for that caller alone. */
function showsCaller({ url, headers }: PreparedRequest, { requestHeaders, query }: CallScope): boolean {
  const credentials = [...credentialsIn(requestHeaders, isSecretName), ...credentialsIn(query, isSecretParameter)]
  if (credentials.length === 0) return false
  const text = [url, ...Object.values(headers)].join('\n')
  return credentials.some((value) => encodedForms(value).some((form) => text.includes(form)))
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
