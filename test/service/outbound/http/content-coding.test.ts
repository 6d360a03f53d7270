import assert from 'node:assert/strict'
import { test } from 'node:test'
import zlib from 'node:zlib'
import { decodeBody } from '../../../../src/outbound/http/answers.ts'
import fc from '../../../support/fast-check.ts'
import { failsWith, get, startClient, startHttp, text } from './upstream.ts'

const plain = Buffer.from('all kinds of lab results; '.repeat(100))
const gzip = zlib.gzipSync(plain)

const readable: readonly (readonly [coding: string | string[] | undefined, body: Uint8Array])[] = [
  [undefined, plain],
  ['identity', plain],
  ['gzip', gzip],
  ['GZip', gzip],
  ['x-gzip', gzip],
  ['deflate', zlib.deflateSync(plain)],
  // Without the header of zlib, as some servers have it.
  ['deflate', zlib.deflateRawSync(plain)],
  ['br', zlib.brotliCompressSync(plain)],
  ['gzip, br', zlib.brotliCompressSync(gzip)],
  [['gzip', 'br'], zlib.brotliCompressSync(gzip)],
]
for (const [coding, body] of readable) {
  test(`a content coding is decoded: ${coding}`, async (t) => {
    const upstream = await startHttp(t, (_request, response) => {
      if (coding !== undefined) response.setHeader('content-encoding', coding)
      response.end(body)
    })
    const answer = await startClient(t).send(get(upstream.url))
    assert.equal(text(answer.body), plain.toString())
    assert.equal(text((await startClient(t).send(get(upstream.url, { method: 'HEAD' }))).body), '')
  })
}

/** Many times the limit and the pieces that zlib gives. */
const bomb = Buffer.alloc(32 * 1024 * 1024)
const brBomb = zlib.brotliCompressSync(bomb, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } })
const faulty = [
  ['an unknown coding', 'zstd', plain, 'unreadable', /coding "zstd"; only gzip/],
  ['no gzip at all', 'gzip', plain, 'unreadable', /not in the content coding "gzip"/],
  ['half of it', 'gzip', gzip.subarray(0, 20), 'unreadable', /not in the content/],
  ['no br at all', 'br', plain, 'unreadable', /not in the content coding "br"/],
  ['four codings', 'gzip,gzip,gzip,gzip', gzip, 'unreadable', /more than three/],
  ['a gzip bomb', 'gzip', zlib.gzipSync(bomb), 'too-large', /limit of 1048576/],
  ['a br bomb', 'br', brBomb, 'too-large', /limit/],
] as const
for (const [name, coding, body, fault, message] of faulty) {
  test(`content coding is refused: ${name}`, async (t) => {
    const upstream = await startHttp(t, (_request, response) =>
      response.writeHead(200, { 'content-encoding': coding }).end(body),
    )
    const client = startClient(t, { answerLimitBytes: 1024 * 1024 })
    await assert.rejects(client.send(get(upstream.url, { retries: 2 })), failsWith(fault, message))
  })
}

test('a call that ends within its decoding takes no more bytes', async () => {
  const ending = new AbortController()
  let taken = 0
  const budget = {
    leftBytes: Number.POSITIVE_INFINITY,
    take: (bytes: number) => {
      taken += bytes
      ending.abort(new Error('the deadline has passed'))
      return true
    },
  }
  const decoded = decodeBody('GET http://h/', zlib.gzipSync(bomb), 'gzip', bomb.length, ending.signal, budget)
  await assert.rejects(decoded, /the deadline has passed/)
  const atTheEnd = taken
  await decodeBody('GET http://h/', zlib.gzipSync(bomb), 'gzip', bomb.length)
  assert.equal(taken, atTheEnd)
})

test('any bytes in any coding either decode within the limit or fail as an OutboundError', async () => {
  const coding = fc.constantFrom('gzip', 'deflate', 'br', 'gzip, br', 'compress', '', ',', '\u0000')
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), coding, async (body, name) => {
      try {
        assert.ok((await decodeBody('GET http://h/', body, name, 1_000)).length <= 1_000)
      } catch (error) {
        failsWith(
          error instanceof Error && 'fault' in error && error.fault === 'too-large' ? 'too-large' : 'unreadable',
          /GET http:\/\/h\//,
        )(error)
      }
    }),
  )
})
