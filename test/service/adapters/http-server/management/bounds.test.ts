/** How much may be registered: at each bound it is taken, one over it refused, however it comes. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../../../src/domain/json.ts'
import {
  endpointDocument,
  json,
  type Reply,
  type Service,
  type StoredEndpoint,
  startService,
} from '../../../../support/service.ts'

type Refusal = Readonly<{ code: string; error: string; details?: readonly { path: string; message: string }[] }>

const MOST = { mappings: 3, requests: 4, endpoints: 2 }
const SET = {
  DOCUMENT_MAX_MAPPINGS: `${MOST.mappings}`,
  DOCUMENT_MAX_REQUESTS: `${MOST.requests}`,
}

let service: Service
before(async () => {
  service = await startService(SET)
})
after(() => service.stop())

const post = (document: JsonObject, to = service): Promise<Reply> => to.fetch('/endpoints', json('POST', document))
const document = (pattern: string, changes: JsonObject = {}): JsonObject =>
  endpointDocument({ endpoint: { pattern }, ...changes })

const requests = (prefix: string, count: number): JsonObject[] =>
  Array.from({ length: count }, (_, n) => ({ id: `${prefix}${n}`, config: { url: 'http://127.0.0.1:9/' } }))
const mapping = (count: number): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`requestBody.f${n}`, `f${n}`]))

describe('the parts of a document', () => {
  const cases = [
    {
      name: 'entries of the mapping',
      place: 'inputMapping',
      at: { inputMapping: mapping(MOST.mappings) },
      over: { inputMapping: mapping(MOST.mappings + 1) },
      says: /4 entries, and 3 is the most \(DOCUMENT_MAX_MAPPINGS\)/,
    },
    {
      name: 'requests, of both kinds',
      place: 'requests',
      at: { requests: { lookup: requests('l', 1), response: requests('r', 3) } },
      over: { requests: { lookup: requests('l', 2), response: requests('r', 3) } },
      says: /5 requests, and 4 is the most \(DOCUMENT_MAX_REQUESTS\)/,
    },
    {
      name: 'the name',
      place: 'name',
      at: { name: 'n'.repeat(200) },
      over: { name: 'n'.repeat(201) },
      says: /201 characters, and 200 is the most/,
    },
    {
      name: 'the id of a lookup',
      place: 'requests.lookup[0].id',
      at: { requests: { lookup: requests('l'.repeat(99), 1) } },
      over: { requests: { lookup: requests('l'.repeat(100), 1) } },
      says: /101 characters, and 100 is the most/,
    },
    {
      name: 'the id of a response request',
      place: 'requests.response[0].id',
      at: { requests: { response: requests('l'.repeat(99), 1) } },
      over: { requests: { response: requests('l'.repeat(100), 1) } },
      says: /101 characters, and 100 is the most/,
    },
    {
      name: 'the name of a transform',
      place: `inputTransforms.${'t'.repeat(101)}`,
      at: { inputTransforms: { ['t'.repeat(100)]: '1' } },
      over: { inputTransforms: { ['t'.repeat(101)]: '1' } },
      says: /101 characters, and 100 is the most/,
    },
  ]
  for (const [index, { name, place, at, over, says }] of cases.entries()) {
    test(`${name}: as many as the setting lets be, and no more`, async () => {
      const taken = await post(document(`/part/${index}`, at))
      assert.equal(taken.status, 201, taken.text)
      const { _id } = taken.json<StoredEndpoint>()
      const wrong = document(`/part/${index}/over`, over)
      const ways: readonly [string, Promise<Reply>][] = [
        ['POST', post(wrong)],
        ['PUT', service.fetch(`/endpoints/${_id}`, json('PUT', wrong))],
        ['PATCH', service.fetch(`/endpoints/${_id}`, json('PATCH', over))],
      ]
      for (const [way, asked] of ways) {
        const reply = await asked
        const { code, details } = reply.json<Refusal>()
        assert.deepEqual(
          [reply.status, code, details?.map(({ path }) => path)],
          [400, 'CONFIGURATION_INVALID', [place]],
        )
        assert.match(details?.[0]?.message ?? '', says, way)
      }
      const dryRun = await service.fetch('/endpoints/dry-run', json('POST', { endpoint: wrong, message: { body: {} } }))
      assert.deepEqual([dryRun.status, dryRun.json().ran], [200, false], dryRun.text)
    })
  }
})

describe('the size of a document', () => {
  const LIMIT = 262_144
  /** As it counts: in UTF-8, without what the service sets. */
  const sizeOf = ({ _id, createdAt, updatedAt, __v, ...rest }: JsonObject): number =>
    Buffer.byteLength(JSON.stringify(rest))

  test('may be 256 KiB, whatever stands around it, and not a byte more', async () => {
    const wide = document('/wide', { name: 'wide', description: 'ü' })
    const first = await post(wide)
    assert.equal(first.status, 201, first.text)
    const stored = first.json<StoredEndpoint>()
    const room = LIMIT - sizeOf(stored)
    const full = { ...wide, description: `ü${'x'.repeat(room)}` }
    const path = `/endpoints/${stored._id}`
    const pretty = JSON.stringify(full, undefined, 20)
    const taken = await service.fetch(path, { ...json('PUT', undefined), body: pretty })
    assert.equal(taken.status, 200, taken.text.slice(0, 300))
    assert.equal(sizeOf(taken.json()), LIMIT)
    const again = await service.fetch(path, json('PUT', taken.json()))
    assert.equal(again.status, 200, 'what was read can be sent back')

    const over = { description: `${full.description}x` }
    const ways = [
      post({ ...full, ...over, name: 'edge', endpoint: { pattern: '/edge' } }),
      service.fetch(path, json('PUT', { ...full, ...over })),
      service.fetch(path, json('PATCH', over)),
      service.fetch('/endpoints/dry-run', json('POST', { endpoint: { ...full, ...over }, message: { body: {} } })),
    ]
    for (const asked of ways) {
      const reply = await asked
      assert.deepEqual([reply.status, reply.json().code], [413, 'DOCUMENT_TOO_LARGE'], reply.text.slice(0, 300))
      assert.match(reply.json<Refusal>().error, /and 262144 is the most \(DOCUMENT_LIMIT\)/)
    }
  })
})

test('a document is nested 64 levels deep at the most', async () => {
  const deep = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`) as JsonObject
  const taken = await post(document('/deep', { constants: deep(63) }))
  assert.equal(taken.status, 201, taken.text)
  const refused = await post(document('/deeper', { constants: deep(64) }))
  assert.deepEqual([refused.status, refused.json().code], [400, 'BODY_TOO_DEEP'])
})

test('endpoints: as many as the setting lets be; one that is deleted makes room, one that is restored takes it', async () => {
  const few = await startService({ MAX_ENDPOINTS: `${MOST.endpoints}` })
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
    try {
      const reply = await narrow.fetch('/kept', json('POST', { f2: 'x' }))
      assert.deepEqual([reply.status, reply.text], [200, '{"f2":"x"}'])
    } finally {
      await narrow.stop()
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})
