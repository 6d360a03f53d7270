/**
 * Runs the service and changes all of its endpoints by batches until it is killed, announcing each:
 * `batch-crash-child.ts <folder> <seed>`.
 */
import { json, type StoredEndpoint, startService } from '../../support/service.ts'
import { announce } from './announce.ts'
import { BATCHES, batchDocument, numberOf } from './batch-subject.ts'
import { createRandom } from './random.ts'

const MIN_ENDPOINTS = 4
const MAX_ENDPOINTS = 20

const [folder = '', seed = '0'] = process.argv.slice(2)
const random = createRandom(Number(seed))
const service = await startService({}, folder)
let operations = 0

/** Names and routes go around, one endpoint goes and others come: every batch touches all. */
async function changeAll(number: number): Promise<void> {
  const before = (await service.fetch('/endpoints')).json<StoredEndpoint[]>()
  const kept = before.length > MIN_ENDPOINTS ? before.slice(1) : before
  const count = MIN_ENDPOINTS + random.below(MAX_ENDPOINTS - MIN_ENDPOINTS)
  const places = Array.from({ length: Math.max(count, kept.length) }, (_, place) => place)
  const batch = [
    ...before.slice(0, before.length - kept.length).map(({ _id }) => ({ op: 'delete', id: _id })),
    ...places.map((place) => {
      const document = batchDocument(number, (place + number) % places.length, places.length)
      const one = kept[place]
      return one === undefined ? { op: 'create', document } : { op: 'replace', id: one._id, document }
    }),
  ]
  const operation = ++operations
  announce(`start ${operation} ${BATCHES} ${number}`)
  const reply = await service.fetch('/endpoints/batch', json('POST', { operations: batch }))
  if (reply.status !== 200) throw new Error(`a batch was answered with ${reply.status}: ${reply.text}`)
  announce(`done ${operation}`)
}

const left = (await service.fetch('/endpoints')).json<StoredEndpoint[]>()
for (let number = left.reduce((most, one) => Math.max(most, numberOf(one)), 0) + 1; ; number += 1) {
  await changeAll(number)
}
