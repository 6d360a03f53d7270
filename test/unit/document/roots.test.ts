import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../src/core/lint.ts'
import { checkDocument } from '../../../src/document/checks/check-document.ts'
import { checkPath, checkReference } from '../../../src/document/checks/path-roots.ts'
import type { ReferenceStage } from '../../../src/document/schema/schema-fields.ts'
import { parsePath } from '../../../src/language/paths/path.ts'
import fc from '../../support/fast-check.ts'

const DOCUMENT = {
  name: 'a',
  endpoint: { pattern: '/a/:id/:kind' },
  transformation: { input: 'JSON', output: 'JSON' },
  constants: { system: 'x', codes: { m: 'male', list: [1] } },
  inputTransforms: { first: '1', second: '2' },
  requests: {
    lookup: [
      { id: 'patient', config: { url: 'http://x.example/' } },
      { id: 'each', config: { url: 'http://x.example/' }, forEach: { items: 'requestBody.list' } },
    ],
  },
  state: { extract: { requestBody: { last: 'id' }, lookupRequests: { patient: { version: 'v' } } } },
} as const

/** Of a message at each stage. */
const everywhere = ['constants', 'requestHeaders', 'query', 'urlParams', 'state', 'timestamps', 'requestBody']
const exist: Readonly<Record<ReferenceStage, readonly string[]>> = {
  lookup: [...everywhere, 'payload', 'lookupRequests'],
  'lookup-item': [...everywhere, 'payload', 'lookupRequests', 'item'],
  'lookup-page': [...everywhere, 'payload', 'lookupRequests', 'page'],
  transform: [...everywhere, 'lookupRequests', 'transforms'],
  map: [...everywhere, 'lookupRequests', 'transforms'],
  respond: [...everywhere, 'payload', 'lookupRequests', 'transforms', 'responseBody'],
  'respond-item': [...everywhere, 'payload', 'lookupRequests', 'transforms', 'responseBody', 'item'],
  answer: [...everywhere, 'payload', 'lookupRequests', 'transforms', 'responseBody', 'responses'],
  record: [...everywhere, 'lookupRequests', 'transforms', 'responseBody'],
}

const STAGES = Object.keys(exist) as ReferenceStage[]

function lintsOf(names: readonly string[], stage: ReferenceStage, raw: Json = DOCUMENT, transform?: string): Lint[] {
  const lints: Lint[] = []
  checkReference(names, stage, checkDocument(raw).endpoint, collectInto(lints), transform)
  return lints
}

function lintsOfPath(text: string, stage: ReferenceStage): Lint[] {
  const lints: Lint[] = []
  const path = parsePath(text)
  assert.ok(path.ok, text)
  checkPath(path.value, stage, checkDocument(DOCUMENT).endpoint, collectInto(lints))
  return lints
}

describe('roots', () => {
  const roots = [...exist['respond-item'], 'responses', 'page', 'constant', 'toString', '__proto__', '']
  for (const stage of STAGES) {
    test(`of stage ${stage} are those that exist by then`, () => {
      const sound = roots.filter((root) => lintsOf([root], stage).length === 0)
      assert.deepEqual(sound.sort(), [...exist[stage]].sort())
    })
  }

  const cases: readonly (readonly [path: string, stage: ReferenceStage, message: RegExp])[] = [
    ['constant.x', 'map', /^"constant" is not part of a message; did you mean "constants"\?$/],
    ['foo', 'map', /^"foo" is not part of a message; a path starts with one of: constants, .*\.$/],
    ['body.x', 'map', /; did you mean "requestBody"\?$/],
    ['headers.x', 'lookup', /; did you mean "requestHeaders"\?$/],
    ['params.x', 'map', /; did you mean "urlParams"\?$/],
    ['payload.x', 'map', /write "requestBody" here\.$/],
    [
      'item.x',
      'respond',
      /^"item" exists in the parameters of a request with "forEach" and in the entries of an "each" only\.$/,
    ],
    ['item.x', 'transform', /"forEach" and in the entries of an "each" only\.$/],
    ['paylod', 'lookup', /did you mean "payload"\?$/],
    ['itme', 'lookup-item', /did you mean "item"\?$/],
    [
      'transforms.first',
      'lookup',
      /^"transforms" does not exist yet when lookups are made; what does: .*requestBody, lookupRequests\.$/,
    ],
    ['responseBody', 'map', /does not exist yet when the message is mapped/],
  ]
  for (const [path, stage, message] of cases) {
    test(`"${path}" at ${stage} is refused with advice`, () => {
      const lints = lintsOf(path.split('.'), stage)
      assert.equal(lints.length, 1)
      assert.equal(lints[0]?.severity, 'error')
      assert.match(lints[0]?.message ?? '', message)
    })
  }
})

