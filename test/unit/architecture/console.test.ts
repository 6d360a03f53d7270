/** Keeps the imports of the console pointing one way, by the rules of src/ (test/unit/architecture/rules.ts). */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as rules from './rules.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const sources = rules.readSources(`${root}/console/src`)

const UI = [
  'ui/charts',
  'ui/code',
  'ui/controls',
  'ui/data',
  'ui/endpoint',
  'ui/keys',
  'ui/states',
  'ui/text',
  'ui/search-params.ts',
]
/** Pages are parallel: none imports another. A page has the folders below its own. */
const OF_A_PAGE = ['api', 'draft', 'live', 'publish', ...UI]
const pageOf = (folder: string): string => folder.split('/').slice(0, 2).join('/')

/** Which folders of console/src each folder may import from, beside itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  // The types of answers, for the keys under which they are kept.
  api: ['api/changes', 'api/records'],
  'api/changes': ['api'],
  'api/records': ['api'],
  draft: ['api'],
  live: ['api'],
  publish: ['api', 'draft', ...UI],
  ui: [],
  'ui/charts': ['api', 'ui/states'],
  'ui/code': ['ui/states', 'ui/text'],
  'ui/controls': ['api', 'ui/keys', 'ui/states', 'ui/text'],
  'ui/data': ['api', 'ui/controls', 'ui/keys', 'ui/states', 'ui/text'],
  'ui/endpoint': ['api', 'ui/controls', 'ui/data', 'ui/states', 'ui/text'],
  'ui/keys': ['api'],
  'ui/text': [],
  'ui/states': ['api', 'ui/controls', 'ui/data', 'ui/text'],
  ...Object.fromEntries(
    [...new Set(sources.map(({ path }) => rules.folderOf(path)))]
      .filter((folder) => folder.startsWith('pages/'))
      .map((folder, _index, folders) => [
        folder,
        [...OF_A_PAGE, ...folders.filter((other) => other !== folder && pageOf(other) === pageOf(folder))],
      ]),
  ),
  app: ['api', 'live', 'pages', ...UI],
  'main.tsx': ['api', 'app', 'ui'],
}

const ARROWS: rules.Arrows = {
  table: MAY_IMPORT,
  exceptions: [
    {
      folder: 'api',
      may: ['../../src/api/types.ts'],
      reason: 'The types of the calls are those of the table of routes.',
    },
    {
      folder: 'pages/mapping/model',
      may: ['../../src/language/mapping/target.ts', '../../src/language/paths/path-steps.ts'],
      reason: 'Paths of entries have one grammar, and the service has it.',
    },
  ],
}
/** The names with which a key of an answer starts, as they are written in each call that makes one. */
const KEY_NAMES = /\b(?:answerKey|pagesKey)<[^(]*>\(((?:\s*'[^']*',?)+)/g

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
  { rule: 'imports point one way', faults: rules.wrongImports(sources, ARROWS) },
  { rule: 'imports form no circle', faults: rules.circlesOf(sources).map((circle) => circle.join(' ')) },
  { rule: 'the table has no rows for folders that do not exist', faults: rules.emptyRows(sources, ARROWS) },
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
