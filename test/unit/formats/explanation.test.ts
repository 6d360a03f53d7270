/** What the body of a refusal says: the usual places of the usual formats, and one safe line of anything else. */
import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { MAX_EXPLANATION_CHARACTERS, readExplanation } from '../../../src/formats/explanation.ts'
import fc from '../../support/fast-check.ts'

const soap = (fault: string) =>
  `<?xml version="1.0"?><s:Envelope><s:Body><s:Fault>${fault}</s:Fault></s:Body></s:Envelope>`
const outcome = (...issue: object[]) => ({ resourceType: 'OperationOutcome', issue })

describe('an explanation is', () => {
  const cases: readonly (readonly [name: string, body: string | object, explanation: string | undefined])[] = [
    ['a message', { status: 503, error: 'Service Unavailable', message: 'maintenance' }, 'maintenance'],
    ['an error', { error: 'no such ward' }, 'no such ward'],
    ['the message of an error', { error: { code: 7, message: 'no such ward' } }, 'no such ward'],
    [
      'the description before its code',
      { error: 'invalid_client', error_description: 'Unknown client.' },
      'Unknown client.',
    ],
    ['the first of several errors, joined', { errors: [{ message: 'a' }, 'b', {}, 'd'] }, 'a; b'],
    ['the detail before the title', { title: 'Bad Request', detail: 'ward is missing' }, 'ward is missing'],
    ['the title of a problem', { type: 'about:blank', title: 'Not Found', status: 404 }, 'Not Found'],
    [
      'the issues of an outcome',
      outcome({ severity: 'error', diagnostics: 'Gone' }, { details: { text: 'Moved' } }),
      'Gone; Moved',
    ],
    ['the start of JSON without a known place', { problem: 'Bed 7 is taken' }, '{"problem":"Bed 7 is taken"}'],
    ['what follows an empty place', { message: ' ', detail: 'b' }, 'b'],
    [
      'the fault of SOAP 1.1',
      soap('<faultcode>a</faultcode><faultstring xml:lang="en">No &lt;ward&gt;</faultstring>'),
      'No <ward>',
    ],
    ['the reason of SOAP 1.2', soap('<s:Reason><s:Text xml:lang="en">No ward</s:Text></s:Reason>'), 'No ward'],
    [
      'the diagnostics of an outcome with tags',
      '<OperationOutcome><issue><diagnostics value="Gone"/></issue></OperationOutcome>',
      'Gone',
    ],
    [
      'the title of a page',
      '<!doctype html><html><head><title>\n502 Bad Gateway\n</title></head></html>',
      '502 Bad Gateway',
    ],
    ['the start of other tags', '<a><b>1</b></a>', '<a><b>1</b></a>'],
    ['the first line of text', '\n maintenance \r\n at Erp.java:17', 'maintenance'],
    ['a text of JSON', '"busy"', 'busy'],
    ['broken JSON as it is', '{"message": "cut', '{"message": "cut'],
    ['nothing of nothing', ' \n\t', undefined],
    ['one line without what turns its direction', { message: 'a\u202eb\u0000c\n\u2028d' }, 'a b c d'],
    ['no more of a long one', 'é'.repeat(500), `${'é'.repeat(MAX_EXPLANATION_CHARACTERS)}…`],
    ['no half of a character', `a${'😀'.repeat(500)}`, `a${'😀'.repeat(99)}…`],
  ]
  for (const [name, body, explanation] of cases) {
    it(name, () => assert.equal(readExplanation(typeof body === 'string' ? body : JSON.stringify(body)), explanation))
  }
})

test('a secret is taken out before the text is cut', () => {
  const hide = (text: string) => text.replaceAll('s3cret-token', '***')
  const said = `${'a'.repeat(MAX_EXPLANATION_CHARACTERS - 6)}s3cret-token`
  assert.equal(readExplanation(said, hide), `${'a'.repeat(MAX_EXPLANATION_CHARACTERS - 6)}***`)
})

test('any bytes give one short line without control characters', () => {
  const nested = fc.json({ maxDepth: 12 })
  const tags = fc.array(fc.constantFrom('<', '>', 'faultstring', ' title', '"', '/', 'é'), { maxLength: 200 })
  const texts = fc.oneof(
    fc.uint8Array({ maxLength: 400 }).map((bytes) => new TextDecoder().decode(bytes)),
    fc.string({ unit: 'binary', maxLength: 400 }),
    nested,
    tags.map((parts) => `<${parts.join('')}`),
  )
  fc.assert(
    fc.property(texts, (text) => {
      const line = readExplanation(text) ?? 'none'
      assert.ok(line.length > 0 && line.length <= MAX_EXPLANATION_CHARACTERS + 1 && line.isWellFormed())
      assert.doesNotMatch(line, /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u)
    }),
  )
})

test('a large body of unclosed tags takes no long time', () => {
  const startedMs = performance.now()
  for (const piece of ['<faultstring ', '<s:Reason>', '<diagnostics a', '<title', '<s:Reason> <s:Text>', '[']) {
    readExplanation(`<${piece.repeat(400_000 / piece.length)}`)
  }
  assert.ok(performance.now() - startedMs < 2_000)
})
