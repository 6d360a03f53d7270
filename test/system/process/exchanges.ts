/** The messages that meet the faults: lookups and response requests, with and without forEach and retries. */
import { type Agent, request } from 'node:http'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Truth } from './faults.ts'

export type Form = Readonly<{ kind: 'lookup' | 'response'; forEach: boolean; retries: boolean }>

export const FORMS: readonly Form[] = (['lookup', 'response'] as const).flatMap((kind) =>
  [false, true].flatMap((forEach) => [false, true].map((retries) => ({ kind, forEach, retries }))),
)

export const nameOf = ({ kind, forEach, retries }: Form): string =>
  `${kind}${forEach ? ' with forEach' : ''}${retries ? ' with retries' : ''}`

const ITEMS = 3

/** An endpoint whose only request goes to `url`, with the fault that it is to meet and what is to come back in its path. */
export function documentOf(form: Form, pattern: string, url: string, timeoutMs: number): JsonObject {
  const { kind, forEach, retries } = form
  const id = { path: forEach ? 'item.id' : 'payload.id' }
  const call: JsonObject = {
    id: 'call',
    timeoutMs,
    retries: retries ? 2 : 0,
    config: {
      method: kind === 'lookup' ? 'GET' : 'PUT',
      url: `${url}/:fault/:id`,
      params: { url: { fault: { path: 'payload.fault' }, id } },
    },
    ...(forEach ? { forEach: { items: 'payload.items', concurrency: ITEMS } } : {}),
  }
  const found = forEach
    ? { 'lookupRequests.call[].data.path': 'call[].path' }
    : { 'lookupRequests.call.data.path': 'path' }
  return {
    name: pattern,
    endpoint: { pattern },
    transformation: { input: 'JSON', output: 'JSON' },
    requests: { [kind]: [call] },
    ...(kind === 'lookup' ? { inputMapping: found } : {}),
  }
}

export const bodyOf = ({ forEach }: Form, fault: string, id: string): JsonObject =>
  forEach ? { fault, items: Array.from({ length: ITEMS }, (_, n) => ({ id: `${id}-${n}` })) } : { fault, id }

export type Reply = Readonly<{ status: number; partial: boolean; body: Json; ms: number }>

/** A body that was passed on as it came is text. */
function jsonOr(text: string): Json {
  try {
    return JSON.parse(text || 'null')
  } catch {
    return text
  }
}

export function send(agent: Agent, url: string, body: JsonObject): Promise<Reply> {
  const startedAt = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method: 'POST', agent, headers: { 'content-type': 'application/json' } },
      (response) => {
        const chunks: Buffer[] = []
        response.on('error', reject)
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            partial: response.headers['x-crosswalk-status'] === 'partial',
            body: jsonOr(Buffer.concat(chunks).toString()),
            ms: performance.now() - startedAt,
          })
        })
      },
    )
    sent.on('error', reject)
    sent.end(JSON.stringify(body))
  })
}

const STATUSES: Readonly<Record<string, number>> = { UNREACHABLE: 502, TIMED_OUT: 504, UNREADABLE: 502 }

/**
 * What each call of a message came to, as its answer reports; or, as a text, what is wrong with the answer itself: a status
 * that does not fit its code, the answer of another message.
 */
export function truthsOf(
  form: Form,
  fault: string,
  id: string,
  { status, partial, body }: Reply,
): readonly Truth[] | string {
  if (form.kind === 'lookup' && typeof body === 'string') return 'an answer that is not JSON'
  const whole = body as JsonObject
  const reported = (one: Json, own: string): Truth | string => {
    const { code, path } = (one ?? {}) as JsonObject
    if (typeof code !== 'string')
      return path === undefined || path === own ? 'answered' : `the answer of ${JSON.stringify(path)}`
    const [, kind, truth = ''] = /^(LOOKUP|RESPONSE)_(.*)$/.exec(code) ?? []
    return kind === form.kind.toUpperCase() && truth in STATUSES ? (truth as Truth) : `the code ${code}`
  }
  const isWhole = !form.forEach || typeof body === 'string' || 'code' in whole
  const truths = isWhole
    ? [reported(whole, `/${fault}/${id}`)]
    : (whole.call as Json[]).map((one, index) => reported(one, `/${fault}/${id}-${index}`))
  const wrong = truths.find((truth) => truth !== 'answered' && !(truth in STATUSES))
  if (wrong !== undefined) return wrong
  const [first = ''] = truths
  const expected = isWhole && first !== 'answered' ? STATUSES[first] : 200
  if (status !== expected) return `status ${status} with ${first}`
  if (!isWhole && partial !== truths.some((truth) => truth !== 'answered')) return `partial: ${partial}`
  return truths as Truth[]
}
