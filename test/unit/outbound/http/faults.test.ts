import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errors } from 'undici'
import { isTransient, outboundError } from '../../../../src/outbound/http/http-connections.ts'

const withCode = (code: string) => Object.assign(new Error('secret text'), { code })

const { ConnectTimeoutError, InvalidArgumentError, SocketError } = errors
const two = new AggregateError([withCode('ECONNREFUSED'), withCode('EHOSTUNREACH')])
type Case = readonly [error: unknown, message: RegExp, fault?: 'timeout' | undefined, isFinal?: 'final']
const cases: readonly Case[] = [
  [withCode('ENOTFOUND'), /name not found\.$/],
  [withCode('EAI_AGAIN'), /for now/],
  [withCode('EHOSTUNREACH'), /host unreachable/],
  [withCode('EPIPE'), /connection reset/],
  [withCode('ETIMEDOUT'), /timed out/, 'timeout'],
  [new ConnectTimeoutError('secret'), /within 2000 ms/, 'timeout'],
  [new SocketError('secret'), /closed before/],
  [new InvalidArgumentError('invalid x header'), /x header/, undefined, 'final'],
  [withCode('DEPTH_ZERO_SELF_SIGNED_CERT'), /\(DEPTH_ZERO/, undefined, 'final'],
  [withCode('CERT_HAS_EXPIRED'), /no secure connection/, undefined, 'final'],
  [withCode('ERR_TLS_CERT_ALTNAME_INVALID'), /no secure/, undefined, 'final'],
  [withCode('EWHATEVER'), /failed \(EWHATEVER\)/],
  [new Error('secret'), /the connection failed\.$/],
  ['secret', /the connection failed\.$/],
  [two, /connection refused/],
]
for (const [error, message, fault = 'unreachable', isFinal] of cases) {
  test(`names the cause and not the text: ${error instanceof Error && 'code' in error ? error.code : error}`, () => {
    const outbound = outboundError('GET http://h/p', error, 2_000)
    assert.equal(outbound.fault, fault)
    assert.match(outbound.message, message)
    assert.match(outbound.message, /^GET http:\/\/h\/p .*\.$/)
    assert.doesNotMatch(outbound.message, /secret/)
    assert.equal(outbound.cause, error)
    assert.equal(isTransient(error), isFinal === undefined)
  })
}
