/** The rules of `answer` that depend on who waits for it and on its format. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../src/core/lint.ts'
import { checkDocument } from '../../../src/document/checks/check-document.ts'
import { lintEndpoint } from '../../../src/document/checks/lint-endpoint.ts'

const NO_EFFECT = /no caller waits for an answer/

const CASES: readonly [name: string, changes: JsonObject, path: string | undefined, says?: RegExp][] = [
  ['of a route', { endpoint: { pattern: '/a' } }, undefined],
  ['over MLLP', { mllp: { port: 2575 }, transformation: { input: 'HL7V2', output: 'JSON' } }, undefined],
  ['of a topic alone', { kafkaConsumerTopic: 'in' }, 'answer', NO_EFFECT],
  ['of a topic and a route', { endpoint: { pattern: '/a' }, kafkaConsumerTopic: 'in' }, undefined],
  [
    'with a name that its format cannot have',
    { endpoint: { pattern: '/a' }, answer: { mapping: { 'requestBody.a': 'b c' }, type: 'XML' } },
    'answer.mapping.requestBody\\.a',
    /XML/,
  ],
  [
    'of several answers that the output cannot hold, but its mapping can',
    {
      endpoint: { pattern: '/a' },
      transformation: { input: 'JSON', output: 'CSV' },
      inputMapping: { 'requestBody.a': 'rows[0].a' },
      requests: { response: ['b', 'c'].map((id) => ({ id, config: { url: 'http://x.example/' } })) },
      answer: { mapping: { 'responses.b.status': 'rows[0].b' } },
    },
    undefined,
  ],
]

for (const [name, changes, path, says = /./] of CASES) {
  test(`an answer ${name}`, () => {
    const lints: Lint[] = []
    const transformation = { input: 'JSON', output: 'JSON' }
    const document = { name: 'answers', endpoint: {}, transformation, answer: { status: 202 }, ...changes }
    lintEndpoint(checkDocument(document).endpoint, collectInto(lints))
    assert.deepEqual(
      lints.map((lint) => lint.path),
      path === undefined ? [] : [path],
      JSON.stringify(lints),
    )
    for (const { message } of lints) assert.match(message, says)
  })
}
