/** What is answered where a message fails. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Failure } from '../../../src/core/failure.ts'
import { FAILURES, type FailureCode } from '../../../src/core/failure-table.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { CODECS, codecForFormat, FORMATS, type Format, MEDIA_TYPES, outputFormat } from '../../../src/formats/codecs.ts'
import { answerFailure } from '../../../src/pipeline/reply.ts'
import { FAILING_SETTINGS, failureCases, messageOf } from './failure-cases.ts'
import { openPipeline, output } from './fixture.ts'

const pipeline = openPipeline(FAILING_SETTINGS)

const PARSER = { parserXmlTrim: true, parserXmlExplicitRoot: false, parserXmlExplicitArray: false }

/** All texts in a body: some formats have no members of their own for the fields of a failure. */
const textsIn = (value: Json): string =>
  typeof value === 'object' && value !== null ? Object.values(value).map(textsIn).join('\n') : String(value)

const bodyOf = (body: string | Uint8Array, format: Format): JsonObject =>
  codecForFormat(format).read(Buffer.from(body), undefined, PARSER) as JsonObject

for (const one of failureCases(pipeline)) {
  const { name, document, says, status, details, header, code, stage, path } = one
  it(`is answered and logged: ${name}`, async () => {
    for (const format of ['JSON', 'XML'] as const) {
      const pattern = await pipeline.register({ ...output(format), failures: 'plain', ...document?.() })
      const reply = await pipeline.service.fetch(pattern, messageOf(one))
      assert.deepEqual([reply.status, reply.headers.get('content-type')], [status, MEDIA_TYPES[format]], reply.text)
      if (header !== undefined) assert.equal(reply.headers.get(header[0]), header[1])
      const { error, messageId, ...rest } = bodyOf(reply.text, format)
      const place = stage === undefined ? { code } : { code, stage, path }
      assert.deepEqual(rest, { ...place, ...(details === undefined ? {} : { details }) })
      assert.match(String(error), says)
      assert.match(String(messageId), /^[0-9a-f]{24}$/)
      const logged = pipeline.service.log.filter(({ fields }) => fields.messageId === messageId)
      const places = logged.map(({ fields: { code, stage, path } }) => ({ code, stage, path }))
      assert.deepEqual(places, [{ code, stage, path }])
    }
  })
}

/** A person resumes an endpoint; a reader of events that has gone is noticed when its connection is checked. */
const LONGER_WAITS: Partial<Record<FailureCode, string>> = { ENDPOINT_PAUSED: '60', EVENT_STREAMS_TOO_MANY: '15' }

for (const format of FORMATS) {
  it(`every code of the catalogue is answered whole: ${format}`, () => {
    const details = [
      { path: '/a<b', message: 'is "required" & more' },
      { path: '/c', message: 'is wrong' },
    ]
    for (const code of Object.keys(FAILURES) as FailureCode[]) {
      const failure = new Failure(code, 'Not <this> & "that"', { path: 'a.b', details })
      const { status, headers, body } = answerFailure(failure, format, '0'.repeat(24))
      assert.deepEqual([status, headers['content-type']], [FAILURES[code].status, outputFormat(format).mediaType])
      const reported = { error: 'Not <this> & "that"', code, path: 'a.b', messageId: '0'.repeat(24), details }
      const read = bodyOf(body, format)
      if ([CODECS.json, CODECS.xml].some((one) => one === codecForFormat(format))) assert.deepEqual(read, reported)
      else for (const text of textsIn(reported).split('\n')) assert.ok(textsIn(read).includes(text), textsIn(read))
      const isSoon = status === 503 || code === 'IDEMPOTENCY_KEY_IN_USE'
      const seconds = LONGER_WAITS[code] ?? (isSoon ? '1' : undefined)
      assert.equal(headers['retry-after'], seconds)
    }
  })
}

describe('a request without a route', () => {
  const cases: [string, string, number, string, string | null][] = [
    ['POST', '/unknown', 404, 'ROUTE_UNKNOWN', null],
    ['POST', '', 404, 'ROUTE_UNKNOWN', null],
    ['PUT', '/1', 405, 'METHOD_NOT_ALLOWED', 'POST'],
  ]
  for (const [method, tail, status, code, allow] of cases) {
    it(`is answered with ${status}: ${method} ${tail}`, async () => {
      const path = tail === '/unknown' ? tail : `${await pipeline.register({}, '/:id')}${tail}`
      const reply = await pipeline.service.fetch(path, { method })
      const { error, messageId, ...rest } = reply.json()
      assert.deepEqual([reply.status, reply.headers.get('allow'), rest], [status, allow, { code }])
      assert.match(String(error), new RegExp(path))
      assert.match(String(messageId), /^[0-9a-f]{24}$/)
    })
  }
})
