import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Failure } from '../../../src/domain/failure.ts'
import { FAILURES, type FailureCode } from '../../../src/domain/failure-table.ts'
import type { JsonObject } from '../../../src/domain/json.ts'
import { codecOfFormat, FORMATS, type Format, MEDIA_TYPES } from '../../../src/formats/codecs.ts'
import { answerFailure } from '../../../src/pipeline/reply.ts'
import { json, type Service, startService, type Upstream } from '../../support/service.ts'
import { FAILING_SETTINGS, failureCases, startFailingUpstream } from './failure-cases.ts'

let service: Service
let upstream: Upstream
before(async () => {
  service = await startService(FAILING_SETTINGS)
  upstream = await startFailingUpstream()
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

const cases = failureCases(() => upstream.url)

let routes = 0

const PARSER = { parserXmlTrim: true, parserXmlExplicitRoot: false, parserXmlExplicitArray: false }

const bodyOf = (body: string | Uint8Array, output: Format): JsonObject =>
  codecOfFormat(output).read(Buffer.from(body), undefined, PARSER) as JsonObject

describe(`answered as ${FORMATS.join(', ')}`, () => {
  for (const { name, document, body = {}, headers, says, status, details, header, ...place } of cases) {
    it(name, async () => {
      for (const output of FORMATS) {
        routes += 1
        const pattern = `/failure-${routes}`
        const transformation = { input: 'JSON', output }
        await service.register({ endpoint: { pattern }, transformation, failures: 'plain', ...document?.() })
        const sent = Buffer.isBuffer(body) ? { method: 'POST', body, headers: headers ?? {} } : json('POST', body)
        const reply = await service.fetch(pattern, sent)
        assert.deepEqual([reply.status, reply.headers.get('content-type')], [status, MEDIA_TYPES[output]], reply.text)
        if (header !== undefined) assert.equal(reply.headers.get(header[0]), header[1])
        const { error, messageId, ...rest } = bodyOf(reply.text, output)
        assert.deepEqual(rest, { ...place, ...(details === undefined ? {} : { details }) })
        assert.match(String(error), says)
        assert.match(String(messageId), /^[0-9a-f]{24}$/)
        const logged = service.log.filter(({ fields }) => fields.messageId === messageId)
        assert.deepEqual(
          logged.map(({ fields: { code, stage, path } }) => ({ code, stage, path })),
          [{ code: place.code, stage: place.stage, path: place.path }],
        )
      }
    })
  }

  for (const output of FORMATS) {
    it(`every code of the catalogue, whole: ${output}`, () => {
      for (const code of Object.keys(FAILURES) as FailureCode[]) {
        const details = [
          { path: '/a<b', message: 'is "required" & more' },
          { path: '/c', message: 'is wrong' },
        ]
        const failure = new Failure(code, 'Not <this> & "that"', { path: 'a.b', details })
        const { status, headers, body } = answerFailure(failure, output, '0'.repeat(24))
        assert.deepEqual([status, headers['content-type']], [FAILURES[code].status, MEDIA_TYPES[output]])
        const reported = { error: 'Not <this> & "that"', code, path: 'a.b', messageId: '0'.repeat(24), details }
        assert.deepEqual(bodyOf(body, output), reported)
        const isSoon = status === 503 || code === 'IDEMPOTENCY_KEY_IN_USE'
        // A place is free when a caller stops reading events, and its connection is checked that often.
        const seconds = code === 'EVENT_STREAMS_TOO_MANY' ? '15' : isSoon ? '1' : undefined
        assert.equal(headers['retry-after'], seconds)
      }
    })
  }
})
