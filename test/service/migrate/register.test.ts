import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Files, folderWith, importAs, peerDocument } from '../../support/migrate/import-rig.ts'
import { json, type Service, type StoredEndpoint, startService, startUpstream } from '../../support/service.ts'

describe('crosswalk import --apply', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  const apply = (folder: string, more: { replace?: true } = {}) =>
    importAs([folder], { output: join(folder, 'out'), apply: service.url, ...more })

  const stored = async (): Promise<readonly StoredEndpoint[]> =>
    (await service.fetch('/endpoints')).json<readonly StoredEndpoint[]>()
  const named = async (name: string) => (await stored()).find((one) => one.name === name)

  test('registers all documents, and finds them there the second time', async (context) => {
    const documents = [peerDocument({ name: 'First' }), peerDocument({ name: 'Second' })]
    const folder = folderWith({ 'a.json': documents }, context)
    const first = await apply(folder)
    assert.equal(first.code, 0, first.stderr)
    assert.match(first.stdout, /^Registered at .*: 2 created, 0 replaced, 0 there already\.$/m)
    const before = await stored()
    const second = await importAs([join(folder, 'out')], { output: join(folder, 'out'), apply: `${service.url}/` })
    assert.match(second.stdout, /: 0 created, 0 replaced, 2 there already\.$/m)
    assert.deepEqual(await stored(), before)
  })

  test('refuses to replace another endpoint of the same name, unless it is asked to', async (context) => {
    const folder = folderWith({ 'a.json': [peerDocument({ name: 'New' }), peerDocument({ name: 'Taken' })] }, context)
    const { _id } = await service.register({ name: 'Taken', endpoint: { pattern: '/taken' } })
    const refused = await apply(folder)
    assert.equal(refused.code, 3)
    assert.match(refused.stderr, /^crosswalk: taken\.json: .* has another endpoint with the name "Taken"; .*--replace/)
    assert.match(refused.stderr, /Nothing was registered\.\n$/)
    assert.equal(await named('New'), undefined)

    const replaced = await apply(folder, { replace: true })
    assert.equal(replaced.code, 0, replaced.stderr)
    assert.match(replaced.stdout, /: 1 created, 1 replaced, 0 there already\.$/m)
    const taken = await named('Taken')
    assert.equal(taken?._id, _id)
    assert.match(JSON.stringify(taken), /orders-/)
  })

  test('reports what the service refuses with the file of each document, and registers nothing', async (context) => {
    await service.register({ name: 'In the way', endpoint: { pattern: '/clash/:a' } })
    const clashing = peerDocument({ name: 'Clashing', endpoint: { pattern: '/clash/:b' } })
    const folder = folderWith({ 'a.json': [peerDocument({ name: 'Sound' }), clashing] }, context)
    const { code, stderr } = await apply(folder)
    assert.equal(code, 3)
    assert.match(stderr, /^crosswalk: clashing\.json: endpoint\.pattern: "In the way"/m)
    assert.equal(await named('Sound'), undefined)
  })

  test('the first message continues from the state of the peer', async (context) => {
    const _id = 'c'.repeat(24)
    const document = peerDocument({
      name: 'Poll',
      _id,
      endpoint: { pattern: '/poll' },
      state: { extract: { requestBody: { last: 'last' } } },
      inputMapping: { 'state.requestBody.last': 'before', 'requestBody.last': 'now' },
    })
    const state = (last: number): Files => ({
      'states.json': {
        _id: { $oid: 'd'.repeat(24) },
        _endpointReference: { $oid: _id },
        requestBody: { last },
        lookupNetworkError: false,
        system: {
          timestamps: {
            endpointStart: '2026-01-01T00:00:00.000Z',
            endpointEnd: '2026-01-01T00:00:01.000Z',
            endpointDuration: { milliseconds: 1000 },
            lookupRequests: {},
          },
        },
        createdAt: { $date: '2026-01-01T00:00:01.000Z' },
      },
    })
    const folder = folderWith({ 'a.json': document, ...state(7) }, context)
    const { code, stderr } = await apply(folder)
    assert.equal(code, 0, stderr)
    const post = async (last: number) => (await service.fetch('/poll', json('POST', { last }))).json()
    assert.deepEqual(await post(8), { before: 7, now: 8 })

    // A second export, taken when the peer was stopped.
    writeFileSync(join(folder, 'states.json'), JSON.stringify(state(20)['states.json']))
    assert.match((await apply(folder)).stdout, /1 there already/)
    assert.deepEqual(await post(9), { before: 8, now: 9 })
    assert.match((await apply(folder, { replace: true })).stdout, /1 replaced/)
    assert.deepEqual(await post(21), { before: 20, now: 21 })
  })

  test('says what to do if there is no such service', async (context) => {
    const folder = folderWith({ 'a.json': peerDocument() }, context)
    const other = await startUpstream(() => ({ name: 'another service' }))
    const { stderr } = await importAs([folder], { output: join(folder, 'out'), apply: other.url })
    await other.stop()
    assert.match(stderr, /answered GET \/endpoints with no list; is the URL right\?/)
    const { code, stderr: gone } = await importAs([folder], { output: join(folder, 'out'), apply: other.url })
    assert.equal(code, 3)
    assert.match(
      gone,
      /did not answer GET \/endpoints \(ECONNREFUSED\)\. Check the address, and that Crosswalk runs\.\n/,
    )
  })

  const PAGES: readonly (readonly [number, RegExp])[] = [
    [200, /answered GET \/endpoints with no JSON; is the URL that of Crosswalk, or of a proxy\?/],
    [302, /with status 302\. Give the URL to which it redirects\./],
    [502, /with status 502\.\n/],
  ]
  for (const [status, expected] of PAGES) {
    test(`says what a page with status ${status} in its place may be`, async (context) => {
      const proxy = await startUpstream((_request, response) => {
        response.writeHead(status, { location: '/login' }).end('<html>canary</html>')
        return undefined
      })
      context.after(() => proxy.stop())
      const folder = folderWith({ 'a.json': peerDocument() }, context)
      const { code, stderr } = await importAs([folder], { output: join(folder, 'out'), apply: proxy.url })
      assert.equal(code, 3)
      assert.match(stderr, expected)
      assert.doesNotMatch(stderr, /canary/)
    })
  }

  test('says what the service warns of, such as a secret that it does not have', async (context) => {
    const lookup = {
      id: 'a',
      config: { method: 'get', url: 'http://a.example.org/', headers: { Authorization: 'Bearer b' } },
    }
    const document = peerDocument({ name: 'Warned', requests: { lookup: [lookup] } })
    const folder = folderWith({ 'a.json': document }, context)
    const { stdout } = await importAs([folder], { output: join(folder, 'out'), apply: service.url, peerVersion: '3' })
    assert.match(
      stdout,
      /: 1 created.*\nThe service warns \(1\):\nwarned\.json: requests\.lookup\[0\].*: The secret .* is not set\.\n$/,
    )
  })
})

