/** A credential of the caller that fills a URL: it goes to the target, and no record keeps it, in whatever form it stands there. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { describeDatabases } from '../../../support/databases.ts'
import { json, startService, startUpstream } from '../../../support/service.ts'
import { nowhere } from '../../../support/services/free-ports.ts'

const base64Url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const TOKEN = `${base64Url({ alg: 'RS256' })}.${base64Url({ sub: 'credential' })}.c2lnbmVk`

const BASIC = Buffer.from('user:s3cret-password?').toString('base64')

/** What fills the URL, what is the credential of it, and how it is sent. */
type Case = readonly [
  from: string,
  secret: string,
  sent: Readonly<{ headers?: Record<string, string>; query?: string; segment?: string }>,
]
const cases: readonly Case[] = [
  ['query.token', 's3cret/query', { query: '?token=s3cret%2Fquery' }],
  ['requestHeaders.authorization', 's3cret-bearer', { headers: { authorization: 'Bearer s3cret-bearer' } }],
  ['requestHeaders.authorization', BASIC, { headers: { authorization: `Basic ${BASIC}` } }],
  ['requestHeaders.x-api-key', 's3cret key=1', { headers: { 'x-api-key': 's3cret key=1' } }],
  ['requestHeaders.cookie', 's3cret-session-id', { headers: { cookie: 'theme=dark; session=s3cret-session-id' } }],
  ['requestHeaders.x-any', TOKEN, { headers: { 'x-any': TOKEN } }],
  ['query.any', TOKEN, { query: `?any=${TOKEN}` }],
  ['urlParams.segment', TOKEN, { segment: TOKEN }],
]
/** Bodies keep this one, as the message could not be replayed without it. */
const REPLAYED = 'query.token'

const seen: string[] = []
const upstream = await startUpstream(({ url }, response) => {
  seen.push(url)
  response.statusCode = url.startsWith('/refuses') ? 404 : 200
  return { said: decodeURIComponent(url) }
})
const away = await nowhere()
after(upstream.stop)

const targets: readonly (readonly [name: string, url: string])[] = [
  ['answers', `${upstream.url}/fine/:filled`],
  ['refuses', `${upstream.url}/refuses/:filled`],
  ['is away', `${away}/:filled`],
]

const formsOf = (secret: string): readonly string[] => [
  secret,
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
]

test('the attributes of a cookie are no credentials', async (context) => {
  const service = await startService({ MESSAGE_LOG: 'all' })
  const target = await startUpstream((_request, response) => {
    const attributes = 'Domain=lookups.hospital.example; Path=/fhir/r4/Patients; Expires=Wed, 09 Jun 2027 10:18:14 GMT'
    response.setHeader('set-cookie', `session=s3cret-session-id; ${attributes}`)
    return { said: 's3cret-session-id from https://lookups.hospital.example/fhir/r4/Patients' }
  })
  context.after(() => Promise.all([service.stop(), target.stop()]))
  await service.register({
    endpoint: { pattern: '/attributes' },
    requests: { lookup: { id: 'one', config: { url: `${target.url}/fhir/r4/Patients` } } },
    inputMapping: { 'lookupRequests.one.data.said': 'said', 'requestBody.link': 'link' },
  })
  const link = 'https://lookups.hospital.example/fhir/r4/Patients'
  const reply = await service.fetch('/attributes', json('POST', { link }))
  assert.equal(reply.status, 200, reply.text)
  const ask = async <T>(path: string) => (await (await fetch(`${service.adminUrl}/messages${path}`)).json()) as T
  const [{ id } = assert.fail()] = (await ask<{ messages: { id: string }[] }>('')).messages
  const { calls } = await ask<{ calls: { target: string }[] }>(`/${id}`)
  const answer = await ask<JsonObject>(`/${id}/body/answer`)
  assert.deepEqual([calls[0]?.target, answer], [`${target.url}/fhir/r4/Patients`, { said: `*** from ${link}`, link }])
})

describeDatabases('a credential in the URL of a call', ({ withDatabase }) => {
  for (const messageLog of ['metadata', 'all'] as const) {
    test(
      `is kept nowhere (MESSAGE_LOG=${messageLog})`,
      withDatabase(async (database) => {
        const service = await startService({ DATABASE_URL: database.url, MESSAGE_LOG: messageLog })
        for (const [index, [from, , { headers = {}, query = '', segment = 'segment' }]] of cases.entries()) {
          for (const [target, url] of targets) {
            const pattern = `/${index}/${targets.findIndex(([one]) => one === target)}`
            await service.register({
              name: `${index}: ${target}`,
              endpoint: { pattern: `${pattern}/:segment` },
              requests: { lookup: { id: 'one', config: { url, params: { url: { filled: { path: from } } } } } },
            })
            const before = seen.length
            const reply = await service.fetch(`${pattern}/${segment}${query}`, json('POST', {}, headers))
            assert.equal(reply.status, { answers: 200, refuses: 404, 'is away': 502 }[target], reply.text)
            assert.equal(seen.length, target === 'is away' ? before : before + 1)
          }
        }
        const { messages } = (await (await fetch(`${service.adminUrl}/messages?limit=100`)).json()) as {
          messages: JsonObject[]
        }
        const records = []
        for (const { id } of messages) records.push(await (await fetch(`${service.adminUrl}/messages/${id}`)).text())
        await service.stop()
        assert.equal(messages.length, cases.length * targets.length)
        const text = (value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString() : String(value))
        const rowsOf = async (table: 'messages' | 'message_bodies' | 'message_keys') =>
          (await database.messageRows(table)).map((row) => Object.values(row).map(text).join(' ')).join('\n')
        const kept = `${records.join('\n')}\n${await rowsOf('messages')}\n${await rowsOf('message_keys')}`
        const bodies = await rowsOf('message_bodies')
        assert.ok(kept.includes(`${upstream.url}/fine/***`))
        for (const [from, secret] of cases) {
          const where = from === REPLAYED ? kept : kept + bodies
          for (const form of formsOf(secret)) {
            const at = where.indexOf(form)
            assert.equal(at, -1, `${from}: ${where.slice(Math.max(0, at - 200), at + form.length + 50)}`)
          }
        }
      }),
    )
  }
})
