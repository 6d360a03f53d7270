/** Tables from ConceptMaps: those of the FHIR R4 specification are written as they were read, and edits of rows arrive in them. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Table } from '../../../src/core/tables/table.ts'
import { loadTable } from '../../../src/tables/compact-table.ts'
import { changeRows } from '../../../src/tables/table-builder.ts'
import { TABLE_FORMATS } from '../../../src/tables/table-formats.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'
import { anyTable, faultsOf, listRows, makeTable, tableOf, toText } from '../../support/tables/tables.ts'

const { conceptMap } = TABLE_FORMATS
const read = (resource: JsonObject) => conceptMap.read(Buffer.from(JSON.stringify(resource)))
const write = async (table: Table): Promise<JsonObject> => JSON.parse(await toText(conceptMap, table))

/** All of the package hl7.fhir.r4.examples 4.0.1, without their narratives, which `text` would hold. */
const EXAMPLES = fileURLToPath(new URL('../../data/fhir-r4-concept-maps.ndjson', import.meta.url))
const examples: readonly JsonObject[] = readFileSync(EXAMPLES, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line))

test('the examples of FHIR R4 are written as they were read', async () => {
  assert.equal(examples.length, 80)
  for (const example of examples) {
    const table = tableOf(await read(example))
    assert.deepEqual(await write(table), example, String(example.id))
    assert.deepEqual(await write(await loadTable(table.packed)), example, String(example.id))
  }
})

const HEADER = ['code', 'display', 'target', 'targetDisplay', 'equivalence', 'comment']
const toMap = (...group: JsonObject[]): JsonObject => ({
  resourceType: 'ConceptMap',
  id: 'sex',
  status: 'draft',
  group,
})
const to = (code: string, ...targets: string[]): JsonObject => ({
  code,
  target: targets.map((target) => ({ code: target, equivalence: 'equivalent' })),
})
const SEX = { source: 'urn:local', target: 'http://hl7.org/fhir/administrative-gender' }

describe('rows of ConceptMaps', () => {
  const cases: readonly (readonly [
    name: string,
    groups: readonly JsonObject[],
    rows: readonly (readonly string[])[],
    ...warnings: [path: string, says: RegExp][],
  ])[] = [
    ['no groups', [], [HEADER], ['', /has no rows/]],
    [
      'one target for each code',
      [{ element: [to('F', 'female'), to('M', 'male')] }],
      [HEADER, ['F', '', 'female', '', 'equivalent', ''], ['M', '', 'male', '', 'equivalent', '']],
    ],
    [
      'all fields',
      [
        {
          element: [
            {
              code: 'F',
              display: 'Frau',
              target: [{ code: 'female', display: 'Female', equivalence: 'wider', comment: 'x' }],
            },
          ],
        },
      ],
      [HEADER, ['F', 'Frau', 'female', 'Female', 'wider', 'x']],
    ],
    [
      'a code without a target',
      [{ element: [{ code: 'X' }, { code: 'Y', target: [{ equivalence: 'unmatched' }] }] }],
      [HEADER, ['X', '', '', '', '', ''], ['Y', '', '', '', 'unmatched', '']],
    ],
    [
      'several targets',
      [{ element: [to('O', 'other', 'unknown')] }],
      [HEADER, ['O', '', 'other', '', 'equivalent', '']],
      ['group[0].element[0]', /"O" has 2 targets; lookups find the first, "other"/],
    ],
    [
      'a repeated code',
      [{ element: [to('O', 'other'), to('F', 'female'), to('O', 'unknown')] }],
      [HEADER, ['O', '', 'other', '', 'equivalent', ''], ['F', '', 'female', '', 'equivalent', '']],
      ['group[0].element[2]', /"O" is repeated/],
    ],
    [
      'an element without a code',
      [{ element: [{ target: [{ code: 'a', equivalence: 'wider' }] }, to('F', 'female')] }],
      [HEADER, ['F', '', 'female', '', 'equivalent', '']],
      ['group[0].element[0]', /no code/],
    ],
    [
      'several groups',
      [
        { ...SEX, element: [to('F', 'female')] },
        { source: 'urn:other', target: 'urn:x', element: [to('M', 'male')] },
      ],
      [
        [...HEADER, 'sourceSystem', 'targetSystem'],
        ['F', '', 'female', '', 'equivalent', '', SEX.source, SEX.target],
        ['M', '', 'male', '', 'equivalent', '', 'urn:other', 'urn:x'],
      ],
    ],
    [
      'a code of one source with two target systems',
      [
        { ...SEX, element: [to('F', 'female')] },
        { ...SEX, target: 'urn:x', element: [to('F', 'w')] },
      ],
      [
        [...HEADER, 'sourceSystem', 'targetSystem'],
        ['F', '', 'female', '', 'equivalent', '', SEX.source, SEX.target],
      ],
      ['group[1].element[0]', /repeated/],
    ],
  ]
  for (const [name, groups, rows, ...expected] of cases) {
    test(name, async () => {
      const map = toMap(...groups)
      const reading = await read(map)
      assert.deepEqual(listRows(tableOf(reading)), rows)
      const warnings = reading.ok ? reading.warnings : []
      assert.deepEqual(
        warnings.map(({ path }) => path),
        expected.map(([path]) => path),
      )
      for (const [index, [, says]] of expected.entries()) assert.match(warnings[index]?.message ?? '', says)
      const { group, ...rest } = map
      assert.deepEqual(await write(tableOf(reading)), groups.length === 0 ? rest : { ...rest, group })
    })
  }
})

