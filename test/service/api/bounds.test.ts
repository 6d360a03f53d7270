/** How much may be registered: at each bound it is taken, one over it refused, however it comes. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import {
  endpointDocument,
  json,
  type Reply,
  type Service,
  type StoredEndpoint,
  startService,
} from '../../support/service.ts'

type Refusal = Readonly<{ code: string; error: string; details?: readonly { path: string; message: string }[] }>

let service: Service
before(async () => {
  service = await startService({ DOCUMENT_MAX_MAPPINGS: '3', DOCUMENT_MAX_REQUESTS: '4' })
})
after(() => service.stop())

const post = (document: JsonObject, to = service): Promise<Reply> => to.fetch('/endpoints', json('POST', document))
const document = (pattern: string, changes: JsonObject = {}): JsonObject =>
  endpointDocument({ endpoint: { pattern }, ...changes })

/** A document that is over a bound, by each way in: POST, PUT, PATCH of what differs, and a dry run. */
const everyWay = (id: string, whole: JsonObject, change: JsonObject): Promise<readonly Reply[]> =>
  Promise.all([
    post(whole),
    service.fetch(`/endpoints/${id}`, json('PUT', whole)),
    service.fetch(`/endpoints/${id}`, json('PATCH', change)),
    service.fetch('/endpoints/dry-run', json('POST', { endpoint: whole, message: { body: {} } })),
  ])

const requests = (prefix: string, count: number): JsonObject[] =>
  Array.from({ length: count }, (_, n) => ({ id: `${prefix}${n}`, config: { url: 'http://127.0.0.1:9/' } }))
const mapping = (count: number): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`requestBody.f${n}`, `f${n}`]))

describe('the parts of a document', () => {
  type Case = readonly [place: string, at: JsonObject, over: JsonObject, says: RegExp]
  const cases: readonly Case[] = [
    [
      'inputMapping',
      { inputMapping: mapping(3) },
      { inputMapping: mapping(4) },
      /4 entries, and 3 is the most \(DOCUMENT_MAX_MAPPINGS\)/,
    ],
    [
      'requests.response[1].mapping',
      {
        inputMapping: mapping(1),
        requests: { response: requests('r', 2).map((one) => ({ ...one, mapping: mapping(1) })) },
      },
      {
        inputMapping: mapping(1),
        requests: { response: requests('r', 2).map((one, n) => ({ ...one, mapping: mapping(n + 1) })) },
      },
      /up to this one have 4 entries, and 3 is the most \(DOCUMENT_MAX_MAPPINGS\)/,
    ],
    [
      'requests',
      { requests: { lookup: requests('l', 1), response: requests('r', 3) } },
      { requests: { lookup: requests('l', 2), response: requests('r', 3) } },
      /5 requests, and 4 is the most \(DOCUMENT_MAX_REQUESTS\)/,
    ],
    ['name', { name: 'n'.repeat(200) }, { name: 'n'.repeat(201) }, /201 characters, and 200 is the most/],
    ...(['lookup', 'response'] as const).map(
      (kind): Case => [
        `requests.${kind}[0].id`,
        { requests: { [kind]: requests('l'.repeat(99), 1) } },
        { requests: { [kind]: requests('l'.repeat(100), 1) } },
        /101 characters, and 100 is the most/,
      ],
    ),
    [
      `inputTransforms.${'t'.repeat(101)}`,
      { inputTransforms: { ['t'.repeat(100)]: '1' } },
      { inputTransforms: { ['t'.repeat(101)]: '1' } },
      /101 characters, and 100 is the most/,
    ],
  ]
  for (const [index, [place, at, over, says]] of cases.entries()) {
    test(place.slice(0, 40), async () => {
      const taken = await post(document(`/part/${index}`, at))
      assert.equal(taken.status, 201, taken.text)
      const wrong = document(`/part/${index}/over`, over)
      const [posted, put, patched, dry] = await everyWay(taken.json<StoredEndpoint>()._id, wrong, over)
      for (const reply of [posted, put, patched]) {
        const { code, details = [] } = reply?.json<Refusal>() ?? assert.fail()
        assert.deepEqual([code, details.length, details[0]?.path], ['CONFIGURATION_INVALID', 1, place])
        assert.match(details[0]?.message ?? '', says)
      }
      assert.deepEqual([dry?.status, dry?.json().ran], [200, false], dry?.text)
    })
  }
})

test('a document may be 256 KiB, whatever stands around it, and not a byte more', async () => {
  const LIMIT = 262_144
  /** As it counts: in UTF-8, without what the service sets. */
  const sizeOf = ({ _id, createdAt, updatedAt, __v, ...rest }: JsonObject) => Buffer.byteLength(JSON.stringify(rest))
  const wide = document('/wide', { name: 'wide', description: 'ü' })
  const stored = (await post(wide)).json<StoredEndpoint>()
  const full = { ...wide, description: `ü${'x'.repeat(LIMIT - sizeOf(stored))}` }
  const path = `/endpoints/${stored._id}`
  const taken = await service.fetch(path, { ...json('PUT', undefined), body: JSON.stringify(full, undefined, 20) })
  assert.equal(taken.status, 200, taken.text.slice(0, 300))
  assert.equal(sizeOf(taken.json()), LIMIT)
  assert.equal((await service.fetch(path, json('PUT', taken.json()))).status, 200, 'what was read can be sent back')

  const over = { description: `${full.description}x` }
  for (const reply of await everyWay(stored._id, { ...full, ...over }, over)) {
    assert.deepEqual([reply.status, reply.json().code], [413, 'DOCUMENT_TOO_LARGE'], reply.text.slice(0, 300))
    assert.match(reply.json<Refusal>().error, /and 262144 is the most \(DOCUMENT_LIMIT\)/)
  }
})

test('endpoints: as many as the setting lets be; one that is deleted makes room, one that is restored takes it', async () => {
  const few = await startService({ MAX_ENDPOINTS: '2' })
  try {
    const one = await few.register({ endpoint: { pattern: '/one' } })
    const two = await few.register({ endpoint: { pattern: '/two' } })
    const refused = async (asked: Promise<Reply>) => {
      const reply = await asked
      assert.deepEqual([reply.status, reply.json().code], [409, 'ENDPOINTS_TOO_MANY'], reply.text)
    }
    await refused(post(document('/three'), few))
    const changed = await few.fetch(`/endpoints/${two._id}`, json('PATCH', { description: 'may change' }))
    assert.equal(changed.status, 200, changed.text)
    assert.equal((await few.fetch(`/endpoints/${one._id}`, { method: 'DELETE' })).status, 200)
    await few.register({ endpoint: { pattern: '/three' } })
    await refused(few.fetch(`/endpoints/${one._id}/versions/1/restore`, json('POST', undefined)))
  } finally {
    await few.stop()
  }
})

test('what is stored stays in force where the bounds were lowered since', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-'))
  try {
    const wide = await startService({}, folder)
    await wide.register({ endpoint: { pattern: '/kept' }, inputMapping: mapping(3) })
    await wide.register({ endpoint: { pattern: '/kept/too' } })
    await wide.stop()
    const narrow = await startService({ DOCUMENT_MAX_MAPPINGS: '1', DOCUMENT_LIMIT: '10', MAX_ENDPOINTS: '1' }, folder)
    const reply = await narrow.fetch('/kept', json('POST', { f2: 'x' }))
    await narrow.stop()
    assert.deepEqual([reply.status, reply.text], [200, '{"f2":"x"}'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
