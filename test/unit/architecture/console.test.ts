/** Keeps the imports of the console pointing one way, by the rules of src/ (test/unit/architecture/rules.ts). */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as rules from './rules.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const sources = rules.readSources(`${root}/console/src`)

/** As the table of src/: which folders of console/src each folder may import from, with what it takes from src/. */
const MAY_IMPORT: rules.Arrows = {
  api: [
    // The types of the calls are those of the table of routes.
    '../../src/api/types.ts',
    // What the rows of endpoints say of doors.
    '../../src/core/origin.ts',
  ],
  draft: ['api'],
  live: ['api'],
  ui: ['api'],
  publish: ['api', 'draft', 'ui'],
  pages: [
    'api',
    'draft',
    'live',
    'ui',
    'publish',
    // The states of deliveries, to choose from.
    '../../src/core/deliveries/delivery.ts',
    // How people read the sources of messages.
    '../../src/core/origin.ts',
    // Paths of entries have one grammar, and the service has it.
    '../../src/language/mapping/target.ts',
    '../../src/language/paths/path-steps.ts',
  ],
  app: ['api', 'live', 'ui', 'pages'],
  'main.tsx': ['api', 'ui', 'app'],
}

/** The names with which a key of an answer starts, as they are written in each call that makes one; of a GET, its path. */
const KEY_NAMES = /\b(?:(?:answerKey|pagesKey)<[^(]*>\(|getQuery\((?:[^,[]*|\[[^\]]*\]),)((?:\s*'[^']*',?)+)/g

/** Keys whose names are the same, or the start of another key's names: parameters could make the two equal. */
function sharedKeys(): readonly string[] {
  const found = sources.flatMap(({ path, text }) =>
    Array.from(text.matchAll(KEY_NAMES), ([, names = '']) => ({
      path,
      names: Array.from(names.matchAll(/'([^']*)'/g), ([, name = '']) => name),
    })),
  )
  assert.ok(found.length > 30)
  return found.flatMap(({ path, names }, at) =>
    found
      .filter((other, index) => index !== at && names.every((name, position) => other.names[position] === name))
      .map((other) => `${path}: ${names.join(' ')} begins as ${other.names.join(' ')} of ${other.path}`),
  )
}

const RULES: readonly Readonly<{ rule: string; faults: readonly string[] }>[] = [
  { rule: 'imports point one way', faults: rules.wrongImports(sources, MAY_IMPORT) },
  { rule: 'a row names rows above it alone', faults: rules.downwardRows(MAY_IMPORT) },
  { rule: 'pages import no other page', faults: rules.importsBetween(sources, 'pages') },
  { rule: 'imports form no circle', faults: rules.circlesOf(sources).map((circle) => circle.join(' ')) },
  { rule: 'the table has no rows for folders that do not exist', faults: rules.emptyRows(sources, MAY_IMPORT) },
  { rule: 'files have names in kebab-case', faults: rules.namesNotInKebabCase(sources) },
  { rule: 'files and folders are not named after nothing', faults: rules.namesThatSayNothing(sources) },
  { rule: 'files have at most 600 lines', faults: rules.longFiles(sources, 600) },
  { rule: 'types are checked everywhere', faults: rules.evasions(sources) },
  { rule: 'no two queries have one key', faults: sharedKeys() },
  {
    rule: 'a query has its key and its read from `keyed`, which compares their types',
    faults: sources
      .filter(({ path, text }) => path !== 'api/query-keys.ts' && /\bqueryFn\b/.test(text))
      .filter(({ text }) => !/\buseInfiniteQuery\b/.test(text))
      .map(({ path }) => path),
  },
]

describe('the sources of the console', () => {
  for (const { rule, faults } of RULES) test(rule, () => assert.deepEqual(faults, []))

  test('import development dependencies only: their build is what is shipped', () => {
    const { dependencies }: { dependencies: object } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))
    const imported = sources.flatMap(({ text }) =>
      Array.from(text.matchAll(/from '([^'.][^']*)'/g), ([, name]) => name),
    )
    assert.deepEqual(
      Object.keys(dependencies).filter((name) => imported.some((one) => one === name || one?.startsWith(`${name}/`))),
      [],
    )
  })
})
