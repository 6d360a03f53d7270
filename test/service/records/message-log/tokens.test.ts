/** A JSON Web Token beside a message is a credential, whatever header or parameter it comes in: nothing keeps it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { holdsToken } from '../../../../src/records/message-log/redaction.ts'
import { timesAsCostly } from '../../../support/cpu-time.ts'
import { json, type Service, startService } from '../../../support/service.ts'

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const token = (sub: string): string => `${base64({ alg: 'RS256', typ: 'JWT' })}.${base64({ sub })}.c2lnbmVk-${sub}`

const IN_HEADER = token('header')
const IN_QUERY = token('query')
const IN_BODY = token('body')

let service: Service
before(async () => {
  service = await startService({ MESSAGE_LOG: 'all' })
})
after(() => service.stop())

const ask = async (path: string, init?: RequestInit): Promise<JsonObject> =>
  (await (await fetch(`${service.adminUrl}${path}`, init)).json()) as JsonObject

/** The newest record with everything that was kept of it, as one text. */
async function newest(): Promise<{ id: string; text: string }> {
  const { messages } = (await ask('/messages?limit=1')) as { messages: { id: string; bodies: { which: string }[] }[] }
  const [record] = messages
  assert.ok(record !== undefined)
  const parts = [JSON.stringify(await ask(`/messages/${record.id}`))]
  for (const { which } of record.bodies) {
    const reply = await fetch(`${service.adminUrl}/messages/${record.id}/body/${encodeURIComponent(which)}`)
    assert.equal(reply.status, 200)
    parts.push(await reply.text())
  }
  return { id: record.id, text: parts.join('\n') }
}

test('a token in a header or in the query is kept nowhere, also where the message repeats it', async () => {
  await service.register({
    endpoint: { pattern: '/tokens' },
    messageKeys: { caller: 'requestHeaders.x-access-token' },
    inputMapping: {
      'requestHeaders.x-access-token': 'header',
      'query.access_token': 'query',
      'requestBody.again': 'again',
      'requestBody.subject': 'subject',
    },
  })
  const body = { again: `Bearer ${IN_HEADER}`, subject: IN_BODY, mark: 'what came' }
  const headers = { 'x-access-token': `Token ${IN_HEADER}` }
  const reply = await service.fetch(`/tokens?access_token=${IN_QUERY}&access_token=2`, json('POST', body, headers))
  assert.equal(reply.status, 200)
  assert.equal(reply.json().header, `Token ${IN_HEADER}`)
  const { text } = await newest()
  assert.ok(text.includes('what came') && text.includes('***'))
  for (const secret of [IN_HEADER, IN_QUERY]) assert.ok(!text.includes(secret), text)
  assert.ok(text.includes(IN_BODY), 'in a body it may be what the message is about')
})

test('a message that is refused keeps no token either, and can be replayed without its header', async () => {
  const document = { endpoint: { pattern: '/refused' }, inputValidation: { required: ['nr'] }, name: 'refused' }
  const { _id } = await service.register(document)
  assert.equal((await service.fetch('/refused', json('POST', {}, { 'x-id-token': IN_HEADER }))).status, 400)
  const { id, text } = await newest()
  assert.ok(!text.includes(IN_HEADER) && !text.includes('x-id-token'))
  assert.equal((await service.fetch(`/endpoints/${_id}`, json('PATCH', { inputValidation: null }))).status, 200)
  assert.equal((await ask(`/messages/${id}/replay`, json('POST', {}))).outcome, 'done')
})

const texts: readonly (readonly [text: string, holds: boolean])[] = [
  [IN_HEADER, true],
  [`Bearer ${IN_HEADER}`, true],
  [`a=1; t=${IN_HEADER};`, true],
  [`x${IN_HEADER}`, false],
  ['eyJhbGciOiJub25lIn0.e30.', true],
  ['eyJ', false],
  ['eyJhbGci', false],
  ['eyebrow.of.somebody', false],
]
test('a text holds a token where one stands for itself in it', () => {
  for (const [text, holds] of texts) assert.equal(holdsToken(text), holds, text)
})

test('a long text is looked through in time that grows with its length', async () => {
  for (const part of ['eyJ', '-eyJ', 'eyJ.', '.eyJ', ' eyJ']) {
    const [hostile, usual] = [part.repeat(250_000), 'text'.repeat(part.length * 62_500)]
    const ratio = await timesAsCostly(
      () => holdsToken(hostile),
      () => holdsToken(usual),
    )
    assert.ok(ratio < 50, `${part}: ${ratio.toFixed(1)} times the processor time`)
  }
})