test('a name that an expression breaks at its hyphen is shown in backquotes', () => {
  const cases: readonly (readonly [root: string, text: string, hint: string | undefined])[] = [
    ['name', 'requestBody.first-name', 'first-name'],
    ['id', 'requestHeaders.x-request-id & "a"', 'x-request-id'],
    ['name', 'requestBody.first - name', undefined],
    ['nam', 'requestBody.first-name', undefined],
    ['a.b', 'requestBody.x-a', undefined],
  ]
  for (const [root, text, hint] of cases) {
    const lints: Lint[] = []
    checkReference([root], 'transform', checkDocument(DOCUMENT).endpoint, collectInto(lints), undefined, 0, text)
    const [lint] = lints
    const advice = `; a name with "-" is written in backquotes: \`${hint}\`.`
    assert.equal(lint?.message.endsWith(advice), hint !== undefined, lint?.message)
  }
})

describe('what is read of a lookup', () => {
  const finds = (
    'lookupRequests lookupRequests.patient lookupRequests.patient.data lookupRequests.patient[] ' +
    'lookupRequests.patient[0].data.x lookupRequests.patient[].headers.etag lookupRequests.patient[0][1].data ' +
    'lookupRequests.patient.* lookupRequests.patient.*.x lookupRequests.patient[].*.x lookupRequests.*.x'
  ).split(' ')
  for (const path of finds) test(`${path} may be there`, () => assert.deepEqual(lintsOfPath(path, 'map'), []))

  const misses: readonly { path: string; meant: string }[] = [
    { path: 'lookupRequests.patient.x', meant: 'lookupRequests.patient.data.x' },
    { path: 'lookupRequests.patient.x[].y.*', meant: 'lookupRequests.patient.data.x[].y.*' },
    { path: 'lookupRequests.patient[].x', meant: 'lookupRequests.patient[].data.x' },
    { path: 'lookupRequests.patient[2].x', meant: 'lookupRequests.patient[2].data.x' },
    { path: 'lookupRequests.patient.body.x', meant: 'lookupRequests.patient.data.x' },
    { path: 'lookupRequests.patient[].body', meant: 'lookupRequests.patient[].data' },
    { path: 'lookupRequests.patient.Data', meant: 'lookupRequests.patient.data.Data' },
    { path: 'lookupRequests.patient.a\\.b', meant: 'lookupRequests.patient.data.a\\.b' },
    { path: 'lookupRequests.patient.a\\[b', meant: 'lookupRequests.patient.data.a\\[b' },
  ]
  const severities: Readonly<Partial<Record<ReferenceStage, Lint['severity']>>> = {
    map: 'error',
    respond: 'error',
    'respond-item': 'error',
    transform: 'warning',
    record: 'warning',
  }
  for (const { path, meant } of misses) {
    test(`${path} never is`, () => {
      assert.ok(parsePath(meant).ok)
      for (const [stage, severity] of Object.entries(severities)) {
        const [lint, ...others] = lintsOfPath(path, stage as ReferenceStage)
        assert.deepEqual(others, [])
        assert.equal(lint?.severity, severity, stage)
        assert.ok(lint?.message.endsWith(`; did you mean "${meant}"?`), lint?.message)
      }
    })
  }

  test('a path that a message suggests is sound', () => {
    const name = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('a.b', 'data', '0', '*', 'x?', '[', '\\', '+'))
    const written = (one: string) => one.replace(/[.[\]*?+\\]/g, '\\$&')
    const step = fc.oneof(
      name.map((one) => `.${written(one)}`),
      fc.constantFrom('[]', '[0]', '.*', '.7'),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 5 }), (steps) => {
        const lints = lintsOfPath(`lookupRequests.patient${steps.join('')}`, 'map')
        const [, meant] = /did you mean "(.*)"\?$/s.exec(lints[0]?.message ?? '') ?? []
        if (meant !== undefined) assert.deepEqual(lintsOfPath(meant, 'map'), [])
      }),
    )
  })
})

