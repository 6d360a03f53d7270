/** The rules of the architecture test on files and tables that are made up. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { importing } from './breaks.ts'
import { type Arrows, adapterFaults, circlesOf, evasions, type Source } from './rules.ts'

const ARROWS: Arrows = {
  table: { domain: [], 'adapters/log': ['domain'], 'adapters/kafka': ['adapters/kafka/consumer', 'domain/ports'] },
  exceptions: ['one', 'two', 'three'].map((name) => ({
    folder: `adapters/${name}`,
    may: ['intake'],
    reason: 'It calls.',
  })),
}

describe('adapters', () => {
  test('import the domain and themselves, with few exceptions', () => assert.deepEqual(adapterFaults(ARROWS), []))

  const cases: readonly Readonly<{ name: string; arrows: Arrows; faults: readonly string[] }>[] = [
    {
      name: 'a row of an adapter that goes beyond',
      arrows: { ...ARROWS, table: { ...ARROWS.table, 'adapters/log': ['domain', 'pipeline'] } },
      faults: ['adapters/log'],
    },
    {
      name: 'a row of an adapter that names another one',
      arrows: { ...ARROWS, table: { ...ARROWS.table, 'adapters/kafka/consumer': ['adapters/http-client'] } },
      faults: ['adapters/kafka/consumer'],
    },
    {
      name: 'a fourth exception, without a reason',
      arrows: { ...ARROWS, exceptions: [...ARROWS.exceptions, { folder: 'adapters/log', may: [], reason: '' }] },
      faults: ['adapters/log without a reason', 'more than 3 exceptions'],
    },
  ]
  for (const { name, arrows, faults } of cases) {
    test(`the rule reports ${name}`, () => assert.deepEqual(adapterFaults(arrows), faults))
  }
})

describe('circles', () => {
  const cases: readonly { name: string; files: readonly Source[]; circles: readonly string[][] }[] = [
    {
      name: 'no circle',
      files: [importing('a.ts', './b.ts'), importing('b.ts', './c.ts'), importing('c.ts')],
      circles: [],
    },
    {
      name: 'a circle of two',
      files: [importing('a.ts', './b.ts'), importing('b.ts', './a.ts')],
      circles: [['a.ts', 'b.ts']],
    },
    {
      name: 'a circle of types alone, over folders',
      files: [importing('x/a.ts', '../b.ts'), importing('b.ts', './x/c.ts'), importing('x/c.ts', './a.ts')],
      circles: [['b.ts', 'x/a.ts', 'x/c.ts']],
    },
  ]
  for (const { name, files, circles } of cases) {
    test(`finds ${name}`, () => assert.deepEqual(circlesOf(files), circles))
  }
})

describe('types', () => {
  const cases: readonly { code: string; evades: boolean }[] = [
    { code: 'const a: any = 1', evades: true },
    { code: 'const a = b as any', evades: true },
    { code: 'type A = Record<string, any>', evades: true },
    { code: 'const a: readonly string[] | any[] = b', evades: true },
    { code: '// @ts-ignore', evades: true },
    { code: '// as any of them', evades: false },
    { code: "const a = 'x: any'", evades: false },
    { code: 'type A = { any: boolean }', evades: false },
    { code: 'const { any } = set; const b = { any, c }; return set.any', evades: false },
  ]
  for (const { code, evades } of cases) {
    test(`${evades ? 'refuses' : 'allows'} ${code}`, () => {
      assert.equal(evasions([{ path: 'a.ts', text: code }]).length, evades ? 1 : 0)
    })
  }
})
