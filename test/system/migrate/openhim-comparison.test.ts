/** Transactions of OpenHIM, replayed through the documents. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { ComparisonImpossible } from '../../../migrate/compare/comparison.ts'
import { createReport, judgeAll } from '../../../migrate/compare/comparison-report.ts'
import { createEndpointDocuments, documentsIn } from '../../../migrate/compare/endpoint-documents.ts'
import { readTransactions } from '../../../migrate/compare/openhim-transactions.ts'
import { saveTests } from '../../../migrate/compare/saved-tests.ts'
import { compareTransactions } from '../../../migrate/compare/transaction-replay.ts'
import { createOfflineDryRun, createOfflineTests } from '../../../src/app/offline.ts'
import { openCore } from '../../../src/app/open-mediator.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { checkTestFile } from '../../../src/try/tests/check-test-file.ts'
import fc from '../../support/fast-check.ts'
import { fixtures } from '../../support/migrate/fixtures.ts'
import { readLines, TRANSACTIONS } from '../../support/migrate/recorded-peer.ts'
import { loggerInto, readTestSettings, startUpstream } from '../../support/service.ts'
import { freshFolder } from '../../support/spawned-service.ts'

const recorded: JsonObject[] = readLines(TRANSACTIONS)

const documents = documentsIn(fixtures('http://upstream.test:8000').map(({ document }) => document))

const runTests = createOfflineTests(readTestSettings({}), loggerInto([]))

async function replay(
  context: { after(work: () => void): void },
  transactions: readonly Json[],
  own: readonly JsonObject[] = documents,
  paths: readonly { from: string; to: string }[] = [],
) {
  const file = join(freshFolder(context), 'transactions.json')
  writeFileSync(file, JSON.stringify(transactions))
  const { replayed, leftOut } = await compareTransactions({
    transactions: await readTransactions(file, 1_000),
    documents: createEndpointDocuments(documentsIn(own)),
    run: createOfflineDryRun(readTestSettings({}), loggerInto([])),
    paths,
    progress: () => undefined,
  })
  const results = judgeAll(
    replayed.map(({ comparison }) => comparison),
    [],
  )
  return { replayed, results, report: createReport(results, leftOut) }
}

/** A transaction of an endpoint with one lookup. */
const TRANSACTION = {
  _id: 'abc',
  request: {
    path: '/orders/7',
    querystring: 'by=me',
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer canary', 'x-openhim-transactionid': '1' },
    body: '{"nr":7}',
    timestamp: '2026-01-01T00:00:00.000Z',
  },
  response: {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: '{"name":"Ada","by":"me"}',
    timestamp: 0,
  },
  orchestrations: [
    {
      name: 'Endpoint Lookup Request: Orders: person',
      request: { host: 'people.test', port: '', path: '/people/7', querystring: 'x=a+b', method: 'get', timestamp: 1 },
      response: {
        status: 200,
        headers: { 'content-type': 'application/json', 'set-cookie': 'c=canary' },
        body: '{"name":"Ada"}',
      },
    },
  ],
}

const DOCUMENT = {
  name: 'Orders',
  endpoint: { pattern: '/orders/:id', method: 'POST' },
  transformation: { input: 'JSON', output: 'JSON' },
  requests: {
    lookup: [
      {
        id: 'person',
        config: {
          method: 'GET',
          url: 'https://people.test/people/:nr',
          headers: { authorization: `Bearer \${env:CROSSWALK_SECRET_NOT_SET}` },
          params: { url: { nr: { path: 'requestBody.nr' } }, query: { x: { path: 'constants.x' } } },
        },
      },
    ],
  },
  constants: { x: 'a b' },
  inputMapping: { 'lookupRequests.person.data.name': 'name', 'query.by': 'by' },
}