describe('names below a root', () => {
  const cases: readonly (readonly [path: string, severity?: 'error' | 'warning', says?: string])[] = [
    ['constants.system'],
    ['constants'],
    ['constants.codes.m'],
    ['constants.codes.list.deep'],
    ['constants.sytem', 'error', 'The constant "sytem" is not defined; did you mean "system"?'],
    ['constants.toString', 'error', 'The constant "toString" is not defined.'],
    ['constants.codes.f', 'warning', 'The constant "codes" holds no "f".'],
    ['urlParams.id'],
    ['urlParams.knid', 'error', '"endpoint.pattern" has no parameter "knid"; did you mean "kind"?'],
    ['lookupRequests.patient.data.x'],
    ['lookupRequests.patient.headers'],
    ['lookupRequests.pateint.data', 'error', 'There is no lookup with the id "pateint"; did you mean "patient"?'],
    ['lookupRequests.patient.name', 'error', 'so this finds nothing; did you mean "lookupRequests.patient.data.name"?'],
    [
      'lookupRequests.patient.0.data',
      'error',
      'so this finds nothing; did you mean "lookupRequests.patient.data.0.data"?',
    ],
    ['lookupRequests.each.data'],
    ['lookupRequests.each.0'],
    ['lookupRequests.each.0.data.x'],
    ['lookupRequests.each.0.name', 'error', 'so this finds nothing; did you mean "lookupRequests.each.0.data.name"?'],
    ['constants.codes.list.0'],
    ['state.requestBody.last.0.deep'],
    ['transforms.first'],
    ['transforms.frist', 'error', 'The transform "frist" is not defined; did you mean "first"?'],
    ['requestHeaders.x-a'],
    ['requestHeaders.X-A', 'warning', 'write "x-a".'],
    ['requestBody.anything'],
    ['query.anything'],
    ['state.requestBody.last.deep'],
    ['state.lookupRequests.patient.version'],
    ['state.system.timestamps.endpointStart'],
    ['state.lookupHttpStatus'],
    ['state.lookupNetworkError'],
    ['state.lookupHttpStatus.x', 'warning', '"state.lookupHttpStatus" holds no "x".'],
    ['state.lookupHttpstatus', 'warning', 'A state holds no "lookupHttpstatus"; did you mean "lookupHttpStatus"?'],
    ['state.requestBody.first', 'warning', '"state.extract.requestBody" keeps no "first".'],
    ['state.query.page', 'warning', '"state.extract" keeps no "query".'],
    ['state.requestbody', 'warning', 'A state holds no "requestbody"; did you mean "requestBody"?'],
  ]
  for (const [path, severity, says = ''] of cases) {
    test(`${path} ${severity === undefined ? 'is sound' : `reports: ${says}`}`, () => {
      const lints = lintsOf(path.split('.'), 'map')
      assert.deepEqual(
        lints.map((lint) => lint.severity),
        severity === undefined ? [] : [severity],
      )
      for (const { message } of lints) assert.ok(message.includes(says), message)
    })
  }

  test('"length" is a warning with what to write instead, unless the document shows an object with such a field', () => {
    const cases: readonly (readonly [path: string, stage: ReferenceStage, says: RegExp])[] = [
      ['payload.list.length', 'respond', /write "\$count\(requestBody\.list\)" in "inputTransforms"/],
      ['requestBody.list[].x.length', 'map', /write "\$count\(requestBody\.list\[\]\.x\)" in "inputTransforms"/],
      ['requestBody.list.length', 'transform', /, write "\$count\(requestBody\.list\)"\.$/],
      ['payload.list.length', 'lookup', /for that number, write "\$count\(requestBody\.list\)" in an "expression"\.$/],
    ]
    for (const [path, stage, says] of cases) {
      const [lint, ...others] = lintsOfPath(path, stage)
      assert.deepEqual([lint?.severity, others], ['warning', []], path)
      assert.match(lint?.message ?? '', says)
    }
    const inputValidation = { properties: { length: { type: 'number' } } }
    assert.deepEqual(lintsOf(['requestBody', 'x', 'length'], 'map', { ...DOCUMENT, inputValidation }), [])
    assert.deepEqual(lintsOfPath('requestBody.length.cm', 'map'), [])
    const reading = (other: string) =>
      lintsOf(['requestBody', 'x', 'length'], 'map', { ...DOCUMENT, inputMapping: { [other]: 'y' } }).length
    for (const other of [
      'requestBody.x.status',
      'payload.x.status',
      'requestBody.x.length.value',
      'requestBody.x.lengths',
    ])
      assert.equal(reading(other), 0, other)
    for (const other of ['requestBody.x[].status', 'requestBody.x.length', 'requestBody.xy.z', 'requestBody.a.x.z'])
      assert.equal(reading(other), 1, other)
    const required = { inputValidation: { required: ['length'] } }
    assert.deepEqual(lintsOf(['requestBody', 'x', 'length'], 'map', { ...DOCUMENT, ...required }), [])
  })

  test('a transform sees those before it only', () => {
    assert.deepEqual(lintsOf(['transforms', 'first'], 'transform', DOCUMENT, 'second'), [])
    assert.match(
      lintsOf(['transforms', 'second'], 'transform', DOCUMENT, 'first')[0]?.message ?? '',
      /write "second" before "first"/,
    )
    assert.match(
      lintsOf(['transforms', 'first'], 'transform', DOCUMENT, 'first')[0]?.message ?? '',
      /those before it only/,
    )
  })

  test('the body of a GET is worth a warning, unless records of a topic bring one', () => {
    const get = { ...DOCUMENT, endpoint: { pattern: '/a', method: 'GET' } }
    assert.deepEqual(
      lintsOf(['requestBody', 'x'], 'map', get).map(({ severity }) => severity),
      ['warning'],
    )
    assert.equal(lintsOf(['payload', 'x'], 'lookup', get).length, 1)
    assert.deepEqual(lintsOf(['requestBody', 'x'], 'map', { ...get, kafkaConsumerTopic: 't' }), [])
  })

  const faulty: readonly { change: { readonly [name: string]: Json }; names: string[] }[] = [
    { change: { constants: 5 }, names: ['constants', 'x'] },
    { change: { endpoint: { pattern: 5 } }, names: ['urlParams', 'x'] },
    { change: { endpoint: { pattern: 'a/:x' } }, names: ['urlParams', 'x'] },
    { change: { inputTransforms: [] }, names: ['transforms', 'x'] },
    { change: { inputTransforms: { x: 5 } }, names: ['transforms', 'x'] },
    { change: { requests: 5 }, names: ['lookupRequests', 'x'] },
    { change: { requests: { lookup: [5] } }, names: ['lookupRequests', 'x'] },
    { change: { requests: { lookup: { config: 5 } } }, names: ['lookupRequests', 'x'] },
    { change: { requests: { lookup: { id: 'x' } } }, names: ['lookupRequests', 'x'] },
    { change: { contsants: { x: 1 } }, names: ['constants', 'x'] },
  ]
  for (const { change, names } of faulty) {
    test(`a reference into ${JSON.stringify(change)} is not a second fault`, () => {
      const { constants: _, ...rest } = DOCUMENT
      assert.deepEqual(lintsOf(names, 'map', { ...rest, ...change }), [])
    })
  }

  test('any names are taken without an exception', () => {
    const name = fc.oneof(
      fc.string(),
      fc.constantFrom('constants', 'state', 'transforms', 'lookupRequests', '__proto__', 'codes', 'patient'),
    )
    fc.assert(
      fc.property(fc.array(name, { maxLength: 6 }), fc.constantFrom(...STAGES), (names, stage) => {
        for (const { message } of lintsOf(names, stage)) assert.match(message, /[.?]$/)
      }),
    )
  })
})
