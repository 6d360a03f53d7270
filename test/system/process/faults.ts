/** Everything that the fault proxy does to a connection, and what is true to say of it. */
import type { Socket } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { Behave } from './proxy.ts'

/** What came of a call: as the answer's code says without its kind, or 'answered'. */
export type Truth = 'answered' | 'UNREACHABLE' | 'TIMED_OUT' | 'UNREADABLE'

export type Fault = Readonly<{
  name: string
  /** Each of them would be true. */
  truths: readonly Truth[]
  behave: Behave
  /** Only the body cannot be read: the target of a response request has accepted it, and its answer is passed on. */
  passedOn?: true
  /** It starts before anything was asked, or goes on after an answer: it needs a port of its own. */
  alone?: true
}>

/** The limit of answers that the service is to run with. */
export const ANSWER_LIMIT = '256kb'
/** Longer than any request of a run may take. */
const BEYOND_DEADLINES_MS = 30_000
const BOMB = Buffer.alloc(16 * 1024 * 1024)

const whenAsked = (near: Socket, act: () => void): void => void near.once('data', act)
const passOn = (near: Socket, far: Socket): void => {
  near.on('data', (chunk) => far.write(chunk))
  near.on('end', () => far.end())
}

/** Lets the real answer through as far as `bytes`, then does `cut`. */
const cutAfter =
  (bytes: number, cut: (near: Socket) => void): Behave =>
  (near, open) => {
    const far = open()
    let left = bytes
    passOn(near, far)
    far.on('data', (chunk) => {
      near.write(chunk.subarray(0, left))
      left -= chunk.length
      if (left > 0) return
      far.destroy()
      setImmediate(() => cut(near))
    })
  }

/** Answers with these bytes as soon as it is asked; `end` closes after them, else the connection stays open. */
const answering =
  (bytes: string | Buffer, end?: 'end'): Behave =>
  (near) =>
    whenAsked(near, () => {
      near.write(bytes)
      if (end === 'end') near.end()
    })

/** Sound HTTP, so it must end its connection: the next request on it may be for another fault. */
const coded = (codings: string, body: Buffer): Behave =>
  answering(
    Buffer.concat([
      Buffer.from(
        `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-encoding: ${codings}\r\ncontent-length: ${body.length}\r\n\r\n`,
      ),
      body,
    ]),
  )

/** Writes `piece` again and again, as fast as it is taken; or one each `everyMs`. */
const endless =
  (head: string, piece: string, everyMs?: number): Behave =>
  (near) =>
    whenAsked(near, () => {
      near.write(head)
      if (everyMs !== undefined) {
        const timer = setInterval(() => near.write(piece), everyMs)
        near.on('close', () => clearInterval(timer))
        return
      }
      const pour = (): void => {
        if (near.destroyed) return
        if (near.write(piece)) setImmediate(pour)
      }
      near.on('drain', pour)
      pour()
    })

const reset = (near: Socket): void => void near.resetAndDestroy()
const finish = (near: Socket): void => void near.end()
const OK = 'HTTP/1.1 200 OK\r\n'
const MANY = 'x'.repeat(64 * 1024)
const lost = ['UNREACHABLE'] as const
const late = ['TIMED_OUT'] as const
const unread = ['UNREADABLE'] as const

const fault = (name: string, truths: readonly Truth[], behave: Behave): Fault => ({ name, truths, behave })
/** A body that a lookup cannot read, and that a response request passes on. */
const undecodable = (name: string, behave: Behave): Fault => ({ name, truths: unread, behave, passedOn: true })
const alone = (name: string, truths: readonly Truth[], behave: Behave): Fault => ({ name, truths, behave, alone: true })

