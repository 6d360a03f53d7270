/** `crosswalk new` from pairs: files of any format, recorded messages, transactions of OpenHIM; and what is wrong with them. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { folderOf } from '../../support/cli/project/folder.ts'
import { type CommandSurroundings, runArguments } from '../../support/cli/run-command.ts'
import { json, startService, startUpstream } from '../../support/service.ts'

function rig(context: TestContext, files: Readonly<Record<string, Json>>, surroundings: CommandSurroundings = {}) {
  const folder = folderOf(context, files)
  return {
    run: (...given: readonly string[]) => runArguments(given, { cwd: folder, ...surroundings }),
    read: (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as JsonObject,
    text: (name: string) => readFileSync(join(folder, name), 'utf8'),
  }
}

/** Codes of a laboratory, with those of LOINC. */
const LOINC = Array.from({ length: 20 }, (_, at) => [`L${at}`, `${2_345 + at * 37}-${at % 10}`] as const)
const UNITS = ['mmol/l', 'mg/dl', 'g/l']

const labFile = (rows: readonly number[]) =>
  ['nr;code;value;unit', ...rows.map((at) => `${100 + at};L${at % 20};${(at * 7) % 13}.5;${UNITS[at % 3]}`), ''].join(
    '\n',
  )
const labOutput = (rows: readonly number[]) => ({
  results: rows.map((at) => ({
    id: `${100 + at}`,
    coding: { system: 'http://loinc.org', code: LOINC[at % 20]?.[1] ?? '' },
    quantity: { value: ((at * 7) % 13) + 0.5, unit: UNITS[at % 3] ?? '' },
  })),
})
/** Each code stands in two of them; one has no rows. */
const LAB = [[], ...Array.from({ length: 4 }, (_, file) => Array.from({ length: 10 }, (_one, row) => file * 10 + row))]

const messages = (service: Readonly<{ fetch: (path: string, init: RequestInit) => Promise<{ headers: Headers }> }>) =>
  Promise.all(
    ['Ann Low', 'Bob Cho', 'Cleo Diaz'].map(async (name, at) => {
      const sent = await service.fetch('/old', json('POST', { id: `P-${at * 371 + 5}`, ward: `w${at}`, name }))
      return sent.headers.get('x-crosswalk-message-id') ?? ''
    }),
  )