test('groups that stand twice are refused, and none are warned of', async () => {
  const twice = await conceptMap.read(Buffer.from('{"resourceType":"ConceptMap","group":[{}],"group":[]}'))
  assert.deepEqual(faultsOf(twice), [{ path: 'group', message: 'The field stands twice; remove one.' }])
  const none = await read({ resourceType: 'ConceptMap' })
  assert.deepEqual(none.ok && none.warnings.map(({ path }) => path), [''])
})

describe('faults of ConceptMaps', () => {
  const toElement = (target: Json) => toMap({ element: [{ code: 'F', target }] })
  const other = { source: 'urn:other', target: SEX.target }
  const cases: readonly (readonly [name: string, resource: JsonObject, path: string, says: RegExp])[] = [
    ['another resource', { resourceType: 'Bundle', entry: [] }, '', /not a ConceptMap of FHIR R4/],
    [
      'a group in place of a list',
      { resourceType: 'ConceptMap', group: { element: [] } },
      'group',
      /is an object.*list/,
    ],
    ['an element in place of a list', toMap({ element: 'F' }), 'group[0].element', /is a string.*list/],
    ['an element that is a text', toMap({ element: ['F'] }), 'group[0].element[0]', /is a string.*object/],
    ['a code that is a number', toMap({ element: [{ code: 1 }] }), 'group[0].element[0].code', /is a number.*text/],
    ['a target in place of a list', toElement({ code: 'f' }), 'group[0].element[0].target', /is an object.*list/],
    ['a target that is a text', toElement(['f']), 'group[0].element[0].target[0]', /is a string.*object/],
    ['a target that is a number', toElement([{ code: 1 }]), 'group[0].element[0].target[0].code', /is a number.*text/],
    ['a source that is a list', toMap({ source: ['urn:x'] }), 'group[0].source', /is an array.*text/],
    ['a group that is a text', { resourceType: 'ConceptMap', group: ['x'] }, 'group[0]', /not an object/],
    [
      'a code of two sources',
      toMap({ ...SEX, element: [to('F', 'f')] }, { ...other, element: [to('M', 'm'), to('F', 'w')] }),
      'group[1].element[1]',
      /"F" is also in group\[0\], of another source/,
    ],
    [
      'two groups of one pair',
      toMap({ ...SEX, element: [to('F', 'f')] }, { ...SEX, element: [to('M', 'm')] }),
      'group[1]',
      /those of group\[0\]; join/,
    ],
    ['a code with a NUL', toMap({ element: [to('F', 'f'), to('\0', 'm')] }), 'group[0].element[1]', /NUL/],
  ]
  for (const [name, resource, path, says] of cases) {
    test(name, async () => {
      const faults = faultsOf(await read(resource))
      assert.deepEqual(
        faults.map((fault) => fault.path),
        [path],
      )
      assert.match(faults[0]?.message ?? '', says)
    })
  }
})

