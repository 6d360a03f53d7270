/** What a dry run reports of the stages and of the mapping, and values that are too large for a report. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { endpointDocument, json, type Service, startService } from '../../../support/service.ts'

type Stage = JsonObject & Readonly<{ stage: string; input: JsonObject; output?: JsonObject; coerced?: Json }>
type Report = JsonObject & Readonly<{ stages: readonly Stage[]; mapping: JsonObject; coverage: JsonObject }>

/** Without times and ids. */
const settled = (report: Report): string =>
  JSON.stringify(report, (name, part) => (/^(?:ms|timestamps|messageId)$/.test(name) ? undefined : part)).replaceAll(
    /[0-9a-f]{24}/g,
    'id',
  )

describe('the report of a dry run', () => {
  let service: Service
  let isolated: Service
  before(async () => {
    service = await startService({ VALIDATION_COERCE_TYPES: 'true' })
    isolated = await startService({ VALIDATION_COERCE_TYPES: 'true', ISOLATION: 'process', ISOLATION_PROCESSES: '1' })
  })
  after(() => Promise.all([service.stop(), isolated.stop()]))

  const documentOf = (changes: JsonObject): JsonObject =>
    endpointDocument({ endpoint: { pattern: '/report' }, ...changes })
  const reportOf = async (request: JsonObject, on: Service): Promise<Report> => {
    const reply = await on.fetch('/endpoints/dry-run', json('POST', request))
    assert.equal(reply.status, 200, reply.text)
    return reply.json<Report>()
  }
  /** In this process and in an isolated one. */
  const run = async (request: JsonObject): Promise<Report> => {
    const reports = [await reportOf(request, service), await reportOf(request, isolated)] as const
    assert.equal(...(reports.map(settled) as [string, string]))
    return reports[0]
  }
  const stageOf = ({ stages }: Report, name: string): Stage | undefined => stages.find(({ stage }) => stage === name)

  test('shows what each stage got, gave and coerced', async () => {
    const report = await run({
      endpoint: documentOf({
        inputValidation: { properties: { nr: { type: 'integer' }, list: { items: { type: 'string' } } } },
        inputTransforms: { twice: 'requestBody.nr * 2', none: 'requestBody.gone' },
        inputMapping: { 'transforms.twice': 'twice' },
        requests: { lookup: [{ id: 'p', config: { method: 'GET', url: 'http://127.0.0.1:9/p' } }] },
      }),
      message: { body: { nr: '17', list: [1, 'b'] }, headers: { Authorization: 'Bearer x', 'X-From': 'desk' } },
      lookups: { p: { body: { a: 1 } } },
    })
    const requestHeaders = { authorization: '[redacted]', 'x-from': 'desk', 'content-type': 'application/json' }
    const lookupRequests = { p: { data: { a: 1 }, headers: { 'content-type': 'application/json' } } }
    const raw = { nr: '17', list: [1, 'b'] }
    const requestBody = { nr: 17, list: ['1', 'b'] }
    assert.deepEqual(stageOf(report, 'parse')?.input, { contentType: 'application/json', body: JSON.stringify(raw) })
    const { timestamps: _before, ...lookup } = stageOf(report, 'lookup')?.input ?? {}
    assert.deepEqual(lookup, { requestHeaders, requestBody: raw })
    const validate = stageOf(report, 'validate')
    assert.deepEqual(validate?.input, { requestBody: raw, lookupRequests })
    assert.deepEqual(validate?.output, { requestBody, lookupRequests })
    assert.deepEqual(validate?.coerced, [
      { path: '/requestBody/nr', before: '17', after: 17 },
      { path: '/requestBody/list/0', before: 1, after: '1' },
    ])
    const { timestamps: _after, ...transform } = stageOf(report, 'transform')?.input ?? {}
    assert.deepEqual(transform, { requestHeaders, requestBody, lookupRequests })
    assert.deepEqual(stageOf(report, 'transform')?.output, { transforms: { twice: 34 } })
    assert.deepEqual(stageOf(report, 'map')?.input.transforms, { twice: 34 })
    assert.deepEqual(stageOf(report, 'map')?.output, { responseBody: { twice: 34 } })
    assert.deepEqual(stageOf(report, 'serialise')?.input, { responseBody: { twice: 34 } })
    assert.deepEqual(stageOf(report, 'serialise')?.output, { output: '{"twice":34}' })
    assert.deepEqual(stageOf(report, 'respond')?.input, { output: '{"twice":34}' })
    assert.deepEqual(stageOf(report, 'respond')?.output, { status: 200 })
  })

  test('names the rows of tables that were used, and tables that a draft does not find', async () => {
    for (const { adminUrl } of [service, isolated])
      await fetch(`${adminUrl}/tables/unit`, {
        method: 'PUT',
        headers: { 'content-type': 'text/csv' },
        body: 'code,ucum,name\nMG,mg,milligram\nG,g,\n',
      })
    const parameters = { table: 'unit', missing: 'keep' }
    const read = (table: string) => ({
      inputTransforms: { name: `$table("${table}", requestBody.one, "name")` },
      inputMapping: { 'requestBody.units': { key: 'units', transform: { function: 'table', parameters } } },
    })
    const message = { body: { one: 'MG', units: ['G', 'G', 'x'] } }
    const report = await run({ endpoint: documentOf(read('unit')), message })
    const ofFunction = { path: 'inputMapping.requestBody\\.units.transform', table: 'unit', version: 1, column: 'ucum' }
    assert.deepEqual(report.tables, [
      {
        ...{ path: 'inputTransforms.name', table: 'unit', version: 1, column: 'name', code: 'MG' },
        row: { code: 'MG', ucum: 'mg', name: 'milligram' },
      },
      { ...ofFunction, code: 'G', row: { code: 'G', ucum: 'g', name: '' } },
      { ...ofFunction, code: 'x' },
    ])
    const ofMapping = await reportOf({ endpoint: documentOf(read('unit')), message, view: 'mapping' }, service)
    assert.deepEqual(ofMapping.tables, report.tables)
    const { ran, lint } = await run({ endpoint: documentOf(read('units')), message })
    assert.deepEqual(
      [ran, (lint as { errors: Json }).errors],
      [false, [{ path: 'inputTransforms.name', message: 'There is no table "units"; "unit" is close to it.' }]],
    )
  })

  test('shows what would be stored to be delivered, and stores nothing', async () => {
    const config = { method: 'POST', url: 'http://lab.test/orders', headers: { 'x-api-key': 'key' } }
    const delivery = { key: 'requestBody.nr', schedule: ['0s', '2m'], giveUpAfter: '1d' }
    const report = await run({
      endpoint: documentOf({
        requests: {
          response: [
            { id: 'lab', config, delivery },
            { id: 'each', config, delivery: {}, forEach: { items: 'requestBody.list' } },
          ],
        },
        inputMapping: { 'requestBody.nr': 'nr' },
      }),
      message: { body: { nr: 17, list: [8] } },
    })
    const [lab, each, ...others] = report.deliveries as readonly JsonObject[]
    assert.deepEqual(lab, {
      id: 'lab',
      method: 'POST',
      url: config.url,
      orderKey: '17',
      headers: { 'x-api-key': '[redacted]', accept: 'application/json, */*;q=0.8', 'content-type': 'application/json' },
      body: '{"nr":17}',
      schedule: ['0s', '2m'],
      giveUpAfter: '1d',
    })
    assert.deepEqual([each?.id, each?.item, each?.body, others, report.calls], ['each', 0, '8', [], []])
    assert.deepEqual((report.coverage as { missed: Json }).missed, [])
    assert.equal((report.answer as JsonObject).status, 202)
    const stored = await (await fetch(`${service.adminUrl}/deliveries`)).json()
    assert.deepEqual(stored, { deliveries: [] })
  })

  test('shows the expressions that ran before the one that failed', async () => {
    const report = await run({
      endpoint: documentOf({
        inputTransforms: { first: '1', second: 'requestBody.a & "!"', third: '$number("x")', fourth: '4' },
        inputMapping: { 'transforms.fourth': 'x' },
      }),
      message: { body: { a: 'b' } },
    })
    const transform = stageOf(report, 'transform')
    assert.deepEqual([transform?.failed, transform?.output], [true, { transforms: { first: 1, second: 'b!' } }])
    assert.equal(report.mapping, undefined)
    assert.deepEqual(report.coverage, {
      total: 6,
      missed: [
        { kind: 'transform', path: 'inputTransforms.third' },
        { kind: 'transform', path: 'inputTransforms.fourth' },
        { kind: 'entry', path: 'inputMapping.transforms\\.fourth' },
        { kind: 'target', path: 'inputMapping.transforms\\.fourth > x' },
      ],
    })
  })

  test('names what the mapping read and wrote, and what it did not', async () => {
    const report = await run({
      endpoint: documentOf({
        endpoint: { pattern: '/report/:id' },
        inputTransforms: { total: '$sum(requestBody.rows.price)', unused: '1' },
        inputMapping: {
          'requestBody.rows.nr': 'rows[].nr',
          'requestBody.gone': { key: 'gone', default: 'D' },
          'requestBody.missing': 'missing',
          'transforms.total': 'total',
        },
        requests: {
          lookup: [
            {
              id: 'p',
              config: {
                method: 'GET',
                url: 'http://127.0.0.1:9/p',
                params: { query: { q: { path: 'requestBody.asked' } } },
              },
            },
          ],
        },
      }),
      message: {
        body: {
          rows: [
            { nr: 1, price: 2, colour: 'red' },
            { nr: 2, price: 3, colour: 'blue' },
          ],
          asked: 'q',
          'un.read': { deep: true, empty: {} },
        },
        urlParams: { id: '7' },
      },
      lookups: { p: { body: { name: 'Ada' } } },
    })
    const entry = (source: string, found: boolean, target: string, wrote: string, ...places: string[]) => ({
      path: `inputMapping.${source.replaceAll('.', '\\.')}`,
      source,
      found,
      targets: [{ target, wrote, count: places.length, places }],
    })
    assert.deepEqual(report.mapping, {
      entries: [
        entry('requestBody.rows.nr', true, 'rows[].nr', 'value', '/rows/0/nr', '/rows/1/nr'),
        entry('requestBody.gone', false, 'gone', 'default', '/gone'),
        entry('requestBody.missing', false, 'missing', 'nothing'),
        entry('transforms.total', true, 'total', 'value', '/total'),
      ],
      unread: [
        { path: 'requestBody.rows[].colour', count: 2 },
        { path: 'requestBody.un\\.read.deep', count: 1 },
        { path: 'requestBody.un\\.read.empty', count: 1 },
        { path: 'urlParams.id', count: 1 },
        { path: 'lookupRequests.p.data.name', count: 1 },
        { path: 'transforms.unused', count: 1 },
      ],
      unwritten: [{ path: 'inputMapping.requestBody\\.missing', target: 'missing' }],
    })
    assert.deepEqual(report.coverage, {
      total: 12,
      missed: [
        { kind: 'entry', path: 'inputMapping.requestBody\\.gone' },
        { kind: 'entry', path: 'inputMapping.requestBody\\.missing' },
        { kind: 'target', path: 'inputMapping.requestBody\\.missing > missing' },
      ],
    })
  })

  test('can check the document only', async () => {
    const endpoint = documentOf({ inputMapping: { 'requestBody.a': 'x', 'requestBody.b': 'x' } })
    const { lint, ...rest } = await run({ endpoint, run: false })
    assert.deepEqual(rest, { ran: false })
    assert.equal(((lint as JsonObject).warnings as readonly Json[]).length, 1)
  })

  test('can be asked for with less room', async () => {
    const request = { endpoint: documentOf({}), message: { body: { text: 'x'.repeat(20_000), nr: 1 } } }
    const report = await run({ ...request, limit: 80_000 })
    assert.ok(JSON.stringify(report).length < 100_000)
    const { output } = stageOf(report, 'parse') ?? {}
    assert.deepEqual(output, {
      requestBody: {
        cut: true,
        reason: 'It has more than 10000 characters as JSON.',
        at: '/stages/0/output/requestBody',
      },
    })
    for (const limit of [0, 'much', 8_388_609]) {
      const reply = await service.fetch('/endpoints/dry-run', json('POST', { ...request, limit }))
      assert.deepEqual([reply.status, reply.json().code], [400, 'DRY_RUN_INVALID'])
    }
  })

  test('gives in full what a report has cut', async () => {
    const large = 'x'.repeat(700_000)
    const endpoint = documentOf({
      inputTransforms: { both: '[requestBody.text, requestBody.text]' },
      inputMapping: { 'transforms.both': 'both', 'constants.key': 'key' },
      constants: { key: 'k' },
    })
    const request = { endpoint, message: { body: { text: large } } }
    const report = await run(request)
    const { output } = stageOf(report, 'transform') ?? {}
    const at = '/stages/1/output/transforms'
    assert.deepEqual(output, {
      transforms: { cut: true, reason: 'It has more than 1048576 characters as JSON.', at },
    })
    const value = async (asked: Json) => service.fetch('/endpoints/dry-run/value', json('POST', asked))
    const whole = await value({ ...request, at })
    assert.deepEqual([whole.status, whole.headers.get('cache-control')], [200, 'no-store'])
    assert.deepEqual(whole.json(), { both: [large, large] })
    const answer = report.answer as JsonObject
    assert.deepEqual([answer.cut, answer.at, String(answer.body).length], [true, '/answer/body', 1_048_576])
    const body = await value({ ...request, at: '/answer/body' })
    assert.equal(body.headers.get('content-type'), 'application/octet-stream')
    assert.deepEqual(body.json(), { both: [large, large], key: 'k' })

    const wrong: readonly (readonly [Json, RegExp])[] = [
      [request, /Give .*at/],
      [{ ...request, at: '/stages/99' }, /no value at/],
      [{ ...request, at: 7 }, /at/],
      [{ endpoint: { name: 7 }, at }, /no value at/],
    ]
    for (const [asked, why] of wrong) {
      const reply = await value(asked)
      assert.deepEqual([reply.status, reply.json().code], [400, 'DRY_RUN_INVALID'], reply.text)
      assert.match(reply.text, why)
    }
    const misplaced = await service.fetch('/endpoints/dry-run', json('POST', { ...request, at }))
    assert.equal(misplaced.status, 400)
  })
})
