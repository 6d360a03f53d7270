import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseMediaType } from '../../../src/formats/media-type.ts'
import { timesAsCostly } from '../../support/cpu-time.ts'
import fc from '../../support/fast-check.ts'

describe('parseMediaType', () => {
  const cases: [header: string, expect?: [string, string, string | undefined]][] = [
    ['application/json', ['application', 'json', undefined]],
    [' Application/FHIR+JSON ; Charset=UTF-8', ['application', 'fhir+json', 'utf-8']],
    ['text/xml;charset="iso-8859-1"', ['text', 'xml', 'iso-8859-1']],
    ['text/xml; charset="ut\\f-8"', ['text', 'xml', 'utf-8']],
    ['a/b; x="; charset=no"; charset=yes', ['a', 'b', 'yes']],
    ['a/b; x="\\"; charset=no"; charset=yes', ['a', 'b', 'yes']],
    ['a/b; charset=one; charset=two', ['a', 'b', 'one']],
    ['a/b; fhirVersion=4.0;charset=utf-8 ', ['a', 'b', 'utf-8']],
    ['a/b;', ['a', 'b', undefined]],
    ['a/b;; ;charset=utf-8;', ['a', 'b', 'utf-8']],
    ['a/b; charset=""', ['a', 'b', undefined]],
    ['a/b; charset', ['a', 'b', undefined]],
    ['a/b; charset = utf-8', ['a', 'b', undefined]],
    ['a/b; charset=utf-8 x', ['a', 'b', undefined]],
    ['a/b; charset="utf-8', ['a', 'b', undefined]],
    ['a/b; xcharset=no', ['a', 'b', undefined]],
    [''],
    ['json'],
    ['/json'],
    ['application/'],
    ['application /json'],
    ['application/json, text/xml'],
    ['application/json text'],
    ['application/js\non'],
    ['application/json/xml'],
  ]
  for (const [header, expect] of cases) {
    test(JSON.stringify(header), () => {
      const [type, subtype, charset] = expect ?? []
      assert.deepEqual(parseMediaType(header), expect && { type, subtype, charset })
    })
  }

  test('takes any header, in linear time', async () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (header) => void parseMediaType(header)))
    const read = (unit: string, bytes: number) => () => {
      const many = unit.repeat(bytes / unit.length)
      for (const header of [`a/b;${many}`, `a/b;x="${many}`, many]) parseMediaType(header)
    }
    for (const unit of [';', ' ', '; ', ';a="', ';a="\\', ';a="\\"', ';charset', '"', '\\', ';a=b', 'a', 'a/']) {
      const ratio = await timesAsCostly(read(unit, 1 << 18), read(unit, 1 << 16))
      // Four times as much: 16 times as costly if each byte were looked at for each.
      assert.ok(ratio < 10, `${unit}: ${ratio}`)
    }
  })
})