describe('what changes in rows arrives in the ConceptMap', () => {
  const comment = 'ask again'
  const product = [{ property: 'urn:side', value: 'left' }]
  const known = {
    code: 'O',
    target: [
      { code: 'other', equivalence: 'wider', product },
      { code: 'x', equivalence: 'equal' },
    ],
  }
  const group = {
    ...SEX,
    element: [to('F', 'female'), known, to('O', 'y'), to('M', 'male')],
    unmapped: { mode: 'provided' },
  }
  const row = (code: string, target: string, equivalence: string, text = ''): string[] => [
    code,
    '',
    target,
    '',
    equivalence,
    text,
  ]
  const cases: readonly (readonly [
    name: string,
    changes: Record<string, string[] | undefined>,
    elements: readonly JsonObject[],
  ])[] = [
    ['nothing', {}, group.element],
    ['a target', { F: row('F', 'f', 'equivalent') }, [to('F', 'f'), known, to('O', 'y'), to('M', 'male')]],
    [
      'a comment beside what rows do not say',
      { O: row('O', 'other', 'wider', comment) },
      [
        to('F', 'female'),
        { ...known, target: [{ ...known.target[0], comment }, known.target[1] ?? {}] },
        to('O', 'y'),
        to('M', 'male'),
      ],
    ],
    ['a removed row', { F: undefined }, [known, to('O', 'y'), to('M', 'male')]],
    ['a removed row whose code is repeated', { O: undefined }, [to('F', 'female'), to('M', 'male')]],
    ['a new row without an equivalence', { X: row('X', 'x', '') }, [...group.element, to('X', 'x')]],
    [
      'a new row without a target',
      { X: row('X', '', '') },
      [...group.element, { code: 'X', target: [{ equivalence: 'unmatched' }] }],
    ],
  ]
  for (const [name, changes, element] of cases) {
    test(name, async () => {
      const table = tableOf(await read(toMap(group)))
      const changed = tableOf(await changeRows(table, new Map(Object.entries(changes))))
      assert.deepEqual(await write(changed), toMap({ ...group, element }))
    })
  }

  test('a row goes to the group of its systems', async () => {
    const groups = [
      { ...SEX, element: [to('F', 'female')] },
      { source: 'urn:b', target: 'urn:x', element: [to('M', 'm')] },
    ]
    const systems: readonly string[] = ['urn:b', 'urn:x']
    const changes = new Map([
      ['F', [...row('F', 'female', 'equivalent'), ...systems]],
      ['X', [...row('X', 'x', ''), 'urn:c', '']],
    ])
    const changed = tableOf(await changeRows(tableOf(await read(toMap(...groups))), changes))
    const expected = toMap(
      SEX,
      { ...groups[1], element: [to('M', 'm'), to('F', 'female')] },
      { source: 'urn:c', element: [to('X', 'x')] },
    )
    assert.deepEqual(await write(changed), expected)
  })
})

describe('tables that come from no ConceptMap', () => {
  const cases: readonly (readonly [
    name: string,
    rows: readonly (readonly string[])[],
    group: readonly JsonObject[],
  ])[] = [
    [
      'the second column is the target',
      [
        ['local', 'loinc'],
        ['A', '718-7'],
        ['B', ''],
      ],
      [{ element: [to('A', '718-7'), { code: 'B', target: [{ equivalence: 'unmatched' }] }] }],
    ],
    [
      'columns by their names',
      [
        ['local', 'comment', 'target', 'targetSystem'],
        ['A', 'c', '718-7', 'http://loinc.org'],
      ],
      [
        {
          target: 'http://loinc.org',
          element: [{ code: 'A', target: [{ code: '718-7', equivalence: 'equivalent', comment: 'c' }] }],
        },
      ],
    ],
    [
      'other columns are products',
      [
        ['local', 'loinc', 'my unit'],
        ['A', '718-7', 'g/dL'],
        ['B', '1-8', ''],
      ],
      [
        {
          element: [
            {
              code: 'A',
              target: [
                { code: '718-7', equivalence: 'equivalent', product: [{ property: 'my%20unit', value: 'g/dL' }] },
              ],
            },
            to('B', '1-8'),
          ],
        },
      ],
    ],
    ['no rows', [['local', 'loinc']], []],
  ]
  for (const [name, rows, group] of cases) {
    test(name, async () => {
      const written = await write(await makeTable(rows))
      const resource = { resourceType: 'ConceptMap', title: 'codes', status: 'active' }
      assert.deepEqual(written, group.length === 0 ? resource : { ...resource, group })
    })
  }

  test('their keys and targets read as the same', async () => {
    await fc.assert(
      fc.asyncProperty(anyTable, async ([, ...rows]) => {
        const pairs = rows.map(([key = '', target = '']) => [key, target])
        const table = await makeTable([['code', 'target'], ...pairs])
        const again = tableOf(await read(await write(table)))
        assert.deepEqual(
          listRows(again)
            .slice(1)
            .map(([code, , target]) => [code, target]),
          pairs,
        )
      }),
      { numRuns: LONG ? 2_000 : 200 },
    )
  })
})
