/** `TESTS_ON_CHANGE`: changes of endpoints whose stored tests fail. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  bearer,
  JSON_TYPE,
  type ServiceWithKeys,
  startServiceWithKeys,
} from '../../../../support/api/access/service-with-keys.ts'
import { call } from '../../../../support/inbound/http/management/call.ts'
import { endpointDocument } from '../../../../support/service.ts'

type Role = 'author' | 'admin'
type Lint = Readonly<{ operation?: number; code?: string; path: string; message: string }>

const documentOf = (pattern: string, constant: string) =>
  endpointDocument({
    endpoint: { pattern },
    constants: { answer: constant },
    inputMapping: { 'constants.answer': 'answer', 'requestBody.name': 'name' },
  })

const TESTS = {
  tests: [
    {
      name: 'answers',
      given: { message: { body: { name: 'Ada' } } },
      expect: { answer: { body: { answer: 'good', name: 'Ada' } } },
    },
    { name: 'is done', given: { message: { body: {} } }, expect: { outcome: 'done' } },
    { name: 'is good', given: { message: { body: {} } }, expect: { answer: { body: { answer: 'good' } } } },
  ],
}

for (const mode of ['off', 'warn', 'require'] as const) {
  describe(`TESTS_ON_CHANGE=${mode}`, () => {
    let withKeys: ServiceWithKeys
    let count = 0
    before(async () => {
      withKeys = await startServiceWithKeys({ TESTS_ON_CHANGE: mode })
    })
    after(() => withKeys.service.stop())

    const ask = (
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string> = {},
      role: Role = 'author',
    ) =>
      call(withKeys.baseUrl('admin'), method, path, {
        headers: { ...JSON_TYPE, ...bearer(withKeys.keys[role]), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    /** An endpoint with two versions that are good, and tests. */
    const register = async () => {
      count += 1
      const pattern = `/tested/${mode}/${count}`
      const bad = documentOf(pattern, 'bad')
      const good = documentOf(pattern, 'good')
      const created = await ask('POST', '/endpoints', bad)
      assert.equal(created.status, 201, created.text)
      const { _id } = created.json<{ _id: string }>()
      assert.equal((await ask('PUT', `/endpoints/${_id}`, good)).status, 200)
      assert.equal((await ask('PUT', `/endpoints/${_id}/tests`, TESTS)).status, 200)
      return { _id, pattern, bad, good }
    }
    const warningsOf = ({ headers }: Awaited<ReturnType<typeof ask>>): readonly Lint[] =>
      JSON.parse(String(headers['x-crosswalk-warnings'] ?? '[]'))

    type Run = (
      one: Awaited<ReturnType<typeof register>>,
      headers?: Record<string, string>,
      role?: Role,
    ) => ReturnType<typeof ask>
    const CHANGES: Readonly<Record<string, Run>> = {
      PUT: ({ _id, bad }, headers, role) => ask('PUT', `/endpoints/${_id}`, bad, headers, role),
      PATCH: ({ _id }, headers, role) =>
        ask('PATCH', `/endpoints/${_id}`, { constants: { answer: 'bad' } }, headers, role),
      restore: ({ _id }, headers, role) =>
        ask('POST', `/endpoints/${_id}/versions/1/restore`, undefined, headers, role),
    }
    for (const [how, run] of Object.entries(CHANGES)) {
      test(`${how}: a change whose tests fail`, async () => {
        const one = await register()
        const reply = await run(one)
        const stored = (await ask('GET', `/endpoints/${one._id}`)).json<{ constants: { answer: string } }>()
        if (mode === 'require') {
          assert.deepEqual([reply.status, reply.json().code], [409, 'TESTS_FAILED'])
          const { details } = reply.json<{ details: Lint[] }>()
          assert.deepEqual([details.length, details[0]?.path, details[1]?.path], [2, 'tests[0]', 'tests[2]'])
          assert.match(
            details[0]?.message ?? '',
            /^The test "answers" fails at \/expect\/answer\/body\/answer\. .*\(expected "good", actual "bad"\)$/,
          )
          assert.equal(stored.constants.answer, 'good')
          return
        }
        assert.equal(reply.status, 200)
        assert.equal(stored.constants.answer, 'bad')
        const sentences = warningsOf(reply).map(({ path, message }) => `${path} ${message}`)
        if (mode === 'off') return assert.deepEqual(sentences, [])
        assert.deepEqual(
          sentences.filter((sentence) => sentence.startsWith('tests')),
          [
            'tests[0] The test "answers" fails at /expect/answer/body/answer; POST /endpoints/tests/run shows why.',
            'tests[2] The test "is good" fails at /expect/answer/body/answer; POST /endpoints/tests/run shows why.',
          ],
        )
      })

      test(`${how}: an admin may override the tests with a reason, which is audited`, async () => {
        const one = await register()
        const override = { 'x-crosswalk-override': ' the lab waits ', 'x-crosswalk-change-note': 'ticket 7' }
        const refused = await run(one, override)
        assert.deepEqual([refused.status, refused.json().code], [403, 'ACCESS_DENIED'])
        const made = await run(one, override, 'admin')
        assert.equal(made.status, 200, made.text)
        if (mode !== 'off') assert.ok(warningsOf(made).some(({ path }) => path === 'tests[2]'))
        const { entries } = (await ask('GET', `/audit?what=${one._id}&limit=1`, undefined, {}, 'admin')).json<{
          entries: { note?: string; after?: number }[]
        }>()
        assert.deepEqual([entries[0]?.note, entries[0]?.after], ['ticket 7. Tests overridden: the lab waits', 3])
        const [newest] = (await ask('GET', `/endpoints/${one._id}/versions`)).json<
          { origin: { testsOverride?: string } }[]
        >()
        assert.equal(newest?.origin.testsOverride, 'the lab waits')
      })
    }

    test('a batch', async () => {
      const [first, second] = [await register(), await register()]
      const operations = [
        { op: 'replace', id: first._id, document: first.good },
        { op: 'replace', id: second._id, document: second.bad },
        { op: 'create', document: documentOf(`/tested/${mode}/new/${count}`, 'bad') },
      ]
      for (const dryRun of [true, false]) {
        const reply = await ask('POST', '/endpoints/batch', { operations, dryRun })
        if (mode === 'require') {
          assert.deepEqual([reply.status, reply.json().code], [409, 'TESTS_FAILED'])
          const { details } = reply.json<{ details: Lint[] }>()
          assert.deepEqual(
            details.map(({ operation, code, path }) => [operation, code, path]),
            [
              [1, 'TESTS_FAILED', 'tests[0]'],
              [1, 'TESTS_FAILED', 'tests[2]'],
            ],
          )
        } else {
          assert.equal(reply.status, 200, reply.text)
          const { results } = reply.json<{ results: { warnings: Lint[] }[] }>()
          const failing = results.map(({ warnings }) => warnings.filter(({ path }) => path.startsWith('tests')).length)
          assert.deepEqual(failing, [0, mode === 'warn' ? 2 : 0, 0])
        }
      }
      if (mode !== 'require') return
      const override = { 'x-crosswalk-override': 'known' }
      assert.equal((await ask('POST', '/endpoints/batch', { operations }, override)).status, 403)
      assert.equal((await ask('POST', '/endpoints/batch', { operations }, override, 'admin')).status, 200)
      const { entries } = (await ask('GET', `/audit?what=${second._id}&limit=1`, undefined, {}, 'admin')).json<{
        entries: { note?: string }[]
      }>()
      assert.equal(entries[0]?.note, 'Tests overridden: known')
    })

    test('a change whose tests pass, and one without tests', async () => {
      const { _id, good } = await register()
      const passes = await ask('PUT', `/endpoints/${_id}`, { ...good, description: 'other' })
      assert.equal(passes.status, 200, passes.text)
      assert.deepEqual(
        warningsOf(passes).filter(({ path }) => path.startsWith('tests')),
        [],
      )
      assert.equal((await ask('DELETE', `/endpoints/${_id}/tests`)).status, 200)
      assert.equal((await ask('PATCH', `/endpoints/${_id}`, { constants: { answer: 'bad' } })).status, 200)
    })
  })
}
