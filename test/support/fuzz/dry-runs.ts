/** What stands beside the document in the request of a dry run: as it should be, or nearly. */
import fc from '../fast-check.ts'
import { jsonText, names, objectText } from './arbitraries.ts'

const text = fc.oneof(fc.constantFrom('"a"', '"<a/>"', '"{"', '""'), jsonText)
/** Mostly what is right there: most of the requests must come past the first check. */
const mostly = (right: fc.Arbitrary<string>, wrong = jsonText) =>
  fc.oneof({ weight: 15, arbitrary: right }, { weight: 1, arbitrary: wrong })
const status = mostly(fc.integer({ min: 100, max: 599 }).map(String))

const textOf = (entries: readonly (readonly [string, string | undefined])[]): string =>
  `{${entries.flatMap(([name, value]) => (value === undefined ? [] : [`${JSON.stringify(name)}:${value}`]))}}`

/** The text of an object, with some of its members. */
const objectOf = (members: Readonly<Record<string, fc.Arbitrary<string>>>) =>
  fc
    .tuple(
      ...Object.entries(members).map(([name, value]) =>
        fc.option(value, { nil: undefined }).map((given) => [name, given] as const),
      ),
    )
    .map(textOf)

const fault = mostly(fc.constantFrom('"timeout"', '"unreachable"'))
const canned = mostly(objectOf({ status, body: text, fault }))
const answers = fc.oneof(
  canned,
  fc.array(canned, { maxLength: 3 }).map((list) => `[${list}]`),
)
/** A name may stand twice. */
const answersOf = (ids: readonly string[]) =>
  fc.array(fc.tuple(mostly(fc.constantFrom(...ids), names), answers), { maxLength: 2 }).map(textOf)

/** The requests of an endpoint that the answers are for. */
export const CANNED_REQUESTS = { lookup: ['patient', 'order'], response: ['store', 'archive'] } as const

const sound = {
  headers: fc.constantFrom('{"a":"b"}', '{"__proto__":"x"}', '{"Content-Type":"text/xml; charset=utf-16"}'),
  query: fc.constantFrom('{"a":["b","c"]}', '{"__proto__":"x"}', '{"code":"1","code":"2"}'),
  urlParams: fc.constantFrom('{"id":"1"}', '{"constructor":"x"}'),
  contentType: fc.constantFrom('"application/json"', '"text/xml"', '";"', '"text/plain"'),
}
const message = objectOf({
  body: text,
  contentType: mostly(sound.contentType),
  headers: mostly(sound.headers, objectText),
  query: mostly(sound.query, objectText),
  urlParams: mostly(sound.urlParams, objectText),
  state: objectText,
})

export const dryRunTexts = fc.oneof(
  {
    weight: 8,
    arbitrary: objectOf({
      message,
      lookups: answersOf(CANNED_REQUESTS.lookup),
      responses: answersOf(CANNED_REQUESTS.response),
    }).filter((one) => one !== '{}'),
  },
  {
    weight: 1,
    arbitrary: objectOf({
      message,
      messageId: fc.constantFrom('"01a1fc82b6a90000190dae3d"', '"x"', '7'),
      version: fc.constantFrom('1', '"recorded"', 'null', '-1'),
      at: fc.constantFrom('"/answer/body"', '7'),
    }).filter((one) => one !== '{}'),
  },
  { weight: 1, arbitrary: jsonText },
)
