/** Keeps the imports pointing one way, and the habits that a linter does not know. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { DESCRIBED_FORMATS } from '../../../src/formats/codecs.ts'
import { TARGET_FIELDS } from '../../../src/outbound/targets.ts'
import * as rules from './rules.ts'

/**
 * Which folders of src/ each folder may import from, beside itself; a folder below belongs to its folder of the root, and a
 * file of the root is a row of its own. The rows are in the order of the house: a row names rows above it alone.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  formats: ['core'],
  language: ['core'],
  settings: ['core', 'language'],
  store: ['core'],
  tables: ['core', 'formats', 'store'],
  outbound: ['core'],
  document: ['core', 'formats', 'language', 'outbound/targets.ts'],
  pipeline: ['core', 'formats', 'language', 'store', 'document', 'outbound/targets.ts'],
  sandbox: ['core', 'language', 'pipeline'],
  endpoints: ['core', 'formats', 'language', 'store', 'tables', 'document', 'pipeline'],
  inbound: ['core', 'formats', 'language', 'store', 'pipeline', 'endpoints', 'outbound'],
  records: ['core', 'formats', 'language', 'store', 'document', 'pipeline', 'endpoints', 'inbound'],
  deliveries: ['core', 'formats', 'language', 'store', 'outbound', 'pipeline', 'endpoints', 'records'],
  openhim: ['core', 'formats', 'language', 'outbound/targets.ts', 'endpoints', 'inbound', 'records'],
  observe: ['core', 'outbound/targets.ts', 'pipeline', 'endpoints', 'inbound', 'deliveries', 'openhim'],
  try: [
    'core',
    'formats',
    'language',
    'store',
    'tables',
    'outbound/targets.ts',
    'document',
    'pipeline',
    'endpoints',
    'inbound',
    'records',
  ],
  api: [
    'core',
    'formats',
    'store',
    'tables',
    'document',
    'endpoints',
    'inbound',
    'records',
    'deliveries',
    'openhim',
    'observe',
    'try',
  ],
  app: [
    'core',
    'settings',
    'store',
    'tables',
    'document',
    'pipeline',
    'sandbox',
    'endpoints',
    'outbound',
    'inbound',
    'records',
    'deliveries',
    'openhim',
    'observe',
    'try',
    'api',
  ],
  cli: [
    'core',
    'formats',
    'language',
    'settings',
    'store',
    'tables',
    'document',
    'endpoints',
    'observe',
    'try',
    'api',
    'app',
    '../migrate',
  ],
  'main.ts': ['core', 'settings', 'observe', 'app', 'cli'],
}

/** What `crosswalk import` and `crosswalk compare` may read of src/, where the row of `cli` alone names migrate/. */
const MIGRATE_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'attempt.ts': [],
  import: [
    'attempt.ts',
    '../src/cli',
    '../src/core',
    '../src/document',
    '../src/endpoints',
    '../src/formats',
    '../src/language',
  ],
  compare: [
    'attempt.ts',
    'import',
    '../src/cli/service-client',
    '../src/core',
    '../src/endpoints',
    '../src/formats',
    '../src/language',
    '../src/openhim/core-port.ts',
    '../src/try/tests',
  ],
}

const root = fileURLToPath(new URL('../../..', import.meta.url))
const sources = rules.readSources(`${root}/src`)
const migrate = rules.readSources(`${root}/migrate`)
const all = [...sources, ...migrate]

const manifest: unknown = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))
const dependencies = Object.keys((manifest as { dependencies: Record<string, string> }).dependencies)

const RULES: Readonly<Record<string, readonly string[]>> = {
  'imports point one way': rules.wrongImports(sources, MAY_IMPORT),
  'the table has no rows for folders that do not exist': [
    ...rules.emptyRows(sources, MAY_IMPORT),
    ...rules.emptyRows(migrate, MIGRATE_MAY_IMPORT),
  ],
  'a row names rows above it alone': rules.downwardRows(MAY_IMPORT),
  'imports of migrate/ point one way': rules.wrongImports(migrate, MIGRATE_MAY_IMPORT),
  'imports form no circle': [sources, migrate].flatMap(rules.circlesOf).map((circle) => circle.join(' ')),
  'imported packages are exactly the production dependencies': rules.packageFaults(all, dependencies),
  'files have names in kebab-case': rules.namesNotInKebabCase(all),
  'files and folders are not named after nothing': rules.namesThatSayNothing(all),
  'files have at most 600 lines': rules.longFiles(all, 600),
  'only formats/ compares with the name or the media type of a format': rules.comparisonsWith(
    DESCRIBED_FORMATS.flatMap(({ name, mediaType }) => [name, mediaType]),
    [...all.filter(({ path }) => !path.startsWith('formats/')), ...rules.readSources(`${root}/console/src`)],
  ),
  'only outbound/ and the schema name what requests of a target have': rules.namesIn(
    TARGET_FIELDS.filter((field) => !field.includes('.')),
    sources.filter(({ path }) => !/^(?:outbound|document\/schema)\//.test(path)),
  ),
  'types are checked everywhere': rules.evasions(all),
}

for (const [rule, faults] of Object.entries(RULES)) test(rule, () => assert.deepEqual(faults, []))

test('docs/architecture.md describes every folder and file at the root of src/, and no other', () => {
  const text = readFileSync(`${root}/docs/architecture.md`, 'utf8')
  const [, table = ''] = /\n\| in `src\/` \|.*\n((?:\|.*\n)+)/.exec(text) ?? []
  const described = Array.from(table.matchAll(/^\| `([^`]+?)\/?` \|/gm), ([, name]) => name)
  assert.deepEqual(described.sort(), [...new Set(sources.map(({ path }) => path.split('/')[0]))].sort())
})
