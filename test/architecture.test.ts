/** Keeps the imports pointing one way, and the habits that a linter does not know. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { changed, importing, withImport, wrongArrows } from './architecture/breaks.ts'
import * as rules from './architecture/rules.ts'

/**
 * Which folders of src/ each folder may import from, beside itself. Every folder has a row; a file of the root is a row of
 * its own. `domain` as a value stands for the folder and the folders below it.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: ['domain/failures', 'domain/ports', 'domain/secrets', 'domain/tracing'],
  'domain/egress': [],
  'domain/failures': ['domain'],
  'domain/files': [],
  'domain/openhim': ['domain'],
  'domain/ports': ['domain'],
  'domain/records': ['domain'],
  'domain/replays': ['domain'],
  'domain/secrets': [],
  'domain/tracing': ['domain'],
  formats: ['domain'],
  language: ['domain'],
  'language/json-schema': ['domain', 'language'],
  'language/jsonata': ['domain', 'language'],
  'language/jsonata/fast-path': ['domain', 'language/jsonata'],
  'language/mapping': ['domain', 'language/paths'],
  'language/paths': ['domain'],
  'config/schema': ['domain', 'formats'],
  'config/checks': ['config/checks/warnings', 'config/schema', 'domain', 'formats', 'language'],
  'config/checks/warnings': ['config/schema', 'domain', 'language'],
  'document-diff': ['config/schema', 'domain'],
  'document-reads': ['config/schema', 'domain', 'language'],
  pipeline: ['config', 'domain', 'formats', 'language', 'pipeline/idempotency', 'pipeline/requests', 'pipeline/stages'],
  'pipeline/idempotency': ['config', 'domain', 'pipeline'],
  'pipeline/requests': ['config', 'domain', 'formats', 'language', 'pipeline'],
  'pipeline/stages': ['config', 'domain', 'formats', 'language', 'pipeline'],
  'endpoints/listing': ['domain', 'endpoints', 'endpoints/sync'],
  endpoints: [
    'config',
    'document-diff',
    'domain',
    'endpoints/batch',
    'endpoints/sync',
    'formats',
    'language',
    'pipeline',
  ],
  'endpoints/batch': ['config', 'domain', 'endpoints', 'formats', 'pipeline'],
  'endpoints/sync': ['domain', 'endpoints', 'pipeline'],
  intake: ['domain', 'endpoints', 'formats', 'intake/admission', 'pipeline'],
  'intake/admission': ['domain', 'endpoints'],
  'intake/records': ['domain', 'endpoints', 'formats', 'intake', 'intake/records/order'],
  'intake/records/order': ['domain'],
  'dry-run': [
    'config',
    'document-reads',
    'domain',
    'dry-run/report',
    'endpoints',
    'formats',
    'intake',
    'language',
    'message-log',
    'message-log/groups',
    'pipeline',
  ],
  drift: ['document-reads', 'domain', 'endpoints', 'intake', 'language'],
  'dry-run/report': ['config', 'document-reads', 'domain', 'dry-run', 'intake', 'language', 'pipeline'],
  'document-tests': ['config', 'domain', 'dry-run', 'endpoints', 'formats', 'intake', 'language', 'pipeline'],
  'document-tests/recorded': [
    'config',
    'document-tests',
    'domain',
    'dry-run',
    'endpoints',
    'formats',
    'language',
    'message-log',
  ],
  'document-tests/stored': ['document-tests', 'domain', 'endpoints'],
  comparison: [
    'comparison/deliberate',
    'document-tests',
    'domain',
    'endpoints',
    'formats',
    'language',
    'service-client',
  ],
  'comparison/deliberate': ['comparison', 'domain', 'formats', 'language'],
  'published-api': ['config', 'document-tests', 'domain', 'endpoints', 'formats', 'language', 'pipeline'],
  metrics: ['domain', 'endpoints', 'intake', 'pipeline'],
  'metrics/stats': ['domain', 'intake'],
  'message-log': [
    'config',
    'domain',
    'endpoints',
    'formats',
    'intake',
    'language',
    'message-log/captures',
    'message-log/groups',
  ],
  'message-log/captures': ['domain', 'endpoints', 'intake'],
  'message-log/groups': ['domain', 'message-log'],
  'openhim/answers': ['domain', 'endpoints', 'formats', 'intake', 'message-log'],
  suggestions: ['config', 'domain', 'endpoints', 'formats', 'language', 'message-log'],
  vocabulary: ['config', 'domain', 'formats', 'language'],
  events: ['domain', 'endpoints', 'metrics'],
  replay: ['domain', 'endpoints', 'intake', 'language', 'message-log', 'pipeline', 'replay/plans'],
  'replay/plans': ['domain', 'intake', 'message-log', 'replay'],
  openhim: ['domain', 'endpoints', 'language'],
  import: ['config', 'domain', 'import/rules', 'import/rules/requests'],
  'import/sources': ['domain', 'formats', 'import', 'import/output'],
  'import/output': ['config', 'domain', 'endpoints', 'import', 'import/sources', 'pipeline', 'service-client'],
  'service-client': ['domain'],
  deployment: ['config', 'document-diff', 'domain', 'endpoints'],
  'import/rules': ['config', 'domain', 'import', 'import/rules/requests', 'language'],
  'import/rules/requests': ['config', 'domain', 'import', 'import/rules', 'language'],
  access: ['domain'],
  isolation: ['domain', 'language', 'pipeline'],
  workers: ['domain', 'drift', 'metrics', 'settings'],
  settings: ['domain', 'settings/groups'],
  'settings/groups': ['domain', 'language', 'settings'],
  'adapters/http-client': ['domain'],
  'adapters/http-server': ['domain'],
  'adapters/http-server/management': ['adapters/http-server', 'domain'],
  'adapters/http-server/messages': ['adapters/http-server', 'domain'],
  'adapters/http-server/records': ['adapters/http-server', 'adapters/http-server/management', 'domain'],
  'adapters/http-server/watching': ['adapters/http-server', 'domain'],
  'adapters/http-server/openapi': ['adapters/http-server', 'domain'],
  'adapters/jwt': ['domain'],
  'adapters/kafka': ['domain'],
  'adapters/kafka/consumer': ['adapters/kafka', 'adapters/kafka/transactions', 'domain'],
  'adapters/kafka/producer': ['adapters/kafka', 'domain'],
  'adapters/kafka/transactions': ['adapters/kafka', 'adapters/kafka/producer', 'domain'],
  'adapters/log': ['domain'],
  'adapters/openhim': ['domain'],
  'adapters/otel': ['domain'],
  'adapters/postgres': ['domain'],
  'adapters/secrets': ['domain'],
  'adapters/sql': ['domain'],
  'adapters/sql/message-log': ['adapters/sql', 'domain'],
  'adapters/sql/migrations': ['adapters/sql', 'domain'],
  'adapters/sql/stores': ['adapters/sql', 'domain'],
  'adapters/sqlite': ['adapters/sqlite/message-log', 'domain'],
  'adapters/sqlite/message-log': ['adapters/sqlite', 'domain'],
  cli: [
    'access',
    'adapters',
    'cli/completion',
    'cli/deployment',
    'cli/lint',
    'cli/new',
    'cli/openapi',
    'cli/project',
    'cli/run',
    'cli/test',
    'comparison',
    'domain',
    'import',
    'settings',
    'wiring',
  ],
  'cli/completion': ['cli'],
  'cli/lint': ['cli', 'domain', 'endpoints', 'settings', 'wiring'],
  'cli/deployment': ['cli', 'config', 'deployment', 'document-diff', 'domain', 'import', 'service-client', 'settings'],
  'cli/new': ['adapters', 'cli', 'domain', 'endpoints', 'formats', 'import', 'settings', 'suggestions', 'wiring'],
  'cli/openapi': ['cli', 'config', 'domain', 'endpoints', 'published-api', 'settings', 'wiring'],
  'cli/project': ['config', 'domain', 'endpoints', 'formats', 'import'],
  'cli/run': ['adapters', 'cli', 'config', 'domain', 'dry-run', 'formats', 'import', 'language', 'settings', 'wiring'],
  'cli/test': ['adapters', 'cli', 'document-tests', 'domain', 'formats', 'import', 'settings', 'wiring'],
  wiring: [
    'access',
    'adapters',
    'config',
    'document-tests',
    'domain',
    'drift',
    'dry-run',
    'endpoints',
    'events',
    'intake',
    'isolation',
    'message-log',
    'metrics',
    'openhim',
    'pipeline',
    'published-api',
    'replay',
    'settings',
    'suggestions',
    'vocabulary',
    'workers',
  ],
  'app.ts': [
    'adapters',
    'document-tests',
    'domain',
    'dry-run',
    'endpoints',
    'intake',
    'message-log',
    'replay',
    'settings',
    'wiring',
    'workers',
  ],
  'main.ts': ['adapters/log', 'app.ts', 'cli', 'domain', 'settings', 'wiring', 'workers'],
}

/** What adapters may import beside the domain, with the reason: at most three exceptions. */
const ADAPTER_EXCEPTIONS: readonly Readonly<{ folder: string; may: readonly string[]; reason: string }>[] = [
  {
    folder: 'adapters/http-server',
    may: [
      'access',
      'document-tests',
      'drift',
      'dry-run',
      'endpoints',
      'events',
      'formats',
      'intake',
      'message-log',
      'metrics',
      'openhim',
      'published-api',
      'replay',
      'suggestions',
    ],
    reason: 'It is the adapter that calls the service: the objects behind its routes are its ports.',
  },
  {
    folder: 'adapters/sqlite',
    may: ['adapters/sql'],
    reason: 'Both databases share their statements, tables and migrations.',
  },
  {
    folder: 'adapters/postgres',
    may: ['adapters/sql'],
    reason: 'Both databases share their statements, tables and migrations.',
  },
]