test('the key comes from the environment or from a file, and is in no output', async (context) => {
  const received: (string | undefined)[] = []
  const service = await startUpstream(({ headers, method }, response) => {
    received.push(headers.authorization)
    if (headers.authorization !== 'Bearer canary-key') {
      response.writeHead(401).end('{"error":"A key is needed.","code":"CREDENTIALS_REFUSED"}')
      return undefined
    }
    return method === 'GET' ? [] : { results: [] }
  })
  context.after(() => service.stop())
  const folder = folderWith({ 'a.json': peerDocument(), key: 'canary-key\n' }, context)
  const given = { output: join(folder, 'out'), apply: service.url }
  const outputs = [
    await importAs([join(folder, 'a.json')], given, { CROSSWALK_KEY: 'canary-key' }),
    await importAs(
      [join(folder, 'a.json')],
      { ...given, keyFile: join(folder, 'key') },
      { CROSSWALK_KEY: 'canary-other' },
    ),
    await importAs([join(folder, 'a.json')], given, { CROSSWALK_KEY: 'canary-wrong' }),
    await importAs([join(folder, 'a.json')], given),
  ]
  assert.deepEqual(
    outputs.map(({ code }) => code),
    [0, 0, 3, 3],
  )
  assert.match(
    outputs[2]?.stderr ?? '',
    /status 401: A key is needed\. Give a key of the role author in CROSSWALK_KEY or --key-file/,
  )
  assert.doesNotMatch(JSON.stringify(outputs), /canary/)
  assert.deepEqual(new Set(received), new Set(['Bearer canary-key', 'Bearer canary-wrong', undefined]))
})
