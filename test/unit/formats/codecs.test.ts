import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  CODECS,
  codecForFormat,
  codecForHeader,
  codecForSending,
  FORMATS,
  findAnyCodec,
  MEDIA_TYPES,
} from '../../../src/formats/codecs.ts'
import { parseMediaType } from '../../../src/formats/media-type.ts'

test('no two codecs claim one media type, suffix or name', () => {
  const claims = Object.values(CODECS).flatMap(({ name, mediaType, profiles, aliases, suffix }) => [
    name,
    mediaType,
    ...Object.entries(profiles).flatMap(([profile, own]) => [profile, own.mediaType]),
    ...aliases,
    ...(suffix === undefined ? [] : [`+${suffix}`]),
  ])
  assert.deepEqual(claims, [...new Set(claims)])
})

describe('codecOfHeader', () => {
  const cases: readonly { header: string; expect: keyof typeof CODECS | undefined }[] = [
    { header: 'application/json', expect: 'json' },
    { header: 'text/json', expect: 'json' },
    { header: 'application/fhir+json', expect: 'json' },
    { header: 'application/json+openhim', expect: 'json' },
    { header: 'model/gltf+json', expect: 'json' },
    { header: 'application/xml', expect: 'xml' },
    { header: 'text/xml', expect: 'xml' },
    { header: 'application/soap+xml', expect: 'xml' },
    { header: 'image/svg+xml', expect: 'xml' },
    { header: 'application/jsonp', expect: undefined },
    { header: 'application/x-ndjson', expect: 'ndjson' },
    { header: 'application/jsonl', expect: 'ndjson' },
    { header: 'application/fhir+ndjson', expect: 'ndjson' },
    { header: 'application/json-seq', expect: undefined },
    { header: 'image/json', expect: undefined },
    { header: 'text/plain', expect: undefined },
    { header: 'application/xml+zip', expect: undefined },
    { header: 'application/x-www-form-urlencoded', expect: 'form' },
  ]
  for (const { header, expect } of cases) {
    test(header, () => assert.equal(codecForHeader(header), expect && CODECS[expect]))
  }

  test('is the codec of the format, for what the service itself writes', () => {
    for (const format of FORMATS) {
      const type = parseMediaType(MEDIA_TYPES[format])
      assert.equal(type && findAnyCodec(type), codecForFormat(format))
    }
  })

  test('is undefined for a type that says little, unless a request of an endpoint in this format sends it', () => {
    const json = { transformation: { input: 'JSON', output: 'JSON' } } as const
    assert.equal(codecForSending('text/plain', json), undefined)
    assert.equal(codecForSending('text/plain', { transformation: { output: 'TEXT' } }), CODECS.text)
    assert.equal(codecForSending('text/csv', json), CODECS.csv)
  })

  test('is undefined without a header, or with one that names no media type', () => {
    for (const header of [undefined, '', 'json']) assert.equal(codecForHeader(header), undefined)
  })
})
