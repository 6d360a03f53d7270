import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseMediaType } from '../../../src/formats/media-type.ts'
import { startCpuTime } from '../../support/cpu-time.ts'

describe('parseMediaType', () => {
  const cases = [
    { header: 'application/json', expect: ['application', 'json', undefined] },
    { header: ' Application/FHIR+JSON ; Charset=UTF-8', expect: ['application', 'fhir+json', 'utf-8'] },
    { header: 'text/xml;charset="iso-8859-1"', expect: ['text', 'xml', 'iso-8859-1'] },
    { header: 'text/xml; charset="ut\\f-8"', expect: ['text', 'xml', 'utf-8'] },
    { header: 'a/b; x="; charset=no"; charset=yes', expect: ['a', 'b', 'yes'] },
    { header: 'a/b; x="\\"; charset=no"; charset=yes', expect: ['a', 'b', 'yes'] },
    { header: 'a/b; charset=one; charset=two', expect: ['a', 'b', 'one'] },
    { header: 'a/b; fhirVersion=4.0;charset=utf-8 ', expect: ['a', 'b', 'utf-8'] },
    { header: 'a/b;', expect: ['a', 'b', undefined] },
    { header: 'a/b;; ;charset=utf-8;', expect: ['a', 'b', 'utf-8'] },
    { header: 'a/b; charset=""', expect: ['a', 'b', undefined] },
    { header: 'a/b; charset', expect: ['a', 'b', undefined] },
    { header: 'a/b; charset = utf-8', expect: ['a', 'b', undefined] },
    { header: 'a/b; charset=utf-8 x', expect: ['a', 'b', undefined] },
    { header: 'a/b; charset="utf-8', expect: ['a', 'b', undefined] },
    { header: 'a/b; xcharset=no', expect: ['a', 'b', undefined] },
    { header: '', expect: undefined },
    { header: 'json', expect: undefined },
    { header: '/json', expect: undefined },
    { header: 'application/', expect: undefined },
    { header: 'application /json', expect: undefined },
    { header: 'application/json, text/xml', expect: undefined },
    { header: 'application/json text', expect: undefined },
    { header: 'application/js\non', expect: undefined },
    { header: 'application/json/xml', expect: undefined },
  ]
  for (const { header, expect } of cases) {
    test(JSON.stringify(header), () => {
      const [type, subtype, charset] = expect ?? []
      assert.deepEqual(parseMediaType(header), expect && { type, subtype, charset })
    })
  }

  test('takes any header, and a megabyte of one in linear time', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (header) => void parseMediaType(header)))
    for (const unit of [';', ' ', '; ', ';a="', ';a="\\', ';a="\\"', ';charset', '"', '\\', ';a=b', 'a', 'a/']) {
      const cpuMs = startCpuTime()
      parseMediaType(`a/b;${unit.repeat((1 << 20) / unit.length)}`)
      parseMediaType(`a/b;x="${unit.repeat((1 << 20) / unit.length)}`)
      parseMediaType(unit.repeat((1 << 20) / unit.length))
      assert.ok(cpuMs() < 2_000, unit)
    }
  })
})
