/** What is kept of messages, end to end. */
import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import type { MessageRecord } from '../../../../src/core/records/message-record.ts'
import { describeDatabases } from '../../../support/databases.ts'
import { json, startUpstream } from '../../../support/service.ts'
import { runLogged } from './message-logs.ts'

/** Answers `{ "name": "Ada", "ssn": "ssn-of-lookup" }`, or 500 where it is asked for a failure. */
const upstream = await startUpstream(({ url }, response) => {
  if (!url.includes('fail')) return { name: 'Ada', ssn: 'ssn-of-lookup' }
  response.writeHead(500, { 'content-type': 'application/json' }).end('{"problem":"down","ssn":"ssn-of-failure"}')
  return undefined
})
after(() => upstream.stop())

const documentFor = (upstream: string, changes: JsonObject = {}): JsonObject => ({
  name: 'intake',
  endpoint: { pattern: '/intake/:kind' },
  requests: {
    lookup: [
      {
        id: 'directory',
        config: {
          method: 'GET',
          url: `${upstream}/:kind`,
          headers: { authorization: 'secret-of-lookup' },
          params: { url: { kind: { path: 'urlParams.kind' } }, query: { token: { path: 'query.token' } } },
        },
      },
    ],
  },
  inputTransforms: { shout: '$uppercase(lookupRequests.directory.data.name)' },
  inputMapping: { 'transforms.shout': 'name', 'requestBody.ssn': 'ssn' },
  ...changes,
})

const SECRETS = { authorization: 'Bearer secret-1', cookie: 'a=secret-2', 'x-api-key': 'secret-3', 'x-own': 'secret-4' }
const MESSAGE = { id: 'P1', ssn: 'ssn-of-message', list: [{ ssn: 'ssn-in-list' }] }

const namesOf = (record: MessageRecord | undefined) => record?.bodies.map(({ which }) => which)

const ALL = ['request', 'incoming', 'lookup.directory', 'transforms', 'mapped', 'answer']
const UNTIL_LOOKUP = ['request', 'incoming', 'lookup.directory', 'answer']