const LONGEST_FILE = 600

const ARROWS: rules.Arrows = { table: MAY_IMPORT, exceptions: ADAPTER_EXCEPTIONS }

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = rules.readSources(`${root}/src`)

const manifest: unknown = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))
const dependencies = Object.keys((manifest as { dependencies: Record<string, string> }).dependencies)

type Files = readonly rules.Source[]

const lines = (count: number): string => 'export {}\n'.repeat(count)

/** Each rule holds for src/, and names what is wrong with a copy of src/ that breaks it. */
const RULES: readonly Readonly<{
  rule: string
  faultsOf(files: Files): readonly string[]
  breaks: readonly Readonly<{ with: string; on(files: Files): Files; fault: RegExp }>[]
}>[] = [
  {
    rule: 'imports point one way',
    faultsOf: (files) => rules.wrongImports(files, ARROWS),
    breaks: [
      {
        with: 'an import against the arrows',
        on: (files) => withImport(files, 'domain/failure-table.ts', 'pipeline/compile.ts'),
        fault: /^src\/domain\/failure-table\.ts must not import src\/pipeline\/compile\.ts\.$/,
      },
      {
        with: 'a folder without a row',
        on: (files) => [...files, importing('plugins/plugin.ts')],
        fault: /^src\/plugins has no row in the table/,
      },
    ],
  },
  {
    rule: 'the table has no rows for folders that do not exist',
    faultsOf: (files) => rules.emptyRows(files, ARROWS),
    breaks: [
      {
        with: 'a folder less',
        on: (files) => files.filter(({ path }) => !path.startsWith('replay/')),
        fault: /^replay$/,
      },
    ],
  },
  {
    rule: 'imports form no circle',
    faultsOf: (files) => rules.circlesOf(files).map((circle) => circle.join(' ')),
    breaks: [
      {
        with: 'two files that import each other',
        on: (files) =>
          withImport(
            withImport(files, 'domain/failure-table.ts', 'domain/json.ts'),
            'domain/json.ts',
            'domain/failure.ts',
          ),
        fault: /\bdomain\/failure-table\.ts .*\bdomain\/json\.ts\b/,
      },
      {
        with: 'a way back from the far end',
        on: (files) => withImport(files, 'domain/json.ts', 'main.ts'),
        fault: /\bapp\.ts .*\bdomain\/json\.ts .*\bmain\.ts\b.*\bpipeline\/compile\.ts\b/,
      },
    ],
  },
  {
    rule: 'imported packages are exactly the production dependencies',
    faultsOf: (files) => rules.packageFaults(files, dependencies),
    breaks: [
      {
        with: 'a package that is no dependency',
        on: (files) => changed(files, 'app.ts', (text) => `${text}import '@scope/unknown/part.js'\n`),
        fault: /^@scope\/unknown$/,
      },
      {
        with: 'a dependency that nothing imports any more',
        on: (files) => files.map(({ path, text }) => ({ path, text: text.replaceAll(/'fastify'/g, "'node:http'") })),
        fault: /^fastify$/,
      },
    ],
  },
  {
    rule: 'files have names in kebab-case',
    faultsOf: rules.namesNotInKebabCase,
    breaks: [
      { with: 'capitals', on: (files) => [...files, importing('domain/jsonText.ts')], fault: /^domain\/jsonText\.ts$/ },
      { with: 'a folder', on: (files) => [...files, importing('dry_run/a.ts')], fault: /^dry_run\/a\.ts$/ },
    ],
  },
  {
    rule: 'files and folders are not named after nothing',
    faultsOf: rules.namesThatSayNothing,
    breaks: [
      { with: 'a file', on: (files) => [...files, importing('domain/json-utils.ts')], fault: /json-utils/ },
      { with: 'a folder', on: (files) => [...files, importing('common/json-text.ts')], fault: /^common\// },
    ],
  },
  {
    rule: `files have at most ${LONGEST_FILE} lines`,
    faultsOf: (files) => rules.longFiles(files, LONGEST_FILE),
    breaks: [
      {
        with: 'a longer one',
        on: (files) => changed(files, 'app.ts', () => lines(LONGEST_FILE + 1)),
        fault: /^app\.ts$/,
      },
    ],
  },
  {
    rule: 'types are checked everywhere',
    faultsOf: rules.evasions,
    breaks: [
      {
        with: 'any',
        on: (files) => changed(files, 'app.ts', (text) => `${text}export const a = JSON.parse('') as any\n`),
        fault: /^src\/app\.ts: any$/,
      },
      {
        with: 'a comment for the compiler',
        on: (files) => changed(files, 'app.ts', (text) => `// @ts-expect-error\n${text}`),
        fault: /^src\/app\.ts: @ts-expect-error$/,
      },
    ],
  },
]

for (const { rule, faultsOf, breaks } of RULES) {
  describe(rule, () => {
    test('in src/', () => assert.deepEqual(faultsOf(sources), []))
    for (const { with: change, on, fault } of breaks) {
      test(`and not in a copy of src/ with ${change}`, () => {
        const faults = faultsOf(on(sources))
        assert.ok(
          faults.some((one) => fault.test(one)),
          JSON.stringify(faults),
        )
      })
    }
  })
}

describe('the table of imports', () => {
  test('refuses every import between folders that it does not name', () => {
    const wrong = wrongArrows(sources, ARROWS)
    assert.ok(wrong.length > sources.length)
    for (const { broken, to } of wrong) {
      assert.deepEqual(rules.wrongImports([broken], ARROWS), [`src/${broken.path} must not import src/${to}.`])
    }
  })

  test('lets adapters import the domain and themselves, with few exceptions', () => {
    assert.deepEqual(rules.adapterFaults(ARROWS), [])
  })

  const cases: readonly { from: string; imports: string; wrong: boolean }[] = [
    { from: 'domain/a.ts', imports: "import { b } from './b.ts'", wrong: false },
    { from: 'domain/a.ts', imports: "import { b } from '../language/b.ts'", wrong: true },
    { from: 'domain/a.ts', imports: "import type {\n  B,\n} from '../language/b.ts'", wrong: true },
    { from: 'language/a.ts', imports: "export * from '../formats/b.ts'", wrong: true },
    { from: 'pipeline/stages/a.ts', imports: "import { b } from '../chain.ts'", wrong: false },
    { from: 'pipeline/stages/a.ts', imports: "await import('../../endpoints/b.ts')", wrong: true },
    { from: 'pipeline/stages/a.ts', imports: "import '../../adapters/sqlite/b.ts'", wrong: true },
    { from: 'pipeline/stages/a.ts', imports: "// import { b } from '../../endpoints/b.ts'", wrong: false },
    { from: 'adapters/http-server/a.ts', imports: "import { b } from '../../endpoints/b.ts'", wrong: false },
    { from: 'adapters/http-server/messages/a.ts', imports: "import { b } from '../../../intake/b.ts'", wrong: false },
    { from: 'adapters/http-server/messages/a.ts', imports: "import { b } from '../../sqlite/b.ts'", wrong: true },
    { from: 'adapters/http-client/a.ts', imports: "import { b } from '../../endpoints/b.ts'", wrong: true },
    { from: 'adapters/http-client/a.ts', imports: "import { b } from '../../domain/ports/b.ts'", wrong: false },
    { from: 'adapters/http-client/a.ts', imports: "import { b } from '../../language/paths/path.ts'", wrong: true },
    { from: 'adapters/http-client/a.ts', imports: "import { b } from '../sqlite/b.ts'", wrong: true },
    { from: 'adapters/sqlite/a.ts', imports: "import { b } from '../sql/b.ts'", wrong: false },
    { from: 'config/checks/a.ts', imports: "import { b } from '../../settings/b.ts'", wrong: true },
    { from: 'main.ts', imports: "import { b } from './app.ts'", wrong: false },
    { from: 'main.ts', imports: "import { b } from './endpoints/b.ts'", wrong: true },
    { from: 'app.ts', imports: "import { b } from './endpoints/b.ts'", wrong: false },
    { from: 'somewhere/a.ts', imports: '', wrong: true },
  ]
  for (const { from, imports, wrong } of cases) {
    test(`${wrong ? 'refuses' : 'allows'} ${JSON.stringify(imports)} in ${from}`, () => {
      assert.equal(rules.wrongImports([{ path: from, text: imports }], ARROWS).length, wrong ? 1 : 0)
    })
  }
})

test('CONTRIBUTING.md describes every folder and file at the root of src/, and no other', () => {
  const text = readFileSync(`${root}/CONTRIBUTING.md`, 'utf8')
  const [, table = ''] = /\n\| in `src\/` \|.*\n((?:\|.*\n)+)/.exec(text) ?? []
  const described = Array.from(table.matchAll(/^\| `([^`]+?)\/?` \|/gm), ([, name]) => name)
  assert.deepEqual(described.sort(), [...new Set(sources.map(({ path }) => path.split('/')[0]))].sort())
})