describe('recorded transactions', () => {
  test('of the fixtures have no unexplained differences', async (context) => {
    const { report, replayed } = await replay(context, recorded)
    assert.equal(report.unexplained, 0, report.text)
    assert.equal(replayed.length, recorded.length, report.text)
  })

  test('become tests that expect what this service did, without secrets', async (context) => {
    const { replayed, results } = await replay(context, recorded)
    const folder = join(freshFolder(context), 'tests')
    const files = await saveTests(
      folder,
      replayed.map((one, at) => ({ replayed: one, differences: results[at]?.differences ?? [] })),
      runTests,
    )
    assert.equal(files.length, documents.length)
    assert.deepEqual(readdirSync(folder).length, files.length)
    const all = files.map((file) => readFileSync(file, 'utf8')).join('')
    assert.ok(!all.includes('canary'))
    let passed = 0
    for (const raw of files.map((file) => JSON.parse(readFileSync(file, 'utf8')))) {
      const { file, lints } = checkTestFile(raw)
      assert.deepEqual(lints, [])
      const document = documents.find(({ name }) => name === raw.endpoint)
      const { tests } = await runTests(document as JsonObject, file)
      for (const one of tests) assert.equal(one.verdict, 'passed', JSON.stringify(one))
      passed += tests.length
    }
    assert.equal(passed, replayed.length)
  })
})

