/** `$fail` ends a message with a failure of the document's own, in whatever place the expression runs. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { json } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { failureOf, openPipeline, output } from './fixture.ts'

const BODY = { id: 'p1', age: -1, items: [{ n: 1 }, { n: 2 }], deep: { a: 1 } }
const TRANSFORM = 'inputTransforms.t'
const ENDPOINT = { name: 'ends', endpoint: { pattern: '/ends' }, transformation: { input: 'JSON', output: 'JSON' } }

for (const ISOLATION of ['none', 'process']) {
  const pipeline = openPipeline({ ISOLATION })
  const say = (text: string, more: JsonObject = {}) => pipeline.send({ inputTransforms: { t: text }, ...more }, BODY)

  describe(`$fail, ISOLATION=${ISOLATION}`, () => {
    const given: [text: string, status: number, error: string, details?: Json][] = [
      ['$fail(422, "Age " & requestBody.age & " is not possible.")', 422, 'Age -1 is not possible.'],
      ['requestBody.age < 0 ? $fail(400, "No age") : 1', 400, 'No age'],
      ['$fail(599, "a\n  b", [1, {"path": "x"}])', 599, 'a\n  b', [1, { path: 'x' }]],
      ['requestBody.items.$fail(409, "n " & n, $)', 409, 'n 1', { n: 1 }],
      ['409 ~> $fail("applied", false)', 409, 'applied', false],
      ['$fail(503, $pad("", 8192, "x"))', 503, 'x'.repeat(8192)],
      ['$eval("$fail(404, \\"none\\")")', 404, 'none'],
    ]
    for (const [text, status, error, details] of given) {
      it(`answers with its own status and sentence: ${text}`, async () => {
        const reply = await say(text)
        assert.deepEqual(failureOf(reply), [status, 'REJECTED', 'transform', TRANSFORM])
        const answer = reply.json<{ error: string; details?: Json }>()
        assert.deepEqual([answer.error, answer.details], [error, details])
        assert.equal(reply.headers.get('retry-after'), status === 503 ? '1' : null)
      })
    }

    const faulty: [text: string, says: RegExp][] = [
      ['$fail(399, "no")', /whole number from 400 to 599/],
      ['$fail(422.5, "no")', /whole number from 400 to 599/],
      ['$fail(600, "no")', /whole number from 400 to 599/],
      ['$fail(requestBody.none, "no")', /whole number from 400 to 599/],
      ['$fail("422", "no")', /Argument 1 of function "fail"/],
      ['$fail(422, requestBody.none)', /needs a message/],
      ['$fail(422, " ")', /needs a message/],
      ['$fail(422, $pad("", 8193, "x"))', /more than 8,192 characters/],
      ['$fail(422, "no", $uppercase)', /hold a function/],
      ['$fail(422, "no", {"a": [$pad("", 9000, "x")]})', /8,192 characters/],
    ]
    for (const [text, says] of faulty) {
      it(`is a fault of the expression: ${text}`, async () => {
        const reply = await say(text)
        assert.deepEqual(failureOf(reply), [500, 'TRANSFORM_FAILED', 'transform', TRANSFORM])
        assert.match(reply.json<{ error: string }>().error, says)
      })
    }

    it('ends the message before anything is sent, also of an optional lookup, item or response', async () => {
      const request = (read: string) => ({
        id: 'one',
        optional: true,
        config: {
          url: `${pipeline.upstream.url}/a`,
          params: { query: { n: { expression: `$fail(409, "not " & ${read})` } } },
        },
      })
      const ofEach = { ...request('item.n'), forEach: { items: 'payload.items' } }
      const once = request('payload.id')
      const cases: [kind: string, request: JsonObject, error: string, stage: string][] = [
        ['lookup', once, 'not p1', 'lookup'],
        ['lookup', ofEach, 'not 1', 'lookup'],
        ['response', once, 'not p1', 'respond'],
        ['response', ofEach, 'not 1', 'respond'],
      ]
      for (const [kind, one, error, stage] of cases) {
        const sent = await pipeline.receivedIn(async () => {
          const reply = await pipeline.send({ requests: { [kind]: one } }, BODY)
          const path = `requests.${kind}[0].config.params.query.n.expression`
          assert.deepEqual(failureOf(reply), [409, 'REJECTED', stage, path])
          assert.equal(reply.json<{ error: string }>().error, error)
        })
        assert.equal(sent.length, 0)
      }
    })

    it('ends the message in each condition, and in a condition of elements', async () => {
      const config = { url: `${pipeline.upstream.url}/a` }
      const when = '$fail(409, "not " & requestBody.id)'
      const each = { key: 'list[]', each: { 'item.n': 'n' }, when: 'item.n = 2 ? $fail(409, "not " & item.n) : true' }
      const cases: [document: JsonObject, error: string, stage: string, path: string][] = [
        [{ requests: { lookup: { id: 'one', when, config } } }, 'not p1', 'lookup', 'requests.lookup[0].when'],
        [{ requests: { response: { id: 'one', when, config } } }, 'not p1', 'respond', 'requests.response[0].when'],
        [{ inputMapping: { 'requestBody.items[]': each } }, 'not 2', 'map', 'inputMapping.requestBody\\.items[].when'],
      ]
      for (const [document, error, stage, path] of cases) {
        const reply = await pipeline.send(document, BODY)
        assert.deepEqual(failureOf(reply), [409, 'REJECTED', stage, path], reply.text)
        assert.equal(reply.json<{ error: string }>().error, error)
      }
    })

    it('is written in each format', async () => {
      const text = '$fail(422, "No <age>", {"a b": [1]})'
      const xml = await say(text, output('XML'))
      assert.match(
        xml.text,
        /<error>No &lt;age&gt;<\/error>.*<code>REJECTED<\/code>.*<details>\{"a b":\[1\]\}<\/details>/s,
      )
      const fhir = await say(text, output('FHIR+JSON'))
      const { issue } = fhir.json<{ issue: JsonObject[] }>()
      assert.deepEqual(
        issue.map(({ code, details }) => [code, details]),
        [['business-rule', { coding: [{ system: 'urn:crosswalk:failure', code: 'REJECTED' }], text: 'No <age>' }]],
      )
      assert.match(String(issue[0]?.diagnostics), /path: inputTransforms\.t; details: \{"a b":\[1\]\}$/)
      const csv = await say(text, output('CSV'))
      assert.equal(csv.status, 422)
      assert.match(csv.text, /No <age>/)
    })

    it('passes the issues of an OperationOutcome in its details on', async () => {
      const own = '{"resourceType": "OperationOutcome", "issue": [{"severity": "error", "code": "value"}]}'
      const reply = await say(`$fail(400, "No", ${own})`, output('FHIR+JSON'))
      const { issue } = reply.json<{ issue: JsonObject[] }>()
      assert.deepEqual(issue[0], { severity: 'error', code: 'value' })
      assert.equal(issue.length, 2)
    })

    it('gives the texts of $error and $assert first', async () => {
      const cases: [text: string, error: string][] = [
        ['$error("Too old.")', `Too old, near character 7 of the expression "${TRANSFORM}".`],
        ['$assert(false, "Too old")', `Too old, near character 8 of the expression "${TRANSFORM}".`],
      ]
      for (const [text, error] of cases) {
        const reply = await say(text)
        assert.deepEqual(failureOf(reply), [500, 'TRANSFORM_FAILED', 'transform', TRANSFORM])
        assert.equal(reply.json<{ error: string }>().error, error)
      }
    })

    it('is shown by a dry run, and expected by a test of the document', async () => {
      const endpoint = { ...ENDPOINT, inputTransforms: { t: '$fail(422, "No", {"a": 1})' } }
      const message = { body: BODY }
      const ran = await pipeline.service.fetch('/endpoints/dry-run', json('POST', { endpoint, message }))
      assert.deepEqual(ran.json<{ failure: Json }>().failure, {
        error: 'No',
        code: 'REJECTED',
        status: 422,
        stage: 'transform',
        path: TRANSFORM,
        details: [{ path: '', message: '{"a":1}' }],
      })
      const expect = { failure: { code: 'REJECTED', status: 422 }, answer: { status: 422 } }
      const tests = [{ name: 'no', given: { message }, expect }]
      const tested = await pipeline.service.fetch('/endpoints/tests/run', json('POST', { endpoint, tests }))
      assert.deepEqual([tested.status, tested.json<{ failed: number }>().failed], [200, 0], tested.text)
    })

    it('is in the message log, and in the OpenAPI document of its endpoint alone', async () => {
      const path = await pipeline.register({
        inputTransforms: { t: '$fail(422, "No " & requestBody.id)' },
        messageLog: 'metadata',
      })
      const other = await pipeline.register({ inputTransforms: { t: '1' } })
      const reply = await pipeline.service.fetch(path, json('POST', BODY))
      const { messageId } = reply.json<{ messageId: string }>()
      const record = await until(
        () => fetch(`${pipeline.service.adminUrl}/messages/${messageId}`),
        ({ status }) => status === 200,
      )
      const { code, status, outcome, error } = (await record.json()) as JsonObject
      const shown = `The expression "${TRANSFORM}" ended the message with 422.`
      assert.deepEqual([code, status, outcome, error], ['REJECTED', 422, 'refused', shown])
      const published = await pipeline.service.fetch('/endpoints/openapi.json')
      const { paths } = published.json<{ paths: Record<string, { post: { responses: JsonObject } }> }>()
      assert.ok(paths[path]?.post.responses['5XX'] !== undefined)
      assert.equal(paths[other]?.post.responses['5XX'], undefined)
    })

    it('hides the secrets of the document', async () => {
      process.env.FAIL_SECRET = 'hidden-value'
      const constants = { key: '${env:FAIL_SECRET}' }
      const reply = await say('$fail(422, "is " & constants.key, {"a": constants.key})', { constants })
      delete process.env.FAIL_SECRET
      assert.equal(reply.text.includes('hidden-value'), false, reply.text)
    })
  })
}
