/** Random JSON, XML, paths and bytes that are mostly nearly right, with the names that go wrong in JavaScript. */

import { FUNCTIONS } from '../../../src/language/mapping/mapping-functions.ts'
import fc from '../fast-check.ts'
import { xmlDocuments } from '../formats/xml-documents.ts'

const PLAIN = ['a', 'b', 'c', 'id', 'name', 'é', '漢', 'a-b', '0', '1', '$', '_']
const TREACHEROUS = [
  '__proto__',
  'constructor',
  'prototype',
  'polluted',
  'toString',
  'hasOwnProperty',
  'length',
  'then',
]
export const names = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...PLAIN) },
  { weight: 4, arbitrary: fc.constantFrom(...TREACHEROUS) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }) },
)

const scalarText = fc.oneof(
  fc.constantFrom('null', 'true', 'false', '0', '-0', '1.5', '1e308', '-1e-400', '9007199254740993', '""', '"12"'),
  fc.constantFrom('"2024-02-30T25:00:00Z"', '"true"', '"\\ud800"', '"\\u0000"', '"__proto__"', '"a/../b?c#d&e=f"'),
  fc.string({ unit: 'binary', maxLength: 8 }).map((text) => JSON.stringify(text)),
  fc.double().map((number) => (Number.isFinite(number) ? String(number) : '0')),
)

const memberText = (members: readonly (readonly [name: string, value: string])[]): string =>
  `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`

/** JSON texts; as text, so that names may be repeated and `__proto__` is a name like any other. */
export const jsonText = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalarText,
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc.array(fc.tuple(names, tie('value')), { maxLength: 5 }).map(memberText),
  ),
})).value
export const objectText = fc.array(fc.tuple(names, jsonText), { maxLength: 5 }).map(memberText)

export const xmlText = xmlDocuments(['a', 'b', 'name', 'x:c', 'é', '_', '__proto__', 'constructor', 'polluted', 'then'])

const escaped = names.map((name) => name.replace(/[.[\]*?+\\]/g, '\\$&') || 'x')
const brackets = fc.constantFrom('', '', '', '[]', '[0]', '[1]', '[][]', '[10000]')
const steps = fc.array(
  fc.tuple(fc.oneof({ weight: 9, arbitrary: escaped }, { weight: 1, arbitrary: fc.constant('*') }), brackets),
  { maxLength: 4 },
)
const joined = (parts: readonly (readonly [string, string])[]) => parts.map((part) => part.join('')).join('.')
const anything = fc.string({ unit: 'binary', maxLength: 12 })

const roots = fc.constantFrom(
  'requestBody',
  'requestBody',
  'requestBody',
  'query',
  'urlParams',
  'requestHeaders',
  'timestamps',
)
const rootedPath = fc.tuple(roots, brackets, steps).map(([root, bracket, rest]) => joined([[root, bracket], ...rest]))
export const sourcePaths = fc.oneof({ weight: 30, arbitrary: rootedPath }, { weight: 1, arbitrary: anything })

const safeNames = fc.constantFrom(...PLAIN, 'polluted', 'toString', 'then', 'length')
const targetSteps = fc.array(fc.tuple(safeNames, brackets), { minLength: 1, maxLength: 4 }).map(joined)
const targetText = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.tuple(targetSteps, fc.constantFrom('', '', '?', '[]', '[]+?')).map((two) => two.join('')),
  },
  { weight: 1, arbitrary: fc.tuple(escaped, targetSteps).map((two) => two.join('.')) },
  { weight: 1, arbitrary: anything },
)
const transform = fc
  .tuple(fc.constantFrom(...Object.keys(FUNCTIONS)), objectText)
  .map(([name, parameters]) => `{"function":"${name}"${name === 'mapCodes' ? `,"parameters":${parameters}` : ''}}`)
const targetObject = fc
  .tuple(targetText, fc.option(jsonText), fc.option(transform))
  .map(([key, fallback, applied]) =>
    memberText([
      ['key', JSON.stringify(key)],
      ...(fallback === null ? [] : [['default', fallback] as const]),
      ...(applied === null ? [] : [['transform', applied] as const]),
    ]),
  )
const target = fc.oneof(
  targetText.map((text) => JSON.stringify(text)),
  targetObject,
)
const targets = fc.oneof(
  { weight: 4, arbitrary: target },
  { weight: 1, arbitrary: fc.array(target, { minLength: 1, maxLength: 3 }).map((list) => `[${list.join(',')}]`) },
)

/** Texts of `inputMapping`, most of them sound. */
export const mappingText = fc
  .uniqueArray(fc.tuple(sourcePaths, targets), { minLength: 1, maxLength: 4, selector: ([path]) => path })
  .map(memberText)

/** Bytes that are anything, or one of the texts with some of its bytes changed, dropped or doubled. */
export const bytesNear = (texts: fc.Arbitrary<string>): fc.Arbitrary<Uint8Array> =>
  fc.oneof(
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(
          texts,
          fc.constantFrom<BufferEncoding>('utf8', 'utf8', 'utf8', 'utf8', 'utf16le', 'latin1'),
          fc.array(fc.tuple(fc.nat(), fc.nat(255), fc.nat(2)), { maxLength: 2 }),
        )
        .map(([text, encoding, changes]) => changeBytes(Buffer.from(text, encoding), changes)),
    },
  )

function changeBytes(bytes: Uint8Array, changes: readonly (readonly [at: number, byte: number, drop: number])[]) {
  const changed = [...bytes]
  for (const [at, byte, drop] of changes) changed.splice(at % (changed.length + 1), drop, byte)
  return Uint8Array.from(changed)
}