describe('new by example', () => {
  test('writes a document, tables and tests, which pass, are applied, and answer as the pairs say', async (context) => {
    const service = await startService()
    context.after(() => service.stop())
    const { run, read, text } = rig(context, {
      'crosswalk.json': { labels: { project: 'lab' }, targets: { test: { url: service.adminUrl } } },
      ...Object.fromEntries(
        LAB.flatMap((rows, at): [string, Json][] => [
          [`pairs/${at}.in.csv`, labFile(rows)],
          [`pairs/${at}.out.json`, labOutput(rows)],
        ]),
      ),
    })
    const made = await run('new', 'Lab results', '--examples', 'pairs')
    assert.equal(made.code, 0, made.stderr)
    const [document, tests, table = ''] = made.stdout.trim().split('\n')
    assert.deepEqual([document, tests], ['endpoints/lab-results.json', 'endpoints/lab-results.tests.json'])
    assert.match(table, /^tables\/lab-results-[\w-]+\.csv$/)
    assert.deepEqual(
      text(table).trim().split('\r\n').sort(),
      ['code,value', ...LOINC.map((codes) => codes.join())].sort(),
    )
    assert.deepEqual(read('endpoints/lab-results.json').csv, { delimiter: ';' })
    const lint = await run('lint', '--strict')
    assert.equal(lint.code, 0, lint.stdout)
    const tested = await run('test')
    assert.match(tested.stdout, /5 passed, 0 failed/)
    const applied = await run('apply', '--yes')
    assert.equal(applied.code, 0, applied.stderr)
    const rows = [7, 12, 3, 19, 64]
    const answer = await service.fetch('/lab-results', {
      method: 'POST',
      headers: { 'content-type': 'text/csv' },
      body: labFile(rows),
    })
    assert.deepEqual(answer.json(), labOutput(rows))
  })

  test('says which tests fail until which questions are answered', async (context) => {
    const pair = (name: string, id: string, odd: string) => ({
      [`pairs/${name}.in.json`]: { id },
      [`pairs/${name}.out.xml`]: `<p><nr>${id}</nr><odd>${odd}</odd></p>`,
    })
    const { run } = rig(context, {
      ...pair('ann', 'A-17', 'qqq'),
      ...pair('bob', 'A-17', 'zzzz'),
      ...pair('cleo', 'CX-933', 'vvv'),
    })
    const made = await run('new', 'Odd', '--examples', 'pairs')
    assert.match(made.stderr, /^p\.odd: No rule explains.* They have "qqq" \(ann\), "zzzz" \(bob\), "vvv" \(cleo\)\.$/m)
    assert.match(made.stderr, /^3 tests of 3 \(ann, bob, cleo\) will pass when the document makes p\.odd\.$/m)
    assert.match((await run('test', 'odd.json')).stdout, /0 passed, 3 failed/)
  })

  test('lists the candidates of a question, one of which answers it', async (context) => {
    const pair = (name: string, id: string) => ({
      [`pairs/${name}.in.json`]: { from: id, by: id },
      [`pairs/${name}.out.json`]: { source: id },
    })
    const files = { ...pair('ann', 'North Lab'), ...pair('bob', 'City Lab'), ...pair('cleo', 'Harbour') }
    const { run, read } = rig(context, files)
    const asked = await run('new', 'Asked', '--examples', 'pairs')
    assert.match(asked.stderr, /^source: Several places.*\n {2}requestBody\.from\n {2}requestBody\.by$/m)
    assert.match(
      asked.stderr,
      /^1 pair was held back: of 1 values, 1 came out right, 0 are asked about, and 0 were wrong/m,
    )
    assert.match(asked.stderr, /--answer 'PLACE=CANDIDATE'/)
    const answered = await run('new', 'Answered', '--examples', 'pairs', '--answer', 'source=requestBody.by')
    assert.equal(answered.code, 0, answered.stderr)
    assert.deepEqual(read('answered.json').inputMapping, { 'requestBody.by': 'source' })
    assert.doesNotMatch(answered.stderr, /^source: Several|--answer/m)
  })

  test('refuses answers to nothing that is asked', async (context) => {
    const { run } = rig(context, {
      'pairs/a.in.json': { from: 'Ann', by: 'Ann' },
      'pairs/a.out.json': { source: 'Ann' },
    })
    for (const [answer, fault] of [
      ['source', /--answer is wrong: write it as NAME=VALUE/],
      ['source=requestBody.to', /answers\.source: .*Choose one of: .*requestBody\.by/],
      ['other=requestBody.by', /answers\.other: There is no question/],
    ] as const) {
      const refused = await run('new', 'Refused', '--examples', 'pairs', '--answer', answer)
      assert.equal(refused.code, 3)
      assert.match(refused.stderr, fault)
    }
    assert.match((await run('new', 'Plain', '--answer', 'a=b')).stderr, /--answer is for documents derived from pairs/)
  })

  test('reads what else a request has', async (context) => {
    const pair = (id: string, page: string) => ({
      [`pairs/${id}.request.json`]: { query: { page }, urlParams: { id } },
      [`pairs/${id}.out.json`]: { patient: id, page },
    })
    const { run, read } = rig(context, { ...pair('A-17', '3'), ...pair('B-4', '12'), ...pair('CX-933', '7') })
    const made = await run('new', 'Pages', '--examples', 'pairs')
    assert.equal(made.code, 0, made.stderr)
    const { endpoint, inputMapping } = read('pages.json')
    assert.deepEqual(endpoint, { pattern: '/pages/:id', method: 'GET' })
    assert.deepEqual(inputMapping, { 'urlParams.id': 'patient', 'query.page': 'page' })
    assert.match((await run('test', 'pages.json')).stdout, /3 passed, 0 failed/)
  })

  test('takes recorded messages of a service, with the answers of their lookups', async (context) => {
    const upstream = await startUpstream(({ url }) => ({ name: `Ward ${url.slice(-1)}` }))
    const service = await startService({ MESSAGE_LOG: 'all' })
    context.after(async () => {
      await service.stop()
      await upstream.stop()
    })
    const config = {
      method: 'GET',
      url: `${upstream.url}/wards/:ward`,
      headers: { authorization: 'Bearer abc123def456' },
      params: { url: { ward: { path: 'payload.ward' } } },
    }
    await service.register({
      name: 'Old',
      endpoint: { pattern: '/old' },
      requests: { lookup: [{ id: 'ward', config }] },
      inputMapping: {
        'requestBody.id': 'reference',
        'requestBody.name': 'text',
        'lookupRequests.ward.data.name': 'ward',
      },
    })
    const ids = await messages(service)
    const { run, read } = rig(context, { 'crosswalk.json': { targets: { test: { url: service.adminUrl } } } })
    for (const [name, args] of [
      ['by-id', ['--from-messages', ...ids]],
      ['by-filter', ['--endpoint', 'Old', '--target', service.adminUrl]],
    ] as const) {
      const made = await run('new', name, ...args)
      assert.equal(made.code, 0, made.stderr)
      assert.match(made.stderr, /3 places of the output were found/)
      assert.match(made.stderr, /a credential that is \$\{env:CROSSWALK_SECRET_\w+\} in the file/)
      const document = read(`endpoints/${name}.json`)
      assert.doesNotMatch(JSON.stringify(document), /abc123def456/)
      assert.deepEqual(document.inputMapping, {
        'requestBody.id': 'reference',
        'requestBody.name': 'text',
        'lookupRequests.ward.data.name': 'ward',
      })
      assert.match((await run('test', `endpoints/${name}.json`)).stdout, /3 passed, 0 failed/)
    }
    const unknown = 'f'.repeat(24)
    const some = await run('new', 'Some', '--from-messages', unknown, '--from-messages', ...ids)
    assert.match(some.stderr, new RegExp(`^message ${unknown}: There is no record of a message`, 'm'))
    const refused: readonly (readonly [readonly string[], RegExp])[] = [
      [['--from-messages', unknown], new RegExp(`^crosswalk: message ${unknown}: There is no record`)],
      [['--endpoint', 'Old', '--to', '-1d'], /has no messages with the outcome done that match/],
      [['--from-messages', unknown, '--endpoint', 'Old'], /Give ids with --from-messages, or filters/],
    ]
    for (const [args, fault] of refused) {
      const { code, stderr } = await run('new', 'None', ...args)
      assert.equal(code, 3)
      assert.match(stderr, fault)
    }
  })

  test('takes transactions of OpenHIM', async (context) => {
    const transaction = (at: number, path: string, change: Readonly<Record<string, JsonObject>> = {}) => ({
      _id: `t${at}`,
      request: {
        method: 'POST',
        path,
        headers: { 'content-type': 'application/xml' },
        body: `<p><id>P-${at * 371}</id></p>`,
        timestamp: at,
        ...change.request,
      },
      response: {
        status: 200,
        headers: { 'content-type': 'application/json+openhim' },
        body: JSON.stringify({ reference: `Patient/P-${at * 371}` }),
        timestamp: at,
        ...change.response,
      },
    })
    const { run } = rig(context, {
      'all.json': [
        transaction(1, '/p'),
        transaction(2, '/p'),
        transaction(3, '/p'),
        transaction(3, '/p'),
        transaction(4, '/p', { request: { body: '' } }),
        transaction(5, '/p', { response: { body: '' } }),
        transaction(6, '/p', { response: { status: 500 } }),
      ],
      'paths.json': [transaction(1, '/p'), transaction(2, '/p'), transaction(3, '/q')],
      'none.json': [transaction(1, '/p', { response: { body: null } })],
    })
    const made = await run('new', 'Patients', '--openhim', 'all.json')
    assert.equal(made.code, 0, made.stderr)
    for (const said of [
      /1 transaction left out: the request has no body and no query/,
      /1 transaction left out: the response has no body/,
      /1 transaction left out: the response has no status 2xx/,
      /1 transaction left out: the same as an earlier one/,
      /1 places of the output were found/,
    ]) {
      assert.match(made.stderr, said)
    }
    assert.match((await run('test', 'patients.json')).stdout, /3 passed, 0 failed/)
    const one = await run('new', 'One', '--openhim', 'paths.json', '--path', '/p')
    assert.match(one.stderr, /1 transaction left out: the path does not start with \/p/)
    for (const [args, fault] of [
      [['paths.json'], /of 2 paths, such as \/p \(2\), \/q \(1\): give the start/],
      [['none.json'], /No transaction is a pair\. 1 transaction left out: the response has no body/],
      [['missing.json'], /There is no file missing\.json/],
      [['localhost:8080'], /http/],
    ] as const) {
      const refused = await run('new', 'No', '--openhim', ...args)
      assert.equal(refused.code, 3)
      assert.match(refused.stderr, fault)
    }
  })

  const big = JSON.stringify({ text: 'x'.repeat(5 * 1_048_576) })
  const FAULTS: readonly (readonly [name: string, files: Readonly<Record<string, Json>>, faults: readonly RegExp[]])[] =
    [
      [
        'every file that is wrong',
        {
          'alone.in.json': {},
          'also.out.xml': '<a/>',
          'two.in.json': {},
          'two.in.xml': '<a/>',
          'two.out.json': {},
          'empty.in.hl7': ' \n',
          'empty.out.json': {},
          'cut.in.json': '{ "a": ',
          'cut.out.json': '[1, ',
          'what.in.edi': 'UNB+UNOA',
          'what.out.json': {},
          'more.request.json': { queri: {} },
          'more.out.json': {},
        },
        [
          /alone\.in\.json has no alone\.out file beside it/,
          /also\.out\.xml has no also\.in file beside it/,
          /two\.in\.json and two\.in\.xml: a pair has one \.in file; keep one/,
          /empty\.in\.hl7 is empty/,
          /cut\.in\.json: The JSON/,
          /cut\.out\.json: The JSON/,
          /what\.in\.edi: Its format is not known; give it one of the endings .*\.hl7/,
          /more\.request\.json: .*"queri"; did you mean "query"/,
        ],
      ],
      ['a folder without pairs', { 'README.md': 'x' }, [/has no pairs: messages as NAME\.in\.json/]],
      [
        'too many pairs',
        Object.fromEntries(
          Array.from({ length: 201 }, (_, at) =>
            [`${at}.in.json`, `${at}.out.json`].map((file) => [file, {}] as const),
          ).flat(),
        ),
        [/has 201 pairs; give at most 200/],
      ],
      [
        'pairs that are too large',
        { 'a.in.json': big, 'a.out.json': big },
        [/have 10,485,782 bytes; give fewer pairs, of at most 8,388,608/],
      ],
    ]
  for (const [name, files, faults] of FAULTS) {
    test(`refuses ${name}`, async (context) => {
      const { run } = rig(context, Object.fromEntries(Object.entries(files).map(([file, is]) => [`pairs/${file}`, is])))
      const { code, stderr } = await run('new', 'No', '--examples', 'pairs')
      assert.equal(code, 3)
      for (const fault of faults) assert.match(stderr, fault)
      assert.equal(stderr.trim().split('\n').length, faults.length, stderr)
    })
  }

  test('notes a single pair, and files that are no pairs', async (context) => {
    const files = { 'pairs/a.in.json': { id: 'A-1' }, 'pairs/a.out.json': { nr: 'A-1' }, 'pairs/notes.txt': 'x' }
    const { stderr } = await rig(context, files).run('new', 'One', '--examples', 'pairs')
    assert.match(stderr, /^notes\.txt was not read/m)
    assert.match(stderr, /^One pair decides little: give two or three more/m)
  })
})
