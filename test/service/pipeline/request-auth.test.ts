/** `config.auth` of requests: what is sent, what is never shown, and what becomes of a message without it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { endpointDocument, json, type Received, startService, startUpstream } from '../../support/service.ts'
import { nowhere } from '../../support/services/free-ports.ts'
import { failureOf, openPipeline } from './fixture.ts'

const SECRETS = {
  CROSSWALK_SECRET_AUTH_PASSWORD: 's3cret:päss/word+1',
  CROSSWALK_SECRET_AUTH_TOKEN: 's3cret-bearer-token',
  CROSSWALK_SECRET_AUTH_CLIENT: 's3cret-of-client',
  CROSSWALK_SECRET_AUTH_LINES: 'a\nb',
}
const env = (name: string) => `\${env:CROSSWALK_SECRET_AUTH_${name}}`

before(() => void Object.assign(process.env, SECRETS))
after(() => {
  for (const name of Object.keys(SECRETS)) delete process.env[name]
})

const pipeline = openPipeline({ MESSAGE_LOG: 'all', LOG_MESSAGES: 'all', REQUEST_TIMEOUT_MS: '1000' })

const lookup = (auth: JsonObject, url: string, more: JsonObject = {}): JsonObject => ({
  requests: { lookup: { id: 'one', ...more, config: { url, auth } } },
})
const oauth2 = (tokenUrl: string, more: JsonObject = {}): JsonObject => ({
  oauth2: { tokenUrl, clientId: 'me', clientSecret: env('CLIENT'), ...more },
})

/** A token endpoint that gives `s3cret-t1`, `s3cret-t2`, …, and what it was asked. */
function tokenEndpoint(more: JsonObject = {}) {
  const asked: Received[] = []
  const url = pipeline.at((request) => {
    asked.push(request)
    return { access_token: `s3cret-t${asked.length}`, token_type: 'Bearer', expires_in: 3600, ...more }
  })
  return { url, asked }
}

/** A target that takes these tokens alone, and says which it got. */
function target(...tokens: readonly string[]) {
  const got: (string | undefined)[] = []
  const url = pipeline.at(({ headers }, response) => {
    got.push(headers.authorization)
    const isTaken = tokens.some((token) => headers.authorization === `Bearer ${token}`)
    response.writeHead(isTaken ? 200 : 401, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ got: headers.authorization ?? null }))
    return undefined
  })
  return { url, got }
}

const recordOf = async (id: string | null) =>
  JSON.parse((await call(pipeline.service.adminUrl, 'GET', `/messages/${id}`)).text) as { calls: JsonObject[] }
const messageId = (reply: { headers: Headers }) => reply.headers.get('x-crosswalk-message-id')

