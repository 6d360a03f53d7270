/** Tables so large that a thread of their own reads and changes them: they are as small ones are. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { json, type Service, startService } from '../../support/service.ts'

const ROWS = 9_000
const LIMIT = 6_000_000

let service: Service
before(async () => {
  service = await startService({ TABLES_MAX_BYTES: `${LIMIT}` })
})
after(() => service.stop())

async function call(path: string, init: RequestInit = {}) {
  const response = await fetch(`${service.adminUrl}${path}`, init)
  return { status: response.status, text: await response.text() }
}

const LONG_TEXT = 'Zielwert ü '.repeat(12)

type Row = readonly [code: string, target: string]
const rows: readonly Row[] = Array.from({ length: ROWS }, (_, row): Row => [`local code ${row}`, `${LONG_TEXT}${row}`])

const FORMATS: Readonly<Record<string, (all: readonly Row[]) => string>> = {
  'text/csv': (all) => ['code,target', ...all.map((row) => row.join())].join('\r\n').concat('\r\n'),
  'application/json': (all) => JSON.stringify({ columns: ['code', 'target'], rows: all }),
  'application/fhir+json': (all) => {
    const element = all.map(([code, target], row) => {
      const product = row % 2 === 0 ? {} : { product: [{ property: 'urn:row', value: `${row}` }] }
      return { code, target: [{ code: target, equivalence: 'equivalent', ...product }] }
    })
    return JSON.stringify({ resourceType: 'ConceptMap', url: 'urn:large', group: [{ source: 'urn:local', element }] })
  },
}

/** In pieces, without their length. */
async function* inPieces(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000)
}

const put = (type: string, text: string, isChunked: boolean, path = '/tables/large') => {
  const body = isChunked ? ReadableStream.from(inPieces(text)) : text
  const init = { method: 'PUT', headers: { 'content-type': type }, body, duplex: 'half' }
  return call(path, init as RequestInit)
}

for (const [type, write] of Object.entries(FORMATS)) {
  describe(type, () => {
    const text = write(rows)
    for (const isChunked of [false, true]) {
      test(`is stored and read again, ${isChunked ? 'in chunks' : 'with its length'}`, async () => {
        const stored = await put(type, text, isChunked)
        assert.ok(stored.status < 300, stored.text)
        assert.equal(JSON.parse(stored.text).rows, ROWS)
        const read = await call('/tables/large', { headers: { accept: type } })
        if (type === 'text/csv') assert.equal(read.text, text)
        else assert.deepEqual(JSON.parse(read.text), JSON.parse(text))
      })
    }

    test('has its faults at their places, and stores nothing', async () => {
      const before = await call('/tables/large', { headers: { accept: type } })
      const refused = await put(type, write([...rows, rows[7] ?? ['', ''], ['', 'x']]), false)
      if (type === 'application/fhir+json') assert.equal(refused.status, 200)
      else {
        const place = type === 'text/csv' ? `line ${ROWS + 2}` : `rows[${ROWS}]`
        assert.equal(refused.status, 400)
        assert.ok(
          JSON.parse(refused.text).details.some(({ path }: { path: string }) => path === place),
          refused.text,
        )
        assert.deepEqual(await call('/tables/large', { headers: { accept: type } }), before)
      }
    })

    test('changes its rows', async () => {
      await put(type, text, false)
      const change = {
        rows: [
          { code: 'local code 1', target: 'other' },
          { code: 'new', target: 'n' },
        ],
        remove: ['local code 2'],
      }
      const changed = await call('/tables/large/rows', json('POST', change))
      assert.equal(JSON.parse(changed.text).rows, ROWS, changed.text)
      const found = async (code: string) => (await call(`/tables/large/$translate?code=${code}`)).text
      assert.equal(JSON.parse(await found('local code 1')).row.target, 'other')
      assert.equal(JSON.parse(await found('new')).row.target, 'n')
      assert.match(await found('local code 2'), /has no code/)
      const wrong = await call('/tables/large/rows', json('POST', { rows: [{ code: 'new', target: '\0' }] }))
      assert.deepEqual(
        JSON.parse(wrong.text).details.map(({ path }: { path: string }) => path),
        ['rows[0]'],
      )
    })
  })
}

test('what the rows of a ConceptMap do not say is found by FHIR, also once rows have changed', async () => {
  const type = 'application/fhir+json'
  const map = JSON.parse(FORMATS[type]?.(rows) ?? '')
  const [first, second] = map.group[0].element
  second.target.push({ code: 'further', equivalence: 'wider' })
  map.group[0].element.push({ ...first, target: [{ code: 'repeated', equivalence: 'equal' }] })
  await call('/tables/large', { method: 'DELETE' })
  const stored = await put(type, JSON.stringify(map), false, '/tables/asked')
  assert.equal(stored.status, 201, stored.text)
  const codes = async (code: string): Promise<string[]> => {
    const { text } = await call(`/fhir/ConceptMap/$translate?url=urn:large&code=${code}`)
    return [...text.matchAll(/"valueCoding":\{"code":"([^"]*)"/g)].map(([, found = '']) => found)
  }
  assert.deepEqual(await codes(first.code), [`${LONG_TEXT}0`])
  assert.deepEqual(await codes(second.code), [`${LONG_TEXT}1`, 'further'])
  await call(
    '/tables/asked/rows',
    json('POST', { rows: [{ code: second.code, target: 'other' }], remove: [first.code] }),
  )
  assert.deepEqual(await codes(first.code), [])
  assert.deepEqual(await codes(second.code), ['other', 'further'])
  const written = JSON.parse((await call('/tables/asked', { headers: { accept: type } })).text).group[0].element
  assert.equal(written.length, ROWS - 1)
  assert.deepEqual(written[0].target[1], { code: 'further', equivalence: 'wider' })
})

for (const isChunked of [false, true]) {
  test(`a body above the limit is refused, ${isChunked ? 'in chunks' : 'with its length'}`, async () => {
    const refused = await put('text/csv', `code,target\n${'x'.repeat(LIMIT)}`, isChunked)
    assert.equal(refused.status, 413, refused.text)
    assert.match(refused.text, /TABLES_MAX_BYTES/)
  })
}