describeDatabases('what is recorded', ({ withDatabase }) => {
  /** By the setting, and by the document's own where it has one: what is kept of a message that ended done, and of one that failed. */
  type Kept = readonly [
    own: string | undefined,
    done: readonly string[] | undefined,
    failed: readonly string[] | undefined,
  ]
  const cases: readonly (readonly [setting: string | undefined, ...Kept[]])[] = [
    [undefined, [undefined, [], UNTIL_LOOKUP], ['metadata', [], []]],
    ['off', [undefined, undefined, undefined], ['failures', [], UNTIL_LOOKUP], ['all', ALL, UNTIL_LOOKUP]],
    ['metadata', [undefined, [], []]],
    ['all', [undefined, ALL, UNTIL_LOOKUP], ['off', undefined, undefined]],
  ]
  for (const [setting, ...kept] of cases) {
    it(
      `MESSAGE_LOG ${setting ?? 'not set'}`,
      withDatabase((database) =>
        runLogged(
          database,
          setting === undefined ? {} : { MESSAGE_LOG: setting },
          async ({ register, fetch }) => {
            for (const [own = ''] of kept) {
              const changes = { name: own || 'plain', endpoint: { pattern: `/${own || 'plain'}/:kind` } }
              await register(documentFor(upstream.url, own === '' ? changes : { ...changes, messageLog: own }))
              assert.equal((await fetch(`/${own || 'plain'}/ok`, json('POST', MESSAGE))).status, 200)
              assert.equal((await fetch(`/${own || 'plain'}/fail`, json('POST', MESSAGE))).status, 500)
            }
          },
          ({ records }) => {
            for (const [own = 'plain', done, failed] of kept) {
              const [second, first] = records.filter(({ endpoint }) => endpoint === own)
              assert.deepEqual([namesOf(first), namesOf(second)], [done, failed], own)
              // The start of what the directory answered is a body, wherever it stands.
              const quoted = second && / answered 500 to GET http:\S+: /.test(second.error ?? '')
              if (second !== undefined) assert.equal(quoted, second.bodies.length > 0, second.error)
            }
          },
        ),
      ),
    )
  }

  it(
    'reports the course of a message and its bodies, without what is secret',
    withDatabase(async (database) => {
      const ids: (string | null)[] = []
      await runLogged(
        database,
        { MESSAGE_LOG: 'all', REDACT_HEADERS: 'X-Own' },
        async ({ register, fetch }) => {
          await register(documentFor(upstream.url))
          for (const kind of ['ok', 'fail']) {
            const init = json('POST', MESSAGE, SECRETS)
            ids.push((await fetch(`/intake/${kind}?token=secret-5`, init)).headers.get('x-crosswalk-message-id'))
          }
          ids.push((await fetch('/nowhere')).headers.get('x-crosswalk-message-id'))
        },
        async ({ records, bodies }) => {
          const [nowhere, failed, done] = records
          assert.deepEqual([done?.id, failed?.id, nowhere?.id], ids)
          const stages = done?.stages.map(({ stage }) => stage)
          assert.deepEqual(stages, ['parse', 'lookup', 'transform', 'map', 'serialise', 'respond'])
          assert.ok((done?.ms ?? 0) > 0)
          assert.deepEqual([done?.endpoint, done?.endpointVersion, failed?.endpointVersion], ['intake', 1, 1])
          assert.equal(done?.outcome, 'done')
          const { ms, startMs, ...call } = done?.calls[0] ?? assert.fail('no call was recorded')
          assert.ok(ms > 0 && startMs >= 0)
          assert.deepEqual(call, {
            kind: 'lookup',
            id: 'directory',
            method: 'GET',
            target: `${upstream.url}/ok`,
            status: 200,
          })
          const { incoming, request, ...texts } = await bodies(done)
          assert.deepEqual(JSON.parse(incoming ?? ''), MESSAGE)
          const { requestHeaders, ...beside } = JSON.parse(request ?? '')
          assert.deepEqual(beside, { query: { token: 'secret-5' }, urlParams: { kind: 'ok' } })
          assert.equal(requestHeaders['content-type'], 'application/json')
          for (const name of Object.keys(SECRETS)) assert.equal(requestHeaders[name], undefined, name)
          assert.deepEqual(texts, {
            'lookup.directory': '{"name":"Ada","ssn":"ssn-of-lookup"}',
            transforms: '{"shout":"ADA"}',
            mapped: '{"name":"ADA","ssn":"ssn-of-message"}',
            answer: '{"name":"ADA","ssn":"ssn-of-message"}',
          })
          const { outcome, status, code, stage, path, error } = failed ?? assert.fail('the failure was not recorded')
          assert.deepEqual(
            { outcome, status, code, stage, path },
            { outcome: 'failed', status: 500, code: 'LOOKUP_REFUSED', stage: 'lookup', path: 'requests.lookup[0]' },
          )
          assert.match(error ?? '', /answered 500 to [A-Z]+ http/)
          assert.deepEqual(
            [nowhere?.code, nowhere?.status, nowhere?.endpointId, nowhere?.bodies, nowhere?.outcome],
            ['ROUTE_UNKNOWN', 404, undefined, [], 'refused'],
          )
          const everything = JSON.stringify([records, await bodies(done), await bodies(failed)])
          const found = ['secret-1', 'secret-2', 'secret-3', 'secret-4', 'secret-of-lookup'].filter((one) =>
            everything.includes(one),
          )
          assert.deepEqual(found, [])
          assert.ok(!JSON.stringify(records).includes('secret-5'))
        },
      )
    }),
  )

  it(
    'masks paths in every body, and keeps nothing of what it cannot read',
    withDatabase(async (database) => {
      const xml = {
        method: 'POST',
        headers: { 'content-type': 'application/xml' },
        body: '<p><ssn>ssn-in-xml</ssn><a>1</a></p>',
      }
      await runLogged(
        database,
        { MESSAGE_LOG: 'all', REDACT_PATHS: 'ssn, query.token' },
        async ({ register, fetch }) => {
          await register(documentFor(upstream.url))
          await register({
            name: 'xml',
            endpoint: { pattern: '/xml' },
            transformation: { input: 'XML', output: 'XML' },
          })
          await fetch('/intake/ok?token=secret-5', json('POST', MESSAGE))
          await fetch('/intake/fail', json('POST', MESSAGE))
          await fetch('/intake/ok', { ...json('POST', undefined), body: '{"ssn":"ssn-in-broken",' })
          await fetch('/xml', xml)
          // Without a type: it has that of its endpoint.
          await fetch('/xml', { method: 'POST', body: Buffer.from(xml.body) })
        },
        async ({ records, bodies }) => {
          const [ofNoType, ofXml, broken, failed, done] = records
          const texts = await bodies(done)
          assert.deepEqual(JSON.parse(texts.incoming ?? ''), { id: 'P1', ssn: '***', list: [{ ssn: '***' }] })
          assert.equal(texts.answer, '{"name":"ADA","ssn":"***"}')
          assert.equal(JSON.parse(texts.request ?? '').query.token, '***')
          const bodyNames = done?.bodies.filter(({ masked }) => !masked).map(({ which }) => which)
          assert.deepEqual(bodyNames, ['transforms'])
          const { incoming } = await bodies(broken)
          assert.equal(incoming, '')
          assert.deepEqual(
            broken?.bodies.find(({ which }) => which === 'incoming'),
            {
              which: 'incoming',
              contentType: 'application/json',
              size: 23,
              cut: true,
              masked: true,
              maskedFor: ['unreadable'],
            },
          )
          assert.match((await bodies(ofXml)).incoming ?? '', /<p>\s*<ssn>\*\*\*<\/ssn>\s*<a>1<\/a>\s*<\/p>/)
          assert.equal((await bodies(ofNoType)).incoming, (await bodies(ofXml)).incoming)
          assert.equal(ofNoType?.bodies.find(({ which }) => which === 'incoming')?.contentType, 'application/xml')
          const everything = JSON.stringify([records, ...(await Promise.all(records.map(bodies)))])
          assert.deepEqual(everything.match(/ssn-[a-z-]+|secret-5/g), null)
          assert.match(failed?.error ?? '', /answered 500 to [A-Z]+ http:\S+: \*\*\*/)
        },
      )
    }),
  )

  it(
    'masks what it found in a body in the addresses of calls and in business keys too, with or without the bodies',
    withDatabase(async (database) => {
      const params = { url: { ssn: { path: 'requestBody.ssn' } } }
      const lookup = [{ id: 'one', config: { url: `${upstream.url}/of/:ssn`, params } }]
      const messageKeys = { ssn: 'requestBody.ssn', other: 'requestBody.other' }
      await runLogged(
        database,
        { REDACT_PATHS: 'ssn' },
        async ({ register, fetch }) => {
          await register({ endpoint: { pattern: '/done' }, requests: { lookup }, messageKeys })
          const inputValidation = { required: ['missing'] }
          const failing = { name: 'failing', endpoint: { pattern: '/failing' }, inputValidation }
          await register({ ...failing, requests: { lookup }, messageKeys })
          await register({ name: 'without keys', endpoint: { pattern: '/unkeyed' }, requests: { lookup } })
          const message = { ssn: 'Jäger/1234', other: 'kept' }
          for (const path of ['/unkeyed', '/done', '/failing']) await fetch(path, json('POST', message))
        },
        async ({ records }) => {
          assert.deepEqual(
            records.map(({ outcome, keys, calls }) => [outcome, keys, calls.map(({ target }) => target)]),
            [
              ['refused', { ssn: '***', other: 'kept' }, [`${upstream.url}/of/***`]],
              ['done', { ssn: '***', other: 'kept' }, [`${upstream.url}/of/***`]],
              ['done', {}, [`${upstream.url}/of/***`]],
            ],
          )
          assert.doesNotMatch(JSON.stringify(records), /1234/)
        },
      )
    }),
  )

  it(
    'cuts long bodies between two characters',
    withDatabase(async (database) => {
      const body = JSON.stringify({ text: 'ü'.repeat(1_000) })
      await runLogged(
        database,
        { MESSAGE_LOG: 'all', MESSAGE_LOG_BODY_LIMIT: '100' },
        async ({ register, fetch }) => {
          await register({ endpoint: { pattern: '/long' } })
          await fetch('/long', { ...json('POST', undefined), body })
        },
        async ({ records: [record], bodies }) => {
          const expected = { which: 'incoming', contentType: 'application/json', size: 2_011, cut: true }
          assert.deepEqual(
            record?.bodies.find(({ which }) => which === 'incoming'),
            expected,
          )
          assert.equal((await bodies(record)).incoming, `{"text":"${'ü'.repeat(45)}`)
        },
      )
    }),
  )

  it(
    'keeps business keys, of messages that failed too',
    withDatabase(async (database) => {
      const messageKeys = {
        patient: 'requestBody.patient.id',
        first: 'requestBody.orders.0.number',
        orders: 'requestBody.orders[].number',
        urgent: 'requestBody.urgent',
        missing: 'requestBody.nothing',
        object: 'requestBody.patient',
      }
      const message = { patient: { id: 'P1' }, orders: [{ number: 7 }, { number: 8 }, { number: 7 }], urgent: false }
      const orders = Array.from({ length: 20 }, (_, number) => ({ number }))
      await runLogged(
        database,
        {},
        async ({ register, fetch }) => {
          await register({ endpoint: { pattern: '/keys' }, messageKeys, inputValidation: { required: ['patient'] } })
          await fetch('/keys', json('POST', message))
          await fetch('/keys', json('POST', { orders, urgent: 'x'.repeat(300) }))
          await fetch('/keys', json('POST', { patient: { id: 'x'.repeat(300) } }))
        },
        ({ records }) => {
          assert.deepEqual(
            records.map(({ keys }) => keys),
            [
              { patient: 'x'.repeat(200) },
              { first: '0', orders: orders.slice(0, 9).map(({ number }) => String(number)) },
              { patient: 'P1', first: '7', orders: ['7', '8'], urgent: 'false' },
            ],
          )
        },
      )
    }),
  )

  it(
    'keeps the versions of the tables that a message read, and the codes that they had nothing for',
    withDatabase(async (database) => {
      const of = (missing: string, table = 'sex') => ({
        key: missing,
        transform: { function: 'table', parameters: { table, missing } },
      })
      const inputMapping = { 'requestBody.sex': [of('keep')], 'requestBody.unit': [of('fail', 'unit')] }
      await runLogged(
        database,
        { REDACT_PATHS: 'hidden' },
        async ({ adminUrl, register, fetch: send }) => {
          for (const [table, csv] of [
            ['sex', 'code,fhir\nM,male\nX,\n'],
            ['unit', 'code,ucum\n1,mg\n'],
            ['unit', 'code,ucum\n1,g\n'],
          ] as const)
            await fetch(`${adminUrl}/tables/${table}`, {
              method: 'PUT',
              headers: { 'content-type': 'text/csv' },
              body: csv,
            })
          await register({ endpoint: { pattern: '/codes' }, inputMapping })
          const sexes = Array.from({ length: 150 }, (_, code) => `${code}`)
          for (const message of [
            {},
            { sex: 'M' },
            { sex: ['M', 'X', 'Y', 'Y', 'z'.repeat(201)], unit: 1 },
            { sex: 'Y', unit: '2', hidden: 'Y' },
            { sex: sexes },
          ])
            await send('/codes', json('POST', message))
        },
        ({ records }) => {
          const miss = (table: string, code: string) => ({ table, column: table === 'sex' ? 'fhir' : 'ucum', code })
          const [many, failed, kept, found, none] = records
          assert.equal(many?.missed?.length, 100)
          assert.deepEqual(
            [failed, kept, found, none].map((record) => [record?.code, record?.tables, record?.missed]),
            [
              ['CODE_UNMAPPED', { sex: 1, unit: 2 }, [miss('sex', '***'), miss('unit', '2')]],
              [undefined, { sex: 1, unit: 2 }, [miss('sex', 'X'), miss('sex', 'Y')]],
              [undefined, { sex: 1 }, undefined],
              [undefined, undefined, undefined],
            ],
          )
        },
      )
    }),
  )
})
