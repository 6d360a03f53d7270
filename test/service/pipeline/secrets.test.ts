/** Secrets that documents refer to: where they go, where they never go, and what becomes of a message without them. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import {
  endpointDocument,
  json,
  type Service,
  startService,
  startUpstream,
  type Upstream,
} from '../../support/service.ts'

const home = mkdtempSync(join(tmpdir(), 'crosswalk-'))
const folder = join(home, 'secrets')
const file = (name: string) => `\${file:${folder}/${name}}`
const put = (name: string, content: string) => writeFileSync(join(folder, name), content)

/** Each with characters that one form or another must escape. */
const VALUES = {
  header: 'Bearer s3cret-1/"quoted"\\&<é>',
  path: 's3cret-2/a?b#c d%',
  query: 's3cret-3&x=1+2é',
  constant: 's3cret-4 "<&>\' / é ü',
  nested: 's3cret-5',
  hookPath: '/hooks/s3cret-6-path',
  hookSignature: 's3cret-7-signature',
} as const

let upstream: Upstream
let service: Service
before(async () => {
  mkdirSync(folder)
  upstream = await startUpstream(({ url, headers, body }, response) => {
    if (url.startsWith('/resets')) response.destroy()
    else if (url.startsWith('/refuses')) response.writeHead(422).end(JSON.stringify({ url, headers, body }))
    else if (url.startsWith('/garbage')) response.setHeader('content-type', 'application/json').end(`{"${headers.key}`)
    // What is sent comes back, so that every body of the message holds it.
    else return { url, headers: { ...headers } as JsonObject, body, escaped: decodeURIComponent(url) }
    return undefined
  })
  process.env.CROSSWALK_SECRET_TEST_QUERY = VALUES.query
  put('header', `${VALUES.header}\n`)
  put('path', VALUES.path)
  put('constant', VALUES.constant)
  put('nested', VALUES.nested)
  put('base', `${upstream.url}/`)
  put('hook', `${upstream.url}${VALUES.hookPath}?sig=${VALUES.hookSignature}`)
  put('away-hook', `http://127.0.0.1:1${VALUES.hookPath}?sig=${VALUES.hookSignature}`)
  service = await startService(
    { SECRETS_ALLOW: `CROSSWALK_SECRET_*,${folder}`, MESSAGE_LOG: 'all', LOG_MESSAGES: 'all' },
    home,
  )
})
after(async () => {
  await service.stop()
  await upstream.stop()
  delete process.env.CROSSWALK_SECRET_TEST_QUERY
  rmSync(home, { recursive: true })
})

const CONFIG = () => ({
  url: `${upstream.url}/p/${file('path')}/:id?key=\${env:CROSSWALK_SECRET_TEST_QUERY}`,
  headers: { Key: file('header'), 'X-Two': `a ${file('nested')} b ${file('nested')}`, 'X-Text': '$${env:HOME} ${x}' },
  params: { url: { id: { path: 'requestBody.id' } }, query: { q: { path: 'constants.deep.list[0]' } } },
})
const LOOKUP = () => ({ id: 'look', config: CONFIG() })
const CONSTANTS = { plain: '${no}', one: file('constant'), deep: { list: [file('nested'), 7, null], other: true } }

const admin = (path: string) => call(service.adminUrl, 'GET', path)

let routes = 0
async function send(document: JsonObject, body: JsonObject = { id: 'i 1' }) {
  routes += 1
  const pattern = `/secrets-${routes}`
  const stored = await service.register({ endpoint: { pattern }, ...document })
  const reply = await service.fetch(pattern, json('POST', body))
  return { stored, reply, pattern }
}