describe('a request', () => {
  test('with a user and a password is sent as RFC 7617 says', async () => {
    const [sent] = await pipeline.receivedIn(() =>
      pipeline.send(lookup({ basic: { username: 'lab', password: env('PASSWORD') } }, `${pipeline.upstream.url}/200`)),
    )
    const expected = Buffer.from(`lab:${SECRETS.CROSSWALK_SECRET_AUTH_PASSWORD}`).toString('base64')
    assert.equal(sent?.headers.authorization, `Basic ${expected}`)
  })

  test('with a token has it, a response request too', async () => {
    const requests = {
      response: { id: 'r', config: { url: `${pipeline.upstream.url}/200`, auth: { bearer: env('TOKEN') } } },
    }
    const [sent] = await pipeline.receivedIn(() => pipeline.send({ requests }))
    assert.equal(sent?.headers.authorization, 'Bearer s3cret-bearer-token')
  })

  test('with OAuth 2.0 gets a token, which the next message has too', async () => {
    const tokens = tokenEndpoint()
    const { url, got } = target('s3cret-t1')
    const path = await pipeline.register(lookup(oauth2(tokens.url), url))
    const replies = [1, 2].map(() => pipeline.service.fetch(path, json('POST', {})))
    for (const reply of await Promise.all(replies)) assert.equal(reply.status, 200, reply.text)
    const third = await pipeline.service.fetch(path, json('POST', {}))
    assert.deepEqual([tokens.asked.length, new Set(got).size], [1, 1])
    const { calls } = await recordOf(messageId(third))
    assert.deepEqual(calls[0]?.token, { from: tokens.url, how: 'kept' })
  })

  test('that is answered 401 asks for another token once, and is then answered as it is', async () => {
    const tokens = tokenEndpoint()
    const { url, got } = target('s3cret-t2')
    const auth = oauth2(tokens.url, { scope: 'renewed' })
    const path = await pipeline.register({
      requests: { response: { id: 'r', config: { url, method: 'POST', auth } } },
    })
    const reply = await pipeline.service.fetch(path, json('POST', { a: 1 }))
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(got, ['Bearer s3cret-t1', 'Bearer s3cret-t2'])
    const { calls } = await recordOf(messageId(reply))
    assert.deepEqual(calls[0]?.token, { from: tokens.url, how: 'renewed' })

    const never = target()
    const refused = await pipeline.send(lookup(oauth2(tokens.url, { scope: 'never' }), never.url))
    assert.deepEqual(failureOf(refused), [401, 'LOOKUP_REFUSED', 'lookup', 'requests.lookup[0]'])
    assert.deepEqual([never.got.length, tokens.asked.length], [2, 4])
    assert.doesNotMatch(refused.text, /s3cret/)
  })

  test('that is always answered 401 costs one more token a minute, also where others share it and are answered', async () => {
    const tokens = tokenEndpoint()
    const fine = pipeline.at(() => ({}))
    const never = target()
    const auth = oauth2(tokens.url, { scope: 'shared' })
    const [taken, refused] = [
      await pipeline.register(lookup(auth, fine)),
      await pipeline.register(lookup(auth, never.url)),
    ]
    for (const _ of [1, 2, 3, 4]) {
      assert.equal((await pipeline.service.fetch(taken, json('POST', {}))).status, 200)
      assert.equal((await pipeline.service.fetch(refused, json('POST', {}))).status, 401)
    }
    assert.equal(tokens.asked.length, 2)
  })

  test('of each item of a forEach has the token, which is asked for once', async () => {
    const tokens = tokenEndpoint()
    const { url, got } = target('s3cret-t1')
    const items = { forEach: { items: 'payload', concurrency: 10 } }
    const reply = await pipeline.send(lookup(oauth2(tokens.url, { scope: 'items' }), url, items), [1, 2, 3, 4, 5])
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual([got.length, tokens.asked.length], [5, 1])
  })

  test('whose token endpoint fails names it, and is sent to no target', async () => {
    const { url, got } = target()
    const gone = await nowhere()
    const said = (body: string, status = 200) => pipeline.at({ status, body })
    const cases: readonly (readonly [tokenUrl: string, status: number, code: string, says: RegExp])[] = [
      [said('{"error":"invalid_client"}', 401), 502, 'AUTH_UNAVAILABLE', /answered with status 401 \(invalid_client\)/],
      [said('{"access_token":"a\\nb"}'), 502, 'AUTH_UNAVAILABLE', /that no header can hold/],
      [`${gone}/token`, 502, 'LOOKUP_UNREACHABLE', /got no complete answer: connection refused/],
      [pipeline.at(() => undefined), 504, 'LOOKUP_TIMED_OUT', /timed out after/],
    ]
    for (const [tokenUrl, status, code, says] of cases) {
      const reply = await pipeline.send(lookup(oauth2(tokenUrl), url, { timeoutMs: 400 }))
      assert.deepEqual(failureOf(reply), [status, code, 'lookup', 'requests.lookup[0]'])
      assert.match(String(reply.json().error), says)
      assert.ok(String(reply.json().error).includes(`the token endpoint ${tokenUrl}`), reply.text)
      const { calls } = await recordOf(messageId(reply))
      assert.deepEqual(calls[0]?.token, { from: tokenUrl, how: 'failed' })
      const optional = await pipeline.send(
        lookup(oauth2(tokenUrl), url, { optional: true, default: 1, timeoutMs: 400 }),
      )
      assert.equal(optional.status, 200, optional.text)
    }
    assert.deepEqual(got, [])
  })

  test('whose target is slow fails with the time that the request had, the wait for its token included', async () => {
    // Not that of all tests, as so many timeouts open its circuit.
    const silent = await startUpstream(() => undefined)
    const tokens = tokenEndpoint()
    try {
      for (const more of [{}, { cache: { seconds: 60 } }]) {
        const auth = oauth2(tokens.url, { scope: 'slow' })
        const reply = await pipeline.send(lookup(auth, silent.url, { timeoutMs: 150, ...more }))
        assert.match(String(reply.json().error), / timed out after 150 ms\./)
        const noToken = oauth2(`${silent.url}/token`)
        const second = await pipeline.send(lookup(noToken, silent.url, { timeoutMs: 150, ...more }))
        assert.match(String(second.json().error), /the token endpoint .* timed out after 150 ms\./)
      }
    } finally {
      await silent.stop()
    }
  })

  test('whose token endpoint may not be called is a warning and a failure', async () => {
    const service = await startService({ EGRESS_DENY: 'localhost' })
    try {
      const { port } = new URL(pipeline.upstream.url)
      const document = endpointDocument({
        endpoint: { pattern: '/denied' },
        ...lookup(oauth2(`http://localhost:${port}/token`), `${pipeline.upstream.url}/200`),
      })
      const registered = await service.fetch('/endpoints', json('POST', document))
      const warnings = JSON.parse(registered.headers.get('x-crosswalk-warnings') ?? '[]') as { path: string }[]
      assert.deepEqual(
        warnings.map(({ path }) => path),
        ['requests.lookup[0].config.auth.oauth2.tokenUrl'],
      )
      const reply = await service.fetch('/denied', json('POST', {}))
      assert.deepEqual(failureOf(reply), [502, 'EGRESS_DENIED', 'lookup', 'requests.lookup[0]'])
    } finally {
      await service.stop()
    }
  })

  test('with a secret that no header can hold, or that is missing, fails before anything is sent', async () => {
    const { received } = pipeline.upstream
    const before = received.length
    const cases: readonly (readonly [auth: JsonObject, path: string])[] = [
      [{ bearer: env('LINES') }, 'bearer'],
      [{ bearer: env('MISSING') }, 'bearer'],
      [{ basic: { username: 'a', password: env('MISSING') } }, 'basic.password'],
      [oauth2(pipeline.upstream.url, { clientSecret: env('MISSING') }), 'oauth2.clientSecret'],
      [oauth2(`${env('MISSING')}/token`), 'oauth2.tokenUrl'],
    ]
    for (const [auth, path] of cases) {
      const reply = await pipeline.send(lookup(auth, `${pipeline.upstream.url}/200`))
      const at = `requests.lookup[0].config.auth.${path}`
      assert.deepEqual(failureOf(reply), [503, 'SECRET_UNAVAILABLE', 'lookup', at])
    }
    assert.equal(received.length, before)
  })
})

