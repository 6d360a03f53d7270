import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errors } from 'undici'
import { isTransient, outboundError } from '../../../../src/adapters/http-client/client-faults.ts'

const withCode = (code: string) => Object.assign(new Error('secret text'), { code })

const cases = [
  { error: withCode('ENOTFOUND'), fault: 'unreachable', passing: true, message: /name not found\.$/ },
  { error: withCode('EAI_AGAIN'), fault: 'unreachable', passing: true, message: /for now/ },
  { error: withCode('EHOSTUNREACH'), fault: 'unreachable', passing: true, message: /host unreachable/ },
  { error: withCode('EPIPE'), fault: 'unreachable', passing: true, message: /connection reset/ },
  { error: withCode('ETIMEDOUT'), fault: 'timeout', passing: true, message: /timed out/ },
  { error: new errors.ConnectTimeoutError('secret'), fault: 'timeout', passing: true, message: /within 2000 ms/ },
  { error: new errors.SocketError('secret'), fault: 'unreachable', passing: true, message: /closed before/ },
  {
    error: new errors.InvalidArgumentError('invalid x header'),
    fault: 'unreachable',
    passing: false,
    message: /x header/,
  },
  { error: withCode('DEPTH_ZERO_SELF_SIGNED_CERT'), fault: 'unreachable', passing: false, message: /\(DEPTH_ZERO/ },
  { error: withCode('CERT_HAS_EXPIRED'), fault: 'unreachable', passing: false, message: /no secure connection/ },
  { error: withCode('ERR_TLS_CERT_ALTNAME_INVALID'), fault: 'unreachable', passing: false, message: /no secure/ },
  { error: withCode('EWHATEVER'), fault: 'unreachable', passing: true, message: /failed \(EWHATEVER\)/ },
  { error: new Error('secret'), fault: 'unreachable', passing: true, message: /the connection failed\.$/ },
  { error: 'secret', fault: 'unreachable', passing: true, message: /the connection failed\.$/ },
  {
    error: new AggregateError([withCode('ECONNREFUSED'), withCode('EHOSTUNREACH')]),
    fault: 'unreachable',
    passing: true,
    message: /connection refused/,
  },
] as const
for (const { error, fault, passing, message } of cases) {
  test(`names the cause and not the text: ${error instanceof Error && 'code' in error ? error.code : error}`, () => {
    const outbound = outboundError('GET http://h/p', error, 2_000)
    assert.equal(outbound.fault, fault)
    assert.match(outbound.message, message)
    assert.match(outbound.message, /^GET http:\/\/h\/p .*\.$/)
    assert.doesNotMatch(outbound.message, /secret/)
    assert.equal(outbound.cause, error)
    assert.equal(isTransient(error), passing)
  })
}
