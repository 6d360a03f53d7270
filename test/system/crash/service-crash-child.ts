/** Runs the service and calls it until it is killed, announcing each call: `service-crash-child.ts <folder> <seed>`. */

import type { JsonObject } from '../../../src/core/json.ts'
import { endpointDocument, json, type Reply, type StoredEndpoint, startService } from '../../support/service.ts'
import { announce } from './announce.ts'
import { sealed } from './crash-documents.ts'
import { ABSENT } from './crash-rounds.ts'
import { createRandom } from './random.ts'
import { type CrashAnswer, crashEndpoint, keptOf, routeOf } from './service-subject.ts'

/** Each has its own endpoints and one call at a time. */
const STREAMS = 5
const MAX_ENDPOINTS_OF_A_STREAM = 5
const MAX_PAYLOAD = 8_000

const [folder = '', seed = '0'] = process.argv.slice(2)
const random = createRandom(Number(seed))
const service = await startService({}, folder)
let operations = 0
// Larger in every round, so that names and routes were never there before.
let counter = Date.now() * 1_000

const payload = () => 'p'.repeat(random.below(MAX_PAYLOAD))

/** Makes a call between its two announcements; `value` is what the register will hold. */
async function operate(register: string, value: string, path: string, init: RequestInit, status = 200): Promise<Reply> {
  const operation = ++operations
  announce(`start ${operation} ${register} ${value}`)
  const reply = await service.fetch(path, init)
  if (reply.status !== status)
    throw new Error(`${init.method} ${path} was answered with ${reply.status}: ${reply.text}`)
  announce(`done ${operation}`)
  return reply
}

type Mine = { document: StoredEndpoint; kept: JsonObject | undefined }
const numberOf = ({ document }: Mine) => (document.constants as JsonObject).number

async function register(stream: number, mine: Mine[]) {
  const number = ++counter
  const { document, value } = crashEndpoint(`e${number}`, { number, stream, payload: payload() })
  const reply = await operate(document.name, value, '/endpoints', json('POST', endpointDocument(document)), 201)
  mine.push({ document: reply.json<StoredEndpoint>(), kept: undefined })
}

async function update(stream: number, one: Mine) {
  const { _id, name } = one.document
  const { document, value } = crashEndpoint(name, { number: ++counter, stream, payload: payload() })
  const method = random.chance(0.5) ? 'PUT' : 'PATCH'
  const reply = await operate(name, value, `/endpoints/${_id}`, json(method, document))
  one.document = reply.json<StoredEndpoint>()
}

async function remove(mine: Mine[], index: number, { document: { _id, name } }: Mine) {
  await operate(name, ABSENT, `/endpoints/${_id}`, { method: 'DELETE' })
  mine.splice(index, 1)
}

/** A message that leaves state; its answer shows the state before it, and that the newest version is in force. */
async function send(one: Mine) {
  const kept = sealed({ number: ++counter, payload: payload() })
  const path = routeOf(numberOf(one))
  const reply = await operate(keptOf(one.document.name), kept.checksum, path, json('POST', { kept }))
  const answer = reply.json<CrashAnswer>()
  if (answer.number !== numberOf(one)) throw new Error(`${path} was answered by version ${answer.number}`)
  if (one.kept !== undefined && answer.kept?.checksum !== one.kept.checksum)
    throw new Error(`${path} has lost its state`)
  one.kept = kept
}

async function callForEver(stream: number, mine: Mine[]): Promise<never> {
  for (;;) {
    const index = random.below(mine.length)
    const one = mine[index]
    if (one === undefined || (mine.length < MAX_ENDPOINTS_OF_A_STREAM && random.chance(0.25)))
      await register(stream, mine)
    else if (random.chance(0.35)) await update(stream, one)
    else if (random.chance(0.2)) await remove(mine, index, one)
    else await send(one)
  }
}

const left = (await service.fetch('/endpoints')).json<StoredEndpoint[]>()
await Promise.all(
  Array.from({ length: STREAMS }, (_, stream) =>
    callForEver(
      stream,
      left
        .filter(({ constants }) => (constants as JsonObject).stream === stream)
        .map((document) => ({ document, kept: undefined })),
    ),
  ),
)