describe('a transaction', () => {
  const found = ({ report }: Awaited<ReturnType<typeof replay>>) =>
    report.json as { messages: JsonObject[]; notCompared: JsonObject[] }

  test('is compared with its answer and calls; encodings of URLs are deliberate', async (context) => {
    const { messages } = found(await replay(context, [TRANSACTION], [DOCUMENT]))
    assert.deepEqual(messages, [
      {
        name: 'transaction abc',
        method: 'POST',
        path: '/orders/7',
        endpoint: 'Orders',
        differences: [
          {
            path: '/calls/person/0/url',
            peer: 'https://people.test/people/7?x=a+b',
            here: 'https://people.test/people/7?x=a%20b',
            deliberate: 'url-encoding',
          },
        ],
      },
    ])
  })

  test('whose request is stored here has the same call; its answer is deliberate, and a test of it passes', async (context) => {
    const send = { host: 'lab.test', port: '', path: '/orders', method: 'POST', body: '{"by":"me"}', timestamp: 1 }
    const answer = { status: 201, headers: { 'content-type': 'application/json' }, body: '{"created":true}' }
    const transaction = {
      ...TRANSACTION,
      response: { ...TRANSACTION.response, ...answer },
      orchestrations: [
        {
          name: 'Endpoint Response Request: Orders: lab',
          request: { ...send, headers: { 'content-type': 'application/json' } },
          response: answer,
        },
      ],
    }
    const config = { method: 'POST', url: 'https://lab.test/orders' }
    const document = {
      ...DOCUMENT,
      inputMapping: { 'query.by': 'by' },
      requests: { response: [{ id: 'lab', config, delivery: {} }] },
    }
    const { replayed, results } = await replay(context, [transaction], [document])
    const differences = results[0]?.differences ?? []
    assert.deepEqual(new Set(differences.map(({ deliberate }) => deliberate)), new Set(['stored-requests']))
    assert.ok(replayed[0]?.comparison.here.calls?.lab?.length === 1)
    const [file = ''] = await saveTests(
      freshFolder(context),
      replayed.map((one) => ({ replayed: one, differences })),
      runTests,
    )
    const { file: tests } = checkTestFile(JSON.parse(readFileSync(file, 'utf8')))
    const report = await runTests(document, tests)
    assert.equal(report.passed, 1, JSON.stringify(report.tests))
  })

  test('that sent a credential in a URL is the same with a reference, and the credential is nowhere shown', async (context) => {
    const [lookup] = TRANSACTION.orchestrations
    const query = { ...TRANSACTION.request, querystring: 'by=me&token=canary' }
    const request = { ...lookup?.request, querystring: 'api_key=canary&x=1', path: '/people/8' }
    const config = { ...DOCUMENT.requests.lookup[0]?.config, url: `https://people.test/people/:nr?api_key=\${env:ANY}` }
    const document = { ...DOCUMENT, constants: { x: 1 }, requests: { lookup: [{ id: 'person', config }] } }
    const replayOf = (path: string) =>
      replay(
        context,
        [{ ...TRANSACTION, request: query, orchestrations: [{ ...lookup, request: { ...request, path } }] }],
        [document],
      )
    assert.deepEqual((await replayOf('/people/7')).results[0]?.differences, [])
    const { replayed, results, report } = await replayOf('/people/8')
    assert.equal(report.unexplained, 1)
    const tests = replayed.map((one, at) => ({ replayed: one, differences: results[at]?.differences ?? [] }))
    const saved = await saveTests(freshFolder(context), tests, runTests)
    const files = saved.map((file) => readFileSync(file, 'utf8'))
    const written = [report.text, JSON.stringify(report.json), ...files].join('\n')
    assert.match(written, /people\/8/)
    assert.ok(!written.includes('canary'), written)
  })

  const [LOOKUP] = TRANSACTION.orchestrations
  const cases: readonly (readonly [name: string, path: string, change: JsonObject])[] = [
    ['answer', '/body/name', { response: { ...TRANSACTION.response, body: '{"name":"Eve","by":"me"}' } }],
    ['status', '/status', { response: { ...TRANSACTION.response, status: 201 } }],
    [
      'call',
      '/calls/person/0/url',
      { orchestrations: [{ ...LOOKUP, request: { ...LOOKUP?.request, path: '/people/8' } }] },
    ],
  ]
  for (const [name, path, change] of cases) {
    test(`with another ${name} differs there`, async (context) => {
      const { results } = await replay(context, [{ ...TRANSACTION, ...change }], [DOCUMENT])
      const open = results.flatMap(({ differences }) => differences.filter((one) => one.deliberate === undefined))
      assert.deepEqual(
        open.map((one) => one.path),
        [path],
      )
    })
  }

  const left: readonly (readonly [name: string, transactions: JsonObject[], says: RegExp, document?: JsonObject])[] = [
    [
      'of another path',
      [{ ...TRANSACTION, request: { ...TRANSACTION.request, path: '/x' } }],
      /no endpoint has a pattern for POST \/x/,
    ],
    ['without orchestrations', [{ ...TRANSACTION, orchestrations: [] }], /no answer of the lookup person/],
    ['without a status', [{ ...TRANSACTION, response: {} }], /no response with a status/],
    ['of a faulty document', [TRANSACTION], /faults: inputMapping/, { ...DOCUMENT, inputMapping: { 'gone.x': 'y' } }],
  ]
  for (const [name, transactions, says, document = DOCUMENT] of left) {
    test(`${name} is left out with the reason`, async (context) => {
      const { messages, notCompared } = found(await replay(context, transactions, [document]))
      assert.equal(messages.length, 0)
      assert.match(String(notCompared[0]?.reason), says)
    })
  }

  test('of a path that OpenHIM changed is found by the path of the endpoint', async (context) => {
    const changed = { ...TRANSACTION, request: { ...TRANSACTION.request, path: '/core/orders/7' } }
    const { messages } = found(await replay(context, [changed], [DOCUMENT], [{ from: '/core/', to: '/' }]))
    assert.equal(messages.length, 1)
  })
})

