import assert from 'node:assert/strict'
import { test } from 'node:test'
import zlib from 'node:zlib'
import fc from 'fast-check'
import { decodeBody } from '../../../../src/adapters/http-client/content-coding.ts'
import { failsWith, get, startClient, startHttp, text } from './upstream.ts'

const plain = Buffer.from('all kinds of lab results; '.repeat(100))
const gzip = zlib.gzipSync(plain)

const readable = [
  { name: 'none', coding: undefined, body: plain },
  { name: 'identity', coding: 'identity', body: plain },
  { name: 'gzip', coding: 'gzip', body: gzip },
  { name: 'GZip, in capitals', coding: 'GZip', body: gzip },
  { name: 'x-gzip', coding: 'x-gzip', body: gzip },
  { name: 'deflate', coding: 'deflate', body: zlib.deflateSync(plain) },
  { name: 'deflate without zlib header', coding: 'deflate', body: zlib.deflateRawSync(plain) },
  { name: 'br', coding: 'br', body: zlib.brotliCompressSync(plain) },
  { name: 'gzip, then br', coding: 'gzip, br', body: zlib.brotliCompressSync(gzip) },
  { name: 'gzip, then br, on two lines', coding: ['gzip', 'br'], body: zlib.brotliCompressSync(gzip) },
]
for (const { name, coding, body } of readable) {
  test(`a content coding is decoded: ${name}`, async (t) => {
    const upstream = await startHttp(t, (_request, response) => {
      if (coding !== undefined) response.setHeader('content-encoding', coding)
      response.end(body)
    })
    const answer = await startClient(t).send(get(upstream.url))
    assert.equal(text(answer.body), plain.toString())
    assert.equal(text((await startClient(t).send(get(upstream.url, { method: 'HEAD' }))).body), '')
  })
}

const bomb = Buffer.alloc(200 * 1024 * 1024)
const faulty = [
  { name: 'an unknown coding', coding: 'zstd', body: plain, fault: 'unreadable', message: /coding "zstd"; only gzip/ },
  {
    name: 'no gzip at all',
    coding: 'gzip',
    body: plain,
    fault: 'unreadable',
    message: /not in the content coding "gzip"/,
  },
  {
    name: 'half of it',
    coding: 'gzip',
    body: gzip.subarray(0, 20),
    fault: 'unreadable',
    message: /not in the content/,
  },
  { name: 'no br at all', coding: 'br', body: plain, fault: 'unreadable', message: /not in the content coding "br"/ },
  { name: 'four codings', coding: 'gzip,gzip,gzip,gzip', body: gzip, fault: 'unreadable', message: /more than three/ },
  { name: 'a gzip bomb', coding: 'gzip', body: zlib.gzipSync(bomb), fault: 'too-large', message: /limit of 1048576/ },
  {
    name: 'a br bomb',
    coding: 'br',
    body: zlib.brotliCompressSync(bomb, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
    fault: 'too-large',
    message: /limit/,
  },
] as const
for (const { name, coding, body, fault, message } of faulty) {
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
