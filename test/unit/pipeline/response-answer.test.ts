/** Whatever another system answers with an allowed status: it is an answer, in the output type or byte for byte. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import type { OutboundAnswer } from '../../../src/core/ports/http-client-port.ts'
import { startTrace } from '../../../src/core/tracing/trace.ts'
import { CODECS, codecForFormat, FORMATS, type Format, outputFormat } from '../../../src/formats/codecs.ts'
import { aggregate, passOn } from '../../../src/pipeline/requests/response-answer.ts'
import { readAnyContent } from '../../../src/pipeline/requests/upstream-answer.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'
import { unboundedBytes } from '../../support/unbounded-bytes.ts'

const SETTINGS = { parserXmlTrim: true, parserXmlExplicitRoot: false, parserXmlExplicitArray: false }

const nasty = [
  '<a>1</a>',
  '<a><b></a>',
  '<!DOCTYPE a><a/>',
  '{"a b":1}',
  '{"$":{"x y":1}}',
  '%PDF-1.0',
  '\0',
  '\ufeff{}',
]
const text = fc.oneof(
  fc.json(),
  fc.json().map((json) => json.slice(0, -1)),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(...nasty, '['.repeat(70)),
)
const bytes = fc.oneof(
  text.map((one) => Buffer.from(one)),
  text.map((one) => Buffer.from(one, 'utf16le')),
  fc.uint8Array({ minLength: 1, maxLength: 20 }).map((one) => Buffer.from(one)),
)
const texts = ['text/xml', 'application/xml; charset=latin1', 'text/plain; charset=none', 'text/html']
const others = ['application/json', 'application/fhir+json; charset=utf-16', 'application/pdf', 'image/png', ';']
const types = fc.constantFrom(undefined, ...texts, ...others)
const answers = fc
  .record({ body: bytes, type: types, isCoded: fc.boolean(), ok: fc.boolean() })
  .map(({ body, type, isCoded, ok }): OutboundAnswer & { ok: boolean } => ({
    status: ok ? 201 : 422,
    headers: {
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(isCoded ? { 'content-encoding': 'zstd' } : {}),
    },
    body,
    ...(isCoded ? { isCoded } : {}),
    ok,
  }))

test('any answer is passed on: in the output type, or byte for byte', () => {
  fc.assert(
    fc.property(answers, fc.constantFrom(...FORMATS), (answer, format) => {
      const content = readAnyContent(answer, SETTINGS, !answer.ok)
      const { status, headers, body } = passOn(answer, content, outputFormat(format), {
        trace: startTrace(),
        budget: unboundedBytes(),
      })
      assert.equal(status, answer.status)
      const type = headers['content-type']
      if (answer.body.length === 0 && body === '') return
      if (Buffer.from(body).equals(answer.body)) {
        const own = answer.headers['content-type'] ?? 'application/octet-stream'
        assert.ok(type === own || type === outputFormat(format).mediaType)
        return
      }
      assert.equal(type, outputFormat(format).mediaType)
      codecForFormat(format).read(Buffer.from(body), undefined, SETTINGS)
    }),
    { numRuns: LONG ? 3_000 : 600 },
  )
})

/** Where the answers would be an object that the format cannot hold, registration refuses the document. */
const holdsAnyObject = (format: Format): boolean => {
  try {
    return codecForFormat(format).build({ a: {} }) !== ''
  } catch {
    return false
  }
}

test('any answers stand together in the output type', () => {
  const formats = FORMATS.filter(holdsAnyObject)
  fc.assert(
    fc.property(fc.array(answers, { maxLength: 4 }), fc.constantFrom(...formats), (all, format) => {
      const outcomes = all.map((answer) => ({
        answer,
        ok: answer.ok,
        content: readAnyContent(answer, SETTINGS, !answer.ok),
      }))
      const ids = all.map((_, index) => ({ id: `r${index}` }))
      const { status, body, partial } = aggregate(ids, outcomes, outputFormat(format), {
        trace: startTrace(),
        budget: unboundedBytes(),
      })
      assert.deepEqual([status, partial ?? false], [200, all.some(({ ok }) => !ok)])
      const read = codecForFormat(format).read(Buffer.from(body), undefined, SETTINGS)
      if (codecForFormat(format) === CODECS.json)
        assert.deepEqual(
          Object.keys(read as JsonObject),
          ids.map(({ id }) => id),
        )
    }),
    { numRuns: LONG ? 2_000 : 400 },
  )
})
