/** Messages through a core: a client, a channel to a service, and the transactions that the core keeps of them. */
import { createHash } from 'node:crypto'
import { Agent, request } from 'undici'
import type { JsonObject } from '../../../../src/core/json.ts'
import { until } from '../../../support/until.ts'
import type { Core } from './start-core.ts'

const CLIENT = { id: 'tester', password: 'tester-password', role: 'testers' }

/** Adds the client that sends messages, with the role of `addChannel` and further ones. Once for each core. */
export async function addClient(core: Core, ...roles: readonly string[]): Promise<void> {
  const passwordSalt = 'salt'
  await added(core, '/clients', {
    clientID: CLIENT.id,
    clientDomain: 'tests.example.org',
    name: 'Tester',
    roles: [CLIENT.role, ...roles],
    passwordAlgorithm: 'sha512',
    passwordSalt,
    passwordHash: createHash('sha512').update(CLIENT.password).update(passwordSalt).digest('hex'),
  })
}

/** Sends messages whose path matches `urlPattern` (a regular expression) to a service. */
export async function addChannel(core: Core, urlPattern: string, service: string): Promise<void> {
  const { hostname, port } = new URL(service)
  await added(core, '/channels', {
    name: `to ${urlPattern}`,
    urlPattern,
    methods: ['GET', 'POST', 'PUT', 'DELETE'],
    type: 'http',
    allow: [CLIENT.role],
    authType: 'private',
    routes: [{ name: 'Crosswalk', host: hostname, port: Number(port), primary: true, type: 'http' }],
  })
}

async function added(core: Core, path: string, body: JsonObject): Promise<void> {
  const { status, text } = await core.call('POST', path, body)
  if (status !== 201) throw new Error(`The core refused ${path}: ${status} ${text}`)
}

export type Sent = Readonly<{ method: string; path: string; headers?: Record<string, string>; body?: string }>

export type Answer = Readonly<{ status: number; headers: Readonly<Record<string, unknown>>; text: string }>

/** Sends messages through the core as its client, `atOnce` at a time. Out: the answers, in the order of the messages. */
export async function sendThrough(core: Core, messages: readonly Sent[], atOnce = 8): Promise<Answer[]> {
  const agent = new Agent({ connections: atOnce })
  const authorization = `Basic ${Buffer.from(`${CLIENT.id}:${CLIENT.password}`).toString('base64')}`
  const answers: Answer[] = []
  const waiting = messages.entries()
  const work = async () => {
    for (const [at, { method, path, headers = {}, body }] of waiting) {
      const reply = await request(`${core.routerUrl}${path}`, {
        method,
        dispatcher: agent,
        headers: { authorization, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body }),
      })
      answers[at] = { status: reply.statusCode, headers: reply.headers, text: await reply.body.text() }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  await agent.close()
  return answers
}

/** As the core's API gives it; `status` is Processing until the core has stored the answer. */
export type Transaction = JsonObject &
  Readonly<{ _id: string; status: string; request: JsonObject; response?: JsonObject; orchestrations?: JsonObject[] }>

const PAGE = 100

/** All transactions, once there are `count` and none is under way. Rejects where that takes more than a minute. */
export function transactionsOf(core: Core, count: number): Promise<readonly Transaction[]> {
  const read = async () => {
    const all: Transaction[] = []
    for (let page = 0; ; page += 1) {
      const query = `filterPage=${page}&filterLimit=${PAGE}&filterRepresentation=full&filters=%7B%7D`
      const { status, body, text } = await core.call('GET', `/transactions?${query}`)
      if (status !== 200) throw new Error(`The core gave no transactions: ${status} ${text}`)
      const found = body as unknown as Transaction[]
      all.push(...found)
      if (found.length < PAGE) return all
    }
  }
  return until(read, (all) => all.length >= count && all.every(({ status }) => status !== 'Processing'))
}
