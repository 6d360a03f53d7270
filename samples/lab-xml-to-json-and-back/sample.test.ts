import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Sample, startSample } from '../run-sample.ts'

let sample: Sample

before(async () => {
  sample = await startSample(import.meta.dirname, ['endpoint.json', 'endpoint-back.json'])
})
after(() => sample.stop())

test('turns the XML report into JSON', async () => {
  const reply = await sample.send('/lab-reports/from-xml', sample.text('input.xml'), 'application/xml')
  assert.equal(reply.status, 200)
  assert.deepEqual(reply.json(), sample.json('output.json'))
})

test('turns the JSON back into the same XML, to the last character', async () => {
  const reply = await sample.send('/lab-reports/to-xml', sample.text('output.json'))
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('content-type'), 'application/xml')
  assert.equal(reply.text, sample.text('input.xml'))
})

test('keeps a report with one result a list, and brings it back', async () => {
  const result = '<result loinc="4548-4"><value unit="%">6.0</value></result>'
  const xml = `<labReport id="L-1">${result}</labReport>`
  const inJson = await sample.send('/lab-reports/from-xml', xml, 'text/xml; charset=utf-8')
  assert.deepEqual(inJson.json(), {
    reportId: 'L-1',
    results: [{ code: '4548-4', text: '6.0', value: 6, unit: '%' }],
  })
  const back = await sample.send('/lab-reports/to-xml', inJson.text)
  assert.equal(back.text.replace(/^<\?.*\?>|\n */g, ''), xml)
})

test('refuses a report that is not well-formed, and one that is no XML', async () => {
  const cut = await sample.send('/lab-reports/from-xml', sample.text('input.xml').slice(0, -10), 'application/xml')
  assert.equal(cut.status, 400)
  assert.equal(cut.json().code, 'BODY_UNREADABLE')
  const wrong = await sample.send('/lab-reports/from-xml', sample.text('output.json'))
  assert.equal(wrong.status, 415)
})