describe('the transactions of a source', () => {
  const lines = (list: readonly Json[]) => list.map((one) => JSON.stringify(one)).join('\r\n')
  const list = [
    TRANSACTION,
    {
      ...TRANSACTION,
      _id: { $oid: 'def' },
      request: { ...TRANSACTION.request, timestamp: { $date: '2025-01-01T00:00:00Z' } },
    },
  ]
  for (const [name, content] of [
    ['an array', `\uFEFF${JSON.stringify(list)}`],
    ['lines', lines(list)],
  ] as const) {
    test(`are read from ${name}, the oldest first`, async (context) => {
      const file = join(freshFolder(context), 'export.json')
      writeFileSync(file, content)
      const found = await readTransactions(file, 10)
      assert.deepEqual(
        found.map(({ id }) => id),
        ['def', 'abc'],
      )
      assert.deepEqual(
        (await readTransactions(file, 1)).map(({ id }) => id),
        ['def'],
      )
    })
  }

  const sourceAt = (url: string, context: TestContext) => {
    const limits = { timeoutMs: 5_000, answerLimitBytes: 1024 * 1024 }
    const core = openCore({ url, username: 'me', password: 'pw', openhimTrustSelfSigned: false, ...limits })
    context.after(core.close)
    return { fetch: core.transactions, query: new URLSearchParams({ filters: '{}' }) }
  }

  test('are read from the API, page by page, with credentials', async (context) => {
    const core = await startUpstream(({ url }) => {
      const page = Number(new URL(url, 'http://core.test').searchParams.get('filterPage'))
      return Array.from({ length: page < 2 ? 100 : 5 }, (_, at) => ({ ...TRANSACTION, _id: `${page}-${at}` }))
    })
    context.after(core.stop)
    const found = await readTransactions(sourceAt(core.url, context), 1_000)
    assert.equal(found.length, 205)
    assert.equal(core.received[0]?.headers.authorization, `Basic ${Buffer.from('me:pw').toString('base64')}`)
    assert.match(core.received[0]?.url ?? '', /^\/transactions\?filters=%7B%7D&filterRepresentation=full/)
  })

  test('are the newest of the API, which gives these first', async (context) => {
    const newestFirst = Array.from({ length: 100 }, (_, at) => ({
      ...TRANSACTION,
      _id: String(at),
      request: { ...TRANSACTION.request, timestamp: 1_000 - at },
    }))
    const core = await startUpstream(() => newestFirst)
    context.after(core.stop)
    const found = await readTransactions(sourceAt(core.url, context), 3)
    assert.deepEqual(
      found.map(({ id }) => id),
      ['2', '1', '0'],
    )
  })

  test('are a fault where there are none', async (context) => {
    const core = await startUpstream((_request, response) => void response.writeHead(401).end('who are you'))
    context.after(core.stop)
    await assert.rejects(readTransactions(sourceAt(core.url, context), 10), /does not accept OPENHIM_USERNAME/)
    await assert.rejects(readTransactions('/not/there.json', 10), ComparisonImpossible)
    await assert.rejects(readTransactions(sourceAt('http://127.0.0.1:1', context), 10), /does not answer/)
  })

  test('are read where objects without a text are in place of texts', async (context) => {
    const file = join(freshFolder(context), 'odd.json')
    const odd: Json = { toString: 1, $oid: { toString: 1 }, $date: [{ toString: 1 }] }
    const message = { method: odd, status: odd, timestamp: odd }
    const orchestration = { name: odd, request: message, response: message, error: { message: odd } }
    for (const _id of [odd, [odd]]) {
      const one = { _id, request: message, response: message, orchestrations: [orchestration] }
      writeFileSync(file, JSON.stringify([one]))
      const [{ id, response } = assert.fail()] = await readTransactions(file, 10)
      assert.deepEqual([id, response.status, response.at], ['', undefined, Number.NaN])
    }
  })

  test('of any JSON are transactions or a fault', async (context) => {
    const file = join(freshFolder(context), 'any.json')
    const part = fc.dictionary(
      fc.constantFrom('path', 'method', 'body', 'headers', 'timestamp', 'status', 'x'),
      fc.jsonValue(),
    )
    const transaction = fc.record({
      _id: fc.jsonValue(),
      request: part,
      response: part,
      orchestrations: fc.array(fc.record({ request: part })),
    })
    const any = fc.oneof(
      fc.json(),
      fc.array(transaction).map((one) => JSON.stringify(one)),
      fc.string(),
    )
    await fc.assert(
      fc.asyncProperty(any, async (content) => {
        writeFileSync(file, content)
        try {
          await readTransactions(file, 10)
        } catch (thrown) {
          assert.ok(thrown instanceof ComparisonImpossible, String(thrown))
        }
      }),
      { numRuns: 200 },
    )
    assert.ok(existsSync(file))
  })
})