export const FAULTS: readonly Fault[] = [
  alone('nothing', ['answered'], (near, open) => {
    const far = open()
    passOn(near, far)
    far.on('data', (chunk) => near.write(chunk))
  }),
  alone('reset at once', lost, reset),
  fault('reset when asked', lost, (near) => whenAsked(near, () => reset(near))),
  fault('reset in the headers', lost, cutAfter(20, reset)),
  fault('reset in the body', lost, cutAfter(1_000, reset)),
  alone('half-closed at once', lost, finish),
  fault('half-closed when asked', lost, (near) => whenAsked(near, () => finish(near))),
  fault('half-closed in the headers', lost, cutAfter(20, finish)),
  fault('half-closed in the body', lost, cutAfter(1_000, finish)),
  fault('black hole', late, (near) => void near.resume()),
  alone('black hole that does not read', late, (near) => {
    // It never learns that the caller has gone.
    const held = setTimeout(() => near.destroy(), BEYOND_DEADLINES_MS)
    near.on('close', () => clearTimeout(held))
  }),
  fault(
    'black hole in the headers',
    late,
    cutAfter(20, () => undefined),
  ),
  fault(
    'black hole in the body',
    late,
    cutAfter(1_000, () => undefined),
  ),
  fault('drip of headers', late, endless('HTTP/1.1 200 OK\r\nx: ', 'y', 20)),
  fault('drip of a body', late, endless(`${OK}content-length: 10000\r\n\r\n`, 'y', 20)),
  fault('drip of chunks', late, endless(`${OK}transfer-encoding: chunked\r\n\r\n`, '1\r\ny\r\n', 20)),
  fault('endless chunks', unread, endless(`${OK}transfer-encoding: chunked\r\n\r\n`, `10000\r\n${MANY}\r\n`)),
  fault('endless body without length', unread, endless(`${OK}\r\n`, MANY)),
  fault('endless headers', lost, endless(OK, `x: ${'y'.repeat(1_000)}\r\n`)),
  fault(
    'endless trailers',
    ['UNREACHABLE', 'UNREADABLE'],
    endless(`${OK}transfer-encoding: chunked\r\n\r\n0\r\n`, `x: ${'y'.repeat(1_000)}\r\n`),
  ),
  fault('body larger than the limit, as it says', unread, answering(`${OK}content-length: 1000000000000\r\n\r\n`)),
  undecodable('gzip bomb', coded('gzip', gzipSync(BOMB))),
  undecodable('gzip bomb in a gzip bomb', coded('gzip, gzip', gzipSync(gzipSync(BOMB)))),
  undecodable(
    'gzip bomb without length',
    answering(Buffer.concat([Buffer.from(`${OK}content-encoding: gzip\r\n\r\n`), gzipSync(BOMB)]), 'end'),
  ),
  undecodable('deflate bomb', coded('deflate', deflateSync(BOMB))),
  undecodable('br bomb', coded('br', brotliCompressSync(BOMB))),
  undecodable('four codings', coded('gzip, gzip, gzip, gzip', gzipSync('{}'))),
  undecodable('a coding that is not there', coded('gzip', Buffer.from('{"a":1}'))),
  undecodable('a coding cut short', coded('gzip', gzipSync('{"a":1}').subarray(0, 12))),
  fault('flood of 100', lost, endless('', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(50))),
  fault('flood of 102', unread, endless('', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(50))),
  fault(
    'flood of 103',
    unread,
    endless('', `HTTP/1.1 103 Early Hints\r\nlink: </${'x'.repeat(1_000)}>\r\n\r\n`.repeat(50)),
  ),
  fault('drip of 103', late, endless('', 'HTTP/1.1 103 Early Hints\r\n\r\n', 20)),
  fault(
    '101 without a request for it',
    lost,
    answering('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  ),
  fault('length too large, then closed', lost, answering(`${OK}content-length: 100\r\n\r\n{}`, 'end')),
  fault('length too large, then silence', late, answering(`${OK}content-length: 100\r\n\r\n{}`)),
  fault('two lengths', lost, answering(`${OK}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`, 'end')),
  fault('length that is no number', lost, answering(`${OK}content-length: two\r\n\r\n{}`, 'end')),
  fault('negative length', lost, answering(`${OK}content-length: -2\r\n\r\n{}`, 'end')),
  fault(
    'length and chunks',
    lost,
    answering(`${OK}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`, 'end'),
  ),
  fault('chunk size that is none', lost, answering(`${OK}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`)),
  fault('chunk size beyond 64 bits', lost, answering(`${OK}transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}`)),
  fault('chunk longer than it says', lost, answering(`${OK}transfer-encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n`)),
  fault(
    'chunks without an end, then closed',
    lost,
    answering(`${OK}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n`, 'end'),
  ),
  fault('one huge header', lost, answering(`${OK}x: ${'y'.repeat(1_000_000)}\r\n\r\n`)),
  fault(
    'ten thousand headers',
    lost,
    answering(`${OK}${Array.from({ length: 10_000 }, (_, n) => `x${n}: y\r\n`).join('')}\r\n`),
  ),
  fault('header without a colon', lost, answering(`${OK}nothing\r\ncontent-length: 2\r\n\r\n{}`)),
  fault('header with a NUL', lost, answering(`${OK}x: a\0b\r\ncontent-length: 2\r\n\r\n{}`)),
  fault('header with a bare CR', lost, answering(`${OK}x: a\rset-cookie: b\r\ncontent-length: 2\r\n\r\n{}`)),
  fault('header name with a space', lost, answering(`${OK}x : a\r\ncontent-length: 2\r\n\r\n{}`)),
  fault('status 99', lost, answering('HTTP/1.1 99 Odd\r\ncontent-length: 2\r\n\r\n{}')),
  fault('status of four digits', lost, answering('HTTP/1.1 2000 Odd\r\ncontent-length: 2\r\n\r\n{}')),
  fault('HTTP/3.0', lost, answering('HTTP/3.0 200 OK\r\ncontent-length: 2\r\n\r\n{}')),
  fault('a request for an answer', lost, answering('GET / HTTP/1.1\r\nhost: a\r\n\r\n')),
  fault('HTTP/0.9', lost, answering('<html>hello</html>', 'end')),
  fault('junk', lost, answering(Buffer.from(Array.from({ length: 5_000 }, (_, n) => (n * 31) % 256)))),
  fault('TLS', lost, answering(Buffer.from('15030100020228', 'hex'))),
  fault('the preface of HTTP/2', lost, answering('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')),
  alone('an answer before it is asked', ['answered', 'UNREACHABLE', 'TIMED_OUT'], (near) => {
    near.write(`${OK}content-length: 2\r\n\r\n{}`)
    near.resume()
  }),
  alone('a second answer behind the first', ['answered'], (near, open) => {
    const far = open()
    passOn(near, far)
    far.on('data', (chunk) =>
      near.write(Buffer.concat([chunk, Buffer.from(`${OK}content-length: 15\r\n\r\n{"path":"evil"}`)])),
    )
  }),
]