describe('a message is given the values', () => {
  test('in URL, query and headers of a lookup', async () => {
    const { reply } = await send({ constants: CONSTANTS, requests: { lookup: LOOKUP() } })
    assert.equal(reply.status, 200, reply.text)
    const sent = upstream.received.at(-1)
    const query = `key=${encodeURIComponent(VALUES.query)}&q=s3cret-5`
    assert.equal(sent?.url, `/p/${encodeURIComponent(VALUES.path)}/i%201?${query}`)
    assert.equal(sent?.headers.key, Buffer.from(VALUES.header, 'latin1').toString('latin1'))
    assert.deepEqual(
      [sent?.headers['x-two'], sent?.headers['x-text']],
      [`a ${VALUES.nested} b ${VALUES.nested}`, '${env:HOME} ${x}'],
    )
  })

  test('in constants, wherever in them, and an answer that they are mapped to has them', async () => {
    const { reply } = await send({
      constants: CONSTANTS,
      inputTransforms: { both: 'constants.one & "/" & constants.plain' },
      inputMapping: { 'constants.deep': 'deep', 'transforms.both': 'both' },
    })
    assert.deepEqual(reply.json(), {
      deep: { list: [VALUES.nested, 7, null], other: true },
      both: `${VALUES.constant}/\${no}`,
    })
  })

  test('for the start of a URL, and for a whole one', async () => {
    const config = { url: `${file('base')}/more?a=1`, params: { query: { b: { path: 'requestBody.id' } } } }
    await send({ requests: { response: { id: 'r', config } } })
    assert.equal(upstream.received.at(-1)?.url, '/more?a=1&b=i%201')
    await send({ requests: { response: { id: 'r', config: { ...config, url: file('hook') } } } })
    assert.equal(upstream.received.at(-1)?.url, `${VALUES.hookPath}?sig=${VALUES.hookSignature}&b=i%201`)
  })

  test('as they are at that moment', async () => {
    put('changing', 'first')
    const { pattern } = await send({ constants: { c: file('changing') }, inputMapping: { 'constants.c': 'c' } })
    for (const content of ['second', 'third!']) {
      put('changing', content)
      assert.deepEqual((await service.fetch(pattern, json('POST', {}))).json(), { c: content })
    }
  })
})

test('documents, their versions and their list show the reference', async () => {
  const { stored } = await send({ constants: CONSTANTS, requests: { lookup: LOOKUP() } })
  for (const path of [`/endpoints/${stored._id}`, '/endpoints', `/endpoints/${stored._id}/versions/1`]) {
    const reply = await service.fetch(path)
    assert.ok(reply.text.includes(JSON.stringify(file('header'))), path)
    assert.doesNotMatch(reply.text, /s3cret/)
  }
})

describe('no value', () => {
  const failing = (id: string) => ({
    id,
    config: { ...CONFIG(), url: `${upstream.url}/${id}/${file('path')}`, params: {} },
  })
  const documents: Readonly<Record<string, () => JsonObject>> = {
    'of a message that is done': () => ({ requests: { lookup: LOOKUP(), response: { id: 'r', config: CONFIG() } } }),
    'of one without bodies to read': () => ({
      inputMapping: { 'constants.one': 'one' },
      messageKeys: { k: 'constants.one' },
    }),
    'of XML': () => ({
      transformation: { input: 'JSON', output: 'XML' },
      inputMapping: { 'constants.one': 'a.$.b', 'constants.deep.list[0]': 'a._' },
    }),
    'of a refused lookup': () => ({ requests: { lookup: failing('refuses') } }),
    'of a lookup without answer': () => ({ requests: { lookup: failing('resets') } }),
    'of a lookup that cannot be read': () => ({ requests: { lookup: failing('garbage') } }),
    'of several responses that fail': () => ({ requests: { response: ['resets', 'refuses', 'garbage'].map(failing) } }),
    'of a URL that is a secret': () => ({ requests: { lookup: { id: 'l', config: { url: file('hook') } } } }),
    'of one that leads nowhere': () => ({ requests: { lookup: { id: 'l', config: { url: file('away-hook') } } } }),
    'of a transform that quotes it': () => ({ inputTransforms: { t: '$error(constants.one)' } }),
    'of a transform that trips over it': () => ({ inputTransforms: { t: '$number(constants.one)' } }),
  }
  const isExposed = (text: string) => /s3cret/.test(text)
  /** What upstreams said goes to the sender, whatever is in it. */
  const answered = ['of a message that is done', 'of one without', 'of XML', 'of several responses', 'of a URL that is']

  for (const [name, document] of Object.entries(documents)) {
    test(`${name} is in the log, the records, the answer of a failure or a dry run`, async () => {
      const { reply, stored } = await send({ constants: CONSTANTS, ...document() })
      if (!answered.some((start) => name.startsWith(start))) assert.ok(!isExposed(reply.text), reply.text)
      const id = reply.headers.get('x-crosswalk-message-id') ?? assert.fail()

      const found = await admin(`/messages/${id}`)
      assert.ok(!isExposed(found.text), found.text)
      const { bodies } = JSON.parse(found.text) as { bodies: { which: string }[] }
      assert.ok(bodies.length > 0)
      for (const { which } of bodies) {
        const body = await admin(`/messages/${id}/body/${encodeURIComponent(which)}`)
        assert.equal(body.status, 200)
        assert.ok(!isExposed(body.text), `${which}: ${body.text}`)
      }
      const given = { endpointId: stored._id, live: true, message: { body: { id: 'i' } } }
      const dryRun = await service.fetch('/endpoints/dry-run', json('POST', given))
      assert.equal(dryRun.status, 200, dryRun.text)
      assert.ok(!isExposed(dryRun.text), dryRun.text)
      assert.ok(!isExposed(JSON.stringify(service.log)))
    })
  }

  test('is in the message log, the metrics or the statistics', async () => {
    assert.ok(!isExposed((await admin(`/metrics`)).text))
    assert.ok(!isExposed((await admin(`/messages?limit=200`)).text))
    const database = new DatabaseSync(join(home, 'test-messages.db'), { readOnly: true })
    const rows = ['messages', 'message_bodies', 'message_keys'].flatMap((table) =>
      database.prepare(`select * from ${table}`).all(),
    )
    database.close()
    assert.ok(rows.length > 20)
    for (const row of rows)
      for (const value of Object.values(row))
        assert.ok(!isExposed(value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)))
  })
})

