/** Writes endpoints and states until it is killed, announcing each operation: `store-crash-child.ts <file> <seed>`. */

import type { StoredDocument } from '../../../src/core/stored-document.ts'
import type { EndpointRecord } from '../../../src/store/sql/endpoint-store.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { insertEndpoint, removeEndpoint, replaceEndpoint } from '../../support/contracts/records.ts'
import { silent } from '../../support/silent.ts'
import { announce } from './announce.ts'
import { sealed, stateRegister } from './crash-documents.ts'
import { ABSENT } from './crash-rounds.ts'
import { createRandom } from './random.ts'

/** Each has its own endpoints and one operation (or burst of states) at a time: together they share transactions. */
const STREAMS = 6
const MAX_ENDPOINTS_OF_A_STREAM = 6
const MAX_PAYLOAD = 12_000
const STATUSES = [200, 201, 404, 500]

const [path = '', seed = '0'] = process.argv.slice(2)
const random = createRandom(Number(seed))
const { endpoints, states } = await openSqliteStore({ path, logger: silent })
let operations = 0
// Larger in every round, whatever the seed: it identifies the newest state, and makes ids and routes that were never there.
let counter = Date.now() * 1_000

/** Runs an operation between its two announcements; `value` is what the register will hold. */
async function operate(register: string, value: string, work: () => Promise<unknown>, expected: unknown) {
  const operation = ++operations
  announce(`start ${operation} ${register} ${value}`)
  const result = await work()
  if (result !== expected) throw new Error(`operation on ${register} gave ${result}, and not ${expected}`)
  announce(`done ${operation}`)
}

function makeEndpoint(stream: number, id: string): EndpointRecord & { document: { checksum: string } } {
  const number = ++counter
  const now = new Date(number / 1_000).toISOString()
  const payload = 'p'.repeat(random.below(MAX_PAYLOAD))
  const document = { _id: id, name: `n${number}`, createdAt: now, updatedAt: now, __v: 0, stream, payload } as const
  return { document: sealed(document), claims: [{ key: `POST /${number}` }] }
}

async function register(stream: number, mine: StoredDocument[]) {
  const record = makeEndpoint(stream, (++counter).toString(16).padStart(24, '0'))
  await operate(record.document._id, record.document.checksum, () => insertEndpoint(endpoints, record), 'stored')
  mine.push(record.document)
}

async function update(stream: number, mine: StoredDocument[], index: number, current: StoredDocument) {
  const record = makeEndpoint(stream, current._id)
  await operate(current._id, record.document.checksum, () => replaceEndpoint(endpoints, record, current), 'stored')
  mine[index] = record.document
}

async function remove(mine: StoredDocument[], index: number, current: StoredDocument) {
  await operate(current._id, ABSENT, () => removeEndpoint(endpoints, current), 'stored')
  mine.splice(index, 1)
}

async function keepStates({ _id }: StoredDocument) {
  const burst = Array.from({ length: 1 + random.below(4) }, () => {
    const values = sealed({ n: ++counter, payload: 's'.repeat(random.below(MAX_PAYLOAD)) })
    const lookupStatus = STATUSES[random.below(STATUSES.length)]
    const record = { values, lookupStatus, networkError: random.chance(0.3) }
    return operate(stateRegister(_id, record), values.checksum, () => states.append(_id, record), undefined)
  })
  await Promise.all(burst)
}

async function writeForEver(stream: number, mine: StoredDocument[]): Promise<never> {
  for (;;) {
    const index = random.below(mine.length)
    const current = mine[index]
    if (current === undefined || (mine.length < MAX_ENDPOINTS_OF_A_STREAM && random.chance(0.25)))
      await register(stream, mine)
    else if (random.chance(0.3)) await update(stream, mine, index, current)
    else if (random.chance(0.2)) await remove(mine, index, current)
    else await keepStates(current)
  }
}

const left = await endpoints.list()
await Promise.all(
  Array.from({ length: STREAMS }, (_, stream) =>
    writeForEver(
      stream,
      left.filter((document) => document.stream === stream),
    ),
  ),
)
