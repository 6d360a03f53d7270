/** Endpoint documents: whole random ones, and sound ones with something in them changed. */

import type { Json, JsonObject } from '../../../src/core/json.ts'
import rich from '../../data/rich-document.json' with { type: 'json' }
import fc from '../fast-check.ts'
import { jsonText, names } from './arbitraries.ts'

/** A sound document, for more to be added to it. */
export const PLAIN = {
  name: 'fuzz',
  endpoint: { pattern: '/fuzz' },
  transformation: { input: 'JSON', output: 'JSON' },
}

const { kafkaConsumerTopic: _, requests, ...rest } = rich
const sound: readonly JsonObject[] = [
  { name: 'plain', endpoint: { pattern: '/plain' }, transformation: { input: 'JSON', output: 'JSON' } },
  {
    name: 'xml',
    endpoint: { pattern: '/xml/:id', method: 'PUT' },
    transformation: { input: 'XML', output: 'XML' },
    inputMapping: { 'requestBody.a[].b': 'list[].item', 'urlParams.id': { key: 'id', default: 'none' } },
  },
  {
    name: 'list',
    endpoint: { pattern: '/list', method: 'GET' },
    transformation: { output: 'FHIR+JSON' },
    inputTransforms: { all: '$map(query.*, $uppercase)', count: '$count(transforms.all)' },
    inputMapping: { 'transforms.count': 'total', 'query.code': ['code', ['codes[]', { function: 'stringify' }]] },
    inputValidation: { properties: { query: { type: 'object', maxProperties: 3 } } },
  },
  { ...rest, requests: { ...requests, response: requests.response.slice(0, 1) } } as JsonObject,
]

type Place = readonly (string | number)[]

function placesIn(value: Json, place: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [place]
  return [place, ...Object.entries(value).flatMap(([name, inner]) => placesIn(inner, [...place, name]))]
}

type Change = Readonly<{ at: number; kind: 'set' | 'remove' | 'rename' | 'swap'; name: string; value: string }>

/** The JSON text of the document with one change; by text, so that a new name may be `__proto__` or stand there already. */
function changeOnce(document: Json, change: Change): string {
  const places = placesIn(document)
  const place = places[change.at % places.length] ?? []
  const write = (value: Json, depth: number): string => {
    const here = depth === place.length
    if (here && change.kind === 'set') return change.value
    if (here && change.kind === 'swap') return JSON.stringify(JSON.stringify(value))
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    const members = Object.entries(value).flatMap(([name, inner]) => {
      const onTheWay = place[depth] === name
      const last = onTheWay && depth + 1 === place.length
      if (last && change.kind === 'remove') return []
      const text = onTheWay ? write(inner, depth + 1) : JSON.stringify(inner)
      if (Array.isArray(value)) return [text]
      return [`${JSON.stringify(last && change.kind === 'rename' ? change.name : name)}:${text}`]
    })
    return Array.isArray(value) ? `[${members}]` : `{${members}}`
  }
  return write(document, 0)
}

const changes = fc.record<Change>({
  at: fc.nat(10_000),
  kind: fc.constantFrom('set', 'remove', 'rename', 'swap'),
  name: names,
  value: jsonText,
})

const changed = fc
  .tuple(fc.constantFrom(...sound), fc.array(changes, { minLength: 1, maxLength: 2, size: 'small' }))
  .map(([document, list]) =>
    list.reduce((text, change) => changeOnce(JSON.parse(text), change), JSON.stringify(document)),
  )

const broken = fc
  .tuple(changed, fc.nat(), fc.nat(3), fc.constantFrom('', '"', ',', '{', ']', '\\', '\0', 'é', '1e999'))
  .map(([text, at, drop, insert]) => {
    const from = at % (text.length + 1)
    return text.slice(0, from) + insert + text.slice(from + drop)
  })

export const documentTexts = fc.oneof(
  { weight: 7, arbitrary: changed },
  { weight: 2, arbitrary: broken },
  { weight: 2, arbitrary: jsonText },
  { weight: 1, arbitrary: fc.json() },
)
