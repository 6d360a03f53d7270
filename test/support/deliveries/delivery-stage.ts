/** The management of deliveries over a store in memory, which the tests fill. */
import { addAuthHook } from '../../../src/api/auth-hook.ts'
import { deliveryRoutes } from '../../../src/api/deliveries.ts'
import { addRoutes } from '../../../src/api/register.ts'
import type { Api } from '../../../src/api/services.ts'
import { ROLES } from '../../../src/core/access.ts'
import type { DeliveryAttempt, DeliveryState, NewDelivery } from '../../../src/core/deliveries/delivery.ts'
import { createIds } from '../../../src/core/id.ts'
import type { Json } from '../../../src/core/json.ts'
import { createDeliveryService } from '../../../src/deliveries/delivery-service.ts'
import { createEndpointRegistry } from '../../../src/endpoints/endpoint-registry.ts'
import { createServer } from '../../../src/inbound/http/server.ts'
import { answerFailure } from '../../../src/pipeline/reply.ts'
import type { AuditEntry } from '../../../src/store/sql/audit-store.ts'
import type { DeliveryStore } from '../../../src/store/sql/delivery-store.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { type Called, call } from '../inbound/http/management/call.ts'
import { readTestSettings } from '../service.ts'
import { silent } from '../silent.ts'

export const ENDPOINT_ID = 'e'.repeat(24)

export const REQUEST: NewDelivery['request'] = {
  to: { target: 'http', address: '', options: { retries: 0 } },
  method: 'POST',
  url: 'http://lab.test/orders/7',
  query: 'patient=17',
  headers: { authorization: 'Bearer ${env:LAB_TOKEN}', 'x-api-key': 'literal', accept: 'application/json' },
  values: { 'x-patient': '17', cookie: 'session=abcdefghijklmnop' },
  key: null,
  contentType: 'application/json',
  allowed: { any: false, ranges: [] },
  timeoutMs: 1_000,
  rules: { scheduleMs: [0], giveUpAfterMs: 1_000 },
}

type DeliveryStage = {
  url: string
  get(path: string): Promise<Called>
  /** Sends JSON where there is a body. */
  post(path: string, body?: Json): Promise<Called>
  store: DeliveryStore
  /** Makes attempts as a sender does, and leaves the delivery in that state. */
  leave(id: string, state: DeliveryState, attempts?: readonly DeliveryAttempt[]): Promise<void>
  /** Stores a delivery; resolves to its id. */
  add(delivery?: Partial<NewDelivery>): Promise<string>
  /** What the audit log got. */
  entries: Partial<AuditEntry>[]
  /** What was replayed, and what each replay ends as. */
  replays: Parameters<Records['replayByHand']>[]
  outcome: 'done' | 'failed' | 'blocked'
  stop(): Promise<void>
}

type Records = Parameters<typeof createDeliveryService>[0]['records']

/** `env`: settings by their names. */
export async function openDeliveryStage(env: Readonly<Record<string, string>> = {}): Promise<DeliveryStage> {
  const settings = readTestSettings(env)
  const newId = createIds(Date.now, 1)
  const { deliveries: store, close } = await openSqliteStore({ path: ':memory:', logger: silent })
  const entries: Partial<AuditEntry>[] = []
  const stage = { outcome: 'done' as DeliveryStage['outcome'] }
  const replays: DeliveryStage['replays'] = []
  const records: Records = {
    search: { get: async (id) => ({ id, calls: [], notMade: [] }) as never },
    replayByHand: async (...given) => {
      replays.push(given)
      const { outcome } = stage
      if (outcome === 'blocked')
        return { replayed: { blocker: { reason: 'not-kept', error: 'It was not kept.' } } } as never
      const code = outcome === 'done' ? '' : 'MAPPING_FAILED'
      return { replayed: { completed: { messageId: newId(), outcome, code }, bodyOnly: false } } as never
    },
  }
  const deliveries = createDeliveryService({
    store,
    registry: createEndpointRegistry(),
    records,
    settings,
    clock: Date.now,
  })
  const server = createServer(settings, answerFailure)
  addAuthHook(server, {
    authorise: async () => ({ caller: { who: 'local', roles: ROLES } }),
    audit: {
      record: async (...notes) => void entries.push(...notes),
      toAuditEntry: (note) => ({ id: newId(), at: '', ...note }),
    },
  })
  addRoutes(server, deliveryRoutes, { deliveries } as Api)
  const base = await server.listen({ host: '127.0.0.1', port: 0 })
  const headers = { 'content-type': 'application/json' }
  return {
    url: base,
    store,
    entries,
    replays,
    get outcome() {
      return stage.outcome
    },
    set outcome(outcome) {
      stage.outcome = outcome
    },
    get: (path) => call(base, 'GET', path),
    post: (path, body) =>
      call(base, 'POST', path, { headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }),
    add: async (delivery) => {
      const id = newId()
      const names = { messageId: newId(), endpointId: ENDPOINT_ID, endpoint: 'Orders', requestId: 'store' }
      const content = { target: 'http://lab.test', request: REQUEST, body: '{"a":1}' }
      await store.accept([{ id, ...names, ...content, ...delivery }], Number.POSITIVE_INFINITY)
      return id
    },
    leave: (id, state, attempts = []) => leave(store, id, state, attempts),
    stop: async () => {
      await server.close()
      await close()
    },
  }
}

async function leave(store: DeliveryStore, id: string, state: DeliveryState, attempts: readonly DeliveryAttempt[]) {
  if (state === 'cancelled') return void (await store.cancel([id]))
  const target = (await store.get(id))?.target ?? ''
  const ends = attempts.length === 0 && state !== 'pending' ? [undefined] : attempts
  for (const [at, attempt] of ends.entries()) {
    const claimed = await store.claim('test', target, 1_000, 60_000)
    const isLast = at === ends.length - 1
    await store.end(
      claimed.map(({ delivery, lease }) => {
        if (delivery.id !== id) return { id: delivery.id, lease, attempt: undefined, state: 'pending', dueInMs: 0 }
        const next = isLast && state !== 'pending' ? { state } : ({ state: 'pending', dueInMs: 0 } as const)
        return { id, lease, attempt, ...next }
      }),
    )
  }
}
