import assert from 'node:assert/strict'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Failure } from '../../../src/core/failure.ts'
import { signatureHeaders } from '../../../src/deliveries/signing.ts'
import { blocksOf } from '../../support/docs/page.ts'

// Of the reference libraries of Standard Webhooks.
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
const SIGNED = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  nowMs: 1_614_265_330_999,
  body: Buffer.from('{"test": 2432232314}'),
}

test('the published example has the published signature', () => {
  assert.deepEqual(signatureHeaders([SECRET], SIGNED), {
    'webhook-id': SIGNED.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': SIGNATURE,
  })
})

test('each secret gives a signature, newest first; a secret without the prefix is taken as its text', () => {
  const { 'webhook-signature': signatures } = signatureHeaders(['raw secret', SECRET], SIGNED)
  const raw = createHmac('sha256', 'raw secret').update(`${SIGNED.id}.1614265330.{"test": 2432232314}`)
  assert.equal(signatures, `v1,${raw.digest('base64')} ${SIGNATURE}`)
})

test('a request without a body is signed as one with an empty body', () => {
  const sign = (body: Uint8Array | undefined) => signatureHeaders([SECRET], { ...SIGNED, body })
  assert.deepEqual(sign(undefined), sign(new Uint8Array()))
})

for (const secret of ['whsec_', 'whsec_not base64!'])
  test(`a secret "${secret}" is no key, and its value is not in the sentence`, () => {
    assert.throws(
      () => signatureHeaders([secret], SIGNED),
      (thrown) =>
        thrown instanceof Failure && thrown.code === 'SECRET_UNAVAILABLE' && !thrown.message.includes('not base64!'),
    )
  })

test('the receiver of the guide accepts these signatures, of the present secret and of the former one, and no others', () => {
  const page = readFileSync(new URL('../../../docs/deliveries.md', import.meta.url), 'utf8')
  const receiver = blocksOf(page).find((block) => block.kind === 'fence' && block.words[0] === 'js')
  assert.ok(receiver?.kind === 'fence')
  const names = ['secret', 'headers', 'body', 'createHmac', 'timingSafeEqual']
  const run = new Function(...names, `${receiver.text}\nreturn isAuthentic`)
  const accepts = (secrets: readonly string[], body = '{"test": 2432232314}') =>
    run(SECRET, signatureHeaders(secrets, SIGNED), body, createHmac, timingSafeEqual)
  const other = `whsec_${Buffer.from('another key').toString('base64')}`
  assert.deepEqual(
    [accepts([SECRET]), accepts([other, SECRET]), accepts([other]), accepts([SECRET], '{}')],
    [true, true, false, false],
  )
})