describe('what is sent with a request', () => {
  const echoing = () =>
    pipeline.at(({ headers }, response) => {
      response.writeHead(422, { 'content-type': 'text/plain' }).end(`you sent ${headers.authorization}`)
      return undefined
    })
  const cases: Readonly<Record<string, () => JsonObject>> = {
    basic: () => ({ basic: { username: 'lab', password: env('PASSWORD') } }),
    'basic, in the document': () => ({ basic: { username: 'lab', password: 's3cret!' } }),
    bearer: () => ({ bearer: env('TOKEN') }),
    'bearer, in the document': () => ({ bearer: 's3cret-in-document' }),
    oauth2: () => oauth2(tokenEndpoint().url, { audience: 'echo' }),
  }
  for (const [name, auth] of Object.entries(cases)) {
    test(`${name}: is in no failure, record, log or dry run, even if the target repeats it`, async () => {
      const url = echoing()
      const reply = await pipeline.send(lookup(auth(), url))
      assert.equal(reply.status, 422, reply.text)
      const { headers } =
        pipeline.upstream.received.findLast((one) => one.url === new URL(url).pathname) ?? assert.fail()
      const [, sent = ''] = String(headers.authorization).split(' ')
      const isExposed = (text: string) => /s3cret/.test(text) || text.includes(sent)
      assert.ok(sent.length > 5 && !isExposed(reply.text), reply.text)
      const id = messageId(reply)
      const record = await call(pipeline.service.adminUrl, 'GET', `/messages/${id}`)
      assert.ok(!isExposed(record.text), record.text)
      for (const { which } of record.json<{ bodies: { which: string }[] }>().bodies) {
        const body = await call(pipeline.service.adminUrl, 'GET', `/messages/${id}/body/${encodeURIComponent(which)}`)
        assert.ok(!isExposed(body.text), `${which}: ${body.text}`)
      }
      const endpoint = endpointDocument({ endpoint: { pattern: '/dry' }, ...lookup(auth(), url) })
      const given = { endpoint, live: true, message: { body: {} } }
      const dryRun = await pipeline.service.fetch('/endpoints/dry-run', json('POST', given))
      assert.equal(dryRun.status, 200, dryRun.text)
      // The secret of another token is another text.
      assert.doesNotMatch(dryRun.text, /s3cret/)
      assert.ok(!isExposed(JSON.stringify(pipeline.service.log)))
    })
  }

  test('is nothing in a dry run, which asks for no token and says that it would', async () => {
    const tokens = tokenEndpoint()
    const endpoint = endpointDocument({
      endpoint: { pattern: '/dry' },
      ...lookup(oauth2(tokens.url), `${pipeline.upstream.url}/200`),
    })
    const given = { endpoint, lookups: { one: { body: {} } }, message: { body: {} } }
    const reply = await pipeline.service.fetch('/endpoints/dry-run', json('POST', given))
    const [made] = reply.json<{ calls: { headers: Record<string, Json> }[] }>().calls
    assert.equal(made?.headers.authorization, '[redacted]')
    assert.deepEqual(tokens.asked, [])
  })
})