test('a failure names the reference', async () => {
  const { reply } = await send({ requests: { lookup: { id: 'l', config: { url: `${file('away-hook')}` } } } })
  assert.equal(reply.json().code, 'LOOKUP_UNREACHABLE')
  assert.equal(
    reply.json().error,
    `The request "l" failed: GET ${file('away-hook')} got no complete answer: connection refused.`,
  )
  const line = service.log.findLast(({ fields }) => fields.messageId === reply.json().messageId)
  assert.ok(line?.message.includes(`GET ${file('away-hook')} got`), line?.message)
})

describe('a secret that cannot be had', () => {
  const missing = '${env:CROSSWALK_SECRET_MISSING}'
  const notSet = `The secret "${missing}" is not set.`
  const request = (config: JsonObject) => ({ id: 'l', config: { url: upstream.url, ...config } })
  const cases: [name: string, document: () => JsonObject, path: string, reported: string][] = [
    ['in a constant', () => ({ constants: { a: { b: ['x', `<${missing}>`] } } }), 'constants.a.b[1]', notSet],
    [
      'in a header',
      () => ({ requests: { lookup: [LOOKUP(), request({ headers: { 'X-Own': missing } })] } }),
      'requests.lookup[1].config.headers.X-Own',
      notSet,
    ],
    [
      'in a URL',
      () => ({ requests: { response: [request({ url: `${upstream.url}/\${file:/etc/hostname}` })] } }),
      'requests.response[0].config.url',
      'The secret "${file:/etc/hostname}" may not be used: SECRETS_ALLOW does not name it.',
    ],
  ]
  for (const [name, document, path, reported] of cases) {
    test(`${name} is a warning at registration, and a 503 for each message before anything is sent`, async () => {
      routes += 1
      const pattern = `/secrets-${routes}`
      const given = endpointDocument({ endpoint: { pattern }, constants: CONSTANTS, ...document() })
      const registered = await service.fetch('/endpoints', json('POST', given))
      assert.equal(registered.status, 201, registered.text)
      const warnings: { path: string; message: string }[] = JSON.parse(
        registered.headers.get('x-crosswalk-warnings') ?? '[]',
      )
      // The others are of texts that nothing fills.
      assert.deepEqual(
        warnings.filter(({ message }) => !message.startsWith('Nothing fills "${')),
        [{ path, message: reported }],
      )
      const before = upstream.received.length
      const reply = await service.fetch(pattern, json('POST', { id: 1 }))
      assert.equal(reply.status, 503, reply.text)
      assert.equal(reply.headers.get('retry-after'), '1')
      const { code, error, path: blamed } = reply.json<{ code: string; error: string; path: string }>()
      assert.deepEqual([code, error, blamed], ['SECRET_UNAVAILABLE', reported, path])
      assert.equal(upstream.received.length, before)
    })
  }

  test('in a header, or the start of a URL, since it does not fit there, is the same', async () => {
    put('lines', 'a\nb')
    put('no-url', 'ftp://example.org/')
    put('user-url', 'http://user:s3cret@example.org/')
    put('query-url', 'http://example.org/?a=1')
    const cases: [JsonObject, RegExp][] = [
      [{ url: upstream.url, headers: { a: file('lines') } }, /header "a" holds a line break/],
      [{ url: `${file('no-url')}/x` }, /starts no URL/],
      [{ url: file('user-url') }, /without credentials/],
      [{ url: `${file('query-url')}/x` }, /without credentials, query/],
    ]
    for (const [config, message] of cases) {
      const { reply } = await send({ requests: { lookup: { id: 'l', config } } })
      assert.deepEqual([reply.status, reply.json().code], [503, 'SECRET_UNAVAILABLE'])
      assert.match(String(reply.json().error), message)
    }
  })

  test('works as soon as it is there', async () => {
    const { reply, pattern } = await send({ constants: { c: file('late') }, inputMapping: { 'constants.c': 'c' } })
    assert.equal(reply.status, 503)
    put('late', 'here')
    assert.deepEqual((await service.fetch(pattern, json('POST', {}))).json(), { c: 'here' })
  })
})
