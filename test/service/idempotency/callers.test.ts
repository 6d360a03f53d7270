/** Whose key it is: where an endpoint asks who sends, each sender has keys of their own, and secrets may change. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Held, keyed, passingOn, REPLAYED, startHeld } from '../../support/idempotency/keys.ts'
import { type Service, startService } from '../../support/service.ts'
import { AUDIENCE, type Issuer, inSeconds, startIssuer } from '../api/access/issuer.ts'

const folder = mkdtempSync(join(tmpdir(), 'crosswalk-secrets-'))
const put = (name: string, value: string): void => writeFileSync(join(folder, name), value)
const secret = (name: string): string => `\${file:${join(folder, name)}}`

let service: Service
let target: Held
let issuer: Issuer
before(async () => {
  put('lab', 'the-key-of-the-lab')
  put('ward', 'the-key-of-the-ward')
  issuer = await startIssuer()
  target = await startHeld()
  target.letGo()
  service = await startService({ SECRETS_ALLOW: folder, MESSAGE_LOG: 'all' })
  const jwt = { issuer: issuer.url, audience: AUDIENCE, jwksUrl: issuer.jwksUrl }
  const auth = { apiKey: { keys: [secret('lab'), secret('ward')] }, basic: { users: { lab: secret('lab') } }, jwt }
  await service.register(passingOn(target.url, { auth }))
})
after(async () => {
  await service.stop()
  await issuer.stop()
  await target.stop()
  rmSync(folder, { recursive: true })
})

const byKey = (key: string) => ({ 'x-api-key': key })
const byPassword = (password: string) => ({
  authorization: `Basic ${Buffer.from(`lab:${password}`).toString('base64')}`,
})
const byToken = async (claims: object) => ({ authorization: `Bearer ${await issuer.token({ claims: { ...claims } })}` })

let serial = 0
/** Whether the second of two senders of one key gets the answer of the first. */
async function gets(first: Record<string, string>, second: () => Promise<Record<string, string>>): Promise<boolean> {
  const key = `key ${serial++}`
  const one = await service.fetch('/orders', keyed(key, {}, first))
  const headers = await second()
  const before = target.received.length
  const other = await service.fetch('/orders', keyed(key, {}, headers))
  assert.deepEqual([one.status, other.status], [200, 200], other.text)
  const again = other.headers.has(REPLAYED)
  assert.equal(other.text === one.text, again)
  assert.equal(target.received.length - before, again ? 0 : 1)
  return again
}

test('another caller with the same key gets nothing of the answer', async () => {
  assert.equal(await gets(byKey('the-key-of-the-lab'), async () => byKey('the-key-of-the-ward')), false)
  assert.equal(await gets(byKey('the-key-of-the-lab'), async () => byPassword('the-key-of-the-lab')), false)
  assert.equal(await gets(await byToken({ sub: 'ann' }), () => byToken({ sub: 'ben' })), false)
  assert.equal(await gets(await byToken({ sub: 'ann' }), async () => byKey('the-key-of-the-lab')), false)
})

test('another message with the key of another caller is not distinguished from a new one', async () => {
  assert.equal((await service.fetch('/orders', keyed('mine', { a: 1 }, byKey('the-key-of-the-lab')))).status, 200)
  assert.equal((await service.fetch('/orders', keyed('mine', { a: 2 }, byKey('the-key-of-the-ward')))).status, 200)
  assert.equal((await service.fetch('/orders', keyed('mine', { a: 2 }, byKey('the-key-of-the-lab')))).status, 422)
})

test('who may not send gets no answer, whatever key they name', async () => {
  await service.fetch('/orders', keyed('known', {}, byKey('the-key-of-the-lab')))
  const before = target.received.length
  for (const headers of [{}, byKey('wrong'), byPassword('wrong')]) {
    const reply = await service.fetch('/orders', keyed('known', {}, headers))
    assert.deepEqual([reply.status, reply.headers.has(REPLAYED)], [401, false])
  }
  assert.equal(target.received.length, before)
})

test('a new secret or token of the same caller gets the answer', async () => {
  assert.equal(await gets(byKey('the-key-of-the-lab'), async () => byKey('the-key-of-the-lab')), true)
  assert.equal(await gets(await byToken({}), () => byToken({ exp: inSeconds(300), jti: 'x' })), true)
  const change = (to: (value: string) => Record<string, string>) => async () => {
    const value = `another-key-${serial}`
    put('lab', value)
    // A file that has changed is in force with a later message.
    while ((await service.fetch('/orders', keyed(`look ${serial++}`, {}, byKey(value)))).status !== 200);
    return to(value)
  }
  assert.equal(await gets(byPassword('the-key-of-the-lab'), change(byPassword)), true)
})

test('what is given again leaves no credential and no body in the message log', async () => {
  const mark = 'a-text-that-nobody-else-sends'
  for (let n = 0; n < 2; n += 1) {
    await service.fetch('/orders', keyed('logged', { mark }, byKey('the-key-of-the-ward')))
  }
  const { messages } = (await (await fetch(`${service.adminUrl}/messages?limit=2`)).json()) as {
    messages: { id: string; answerOf?: string; bodies: unknown[] }[]
  }
  assert.equal(messages[0]?.answerOf, messages[1]?.id)
  assert.deepEqual(messages[0]?.bodies, [])
})
