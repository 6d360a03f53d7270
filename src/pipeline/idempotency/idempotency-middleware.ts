/** The setting `idempotency` of an endpoint: a message whose sender gave it a key is processed once. */
import { createHash } from 'node:crypto'
import { Failure } from '../../core/failure.ts'
import type { Awaitable, JsonObject } from '../../core/json.ts'
import type { Received } from '../../core/message.ts'
import type { Run } from '../../core/run.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import type { Handle, Outcome } from '../outcome.ts'
import { failedOutcome } from '../reply.ts'
import { KEY_HEADER, readIdempotencyKey } from './idempotency-key.ts'
import type { IdempotencyService } from './idempotency-service.ts'

/**
 * Runs one request; never throws or rejects. `caller`: the authenticated sender, if the endpoint demands one. Different
 * callers never share a key.
 */
export type KeyedHandle = (message: Received, run: Run, caller?: string) => Awaitable<Outcome>

const HOUR_MS = 3_600_000
const DEFAULT_HOURS = 24

/** `id`: of the endpoint; `handle` runs its messages. Out: undefined if the endpoint has no `idempotency`. */
export function compileIdempotency(
  endpoint: Endpoint,
  id: string,
  handle: Handle,
  service: IdempotencyService,
): KeyedHandle | undefined {
  const { idempotency } = endpoint
  if (idempotency === undefined) return undefined
  const { required = false, hours = DEFAULT_HOURS } = idempotency

  const runKeyed = async (header: string, message: Received, run: Run, caller = ''): Promise<Outcome> => {
    const key = readIdempotencyKey(header)
    if (!key.ok) throw new Failure('IDEMPOTENCY_KEY_INVALID', key.message)
    const request = {
      endpointId: id,
      key: computeHash([caller, key.value]),
      fingerprint: computeFingerprint(message, run),
    }
    return service.process({ request, ttlMs: hours * HOUR_MS, work: async () => handle(message, run) }, run)
  }
  const fail = (thrown: unknown, { messageId }: Run): Outcome => failedOutcome(thrown, endpoint, messageId)
  return (message, run, caller) => {
    const header = message.requestHeaders[KEY_HEADER]
    if (header !== undefined) return runKeyed(header, message, run, caller).catch((thrown) => fail(thrown, run))
    return required ? fail(new Failure('IDEMPOTENCY_KEY_MISSING', MISSING), run) : handle(message, run)
  }
}

const MISSING =
  'This endpoint accepts only messages with a key: send the header Idempotency-Key with a text of your own in double quotes, and the same text when you send the same message again.'

const computeHash = (values: readonly unknown[], body?: Uint8Array): string => {
  const hash = createHash('sha256').update(JSON.stringify(values))
  return (body === undefined ? hash : hash.update('\n').update(body)).digest('base64url')
}

/** Path, query, body, and the headers that say how to read the body. Proxies change other headers. */
const computeFingerprint = ({ urlParams, query, requestHeaders }: Received, { body }: Run): string =>
  computeHash(
    [sorted(urlParams), sorted(query), requestHeaders['content-type'] ?? '', requestHeaders['content-encoding'] ?? ''],
    body,
  )

const sorted = (values: JsonObject): readonly unknown[] =>
  Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1))
