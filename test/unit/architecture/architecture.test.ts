/** Keeps the imports pointing one way, and the habits that a linter does not know. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as rules from './rules.ts'

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
  'service-client': ['domain'],
  deployment: ['config', 'document-diff', 'domain', 'endpoints'],
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
    'domain',
    '../migrate',
    'settings',
    'wiring',
  ],
  'cli/completion': ['cli'],
  'cli/lint': ['cli', 'domain', 'endpoints', 'settings', 'wiring'],
  'cli/deployment': ['cli', 'config', 'deployment', 'document-diff', 'domain', 'service-client', 'settings'],
  'cli/new': ['adapters', 'cli', 'deployment', 'domain', 'endpoints', 'formats', 'settings', 'suggestions', 'wiring'],
  'cli/openapi': ['cli', 'config', 'domain', 'endpoints', 'published-api', 'settings', 'wiring'],
  'cli/project': ['cli', 'config', 'deployment', 'domain', 'endpoints', 'formats'],
  'cli/run': ['adapters', 'cli', 'config', 'domain', 'dry-run', 'formats', 'language', 'settings', 'wiring'],
  'cli/test': ['adapters', 'cli', 'document-tests', 'domain', 'formats', 'settings', 'wiring'],
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

const ARROWS: rules.Arrows = { table: MAY_IMPORT, exceptions: ADAPTER_EXCEPTIONS }

/** What `crosswalk import` and `crosswalk compare` may read of src/, where the row of `cli` alone names migrate/. */
const MIGRATE_ARROWS: rules.Arrows = {
  table: {
    'attempt.ts': [],
    import: [
      'attempt.ts',
      '../src/cli/terminal-text.ts',
      '../src/config',
      '../src/deployment',
      '../src/domain',
      '../src/endpoints',
      '../src/formats',
      '../src/language',
      '../src/service-client',
    ],
    compare: [
      'attempt.ts',
      'import',
      '../src/document-tests',
      '../src/domain',
      '../src/endpoints',
      '../src/formats',
      '../src/language',
      '../src/service-client',
    ],
  },
  exceptions: [],
}

const root = fileURLToPath(new URL('../../..', import.meta.url))
const sources = rules.readSources(`${root}/src`)
const migrate = rules.readSources(`${root}/migrate`)
const all = [...sources, ...migrate]

const manifest: unknown = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))
const dependencies = Object.keys((manifest as { dependencies: Record<string, string> }).dependencies)

const RULES: Readonly<Record<string, readonly string[]>> = {
  'imports point one way': rules.wrongImports(sources, ARROWS),
  'the table has no rows for folders that do not exist': [
    ...rules.emptyRows(sources, ARROWS),
    ...rules.emptyRows(migrate, MIGRATE_ARROWS),
  ],
  'adapters import the domain and themselves, with few exceptions': rules.adapterFaults(ARROWS),
  'imports of migrate/ point one way': rules.wrongImports(migrate, MIGRATE_ARROWS),
  'imports form no circle': [sources, migrate].flatMap(rules.circlesOf).map((circle) => circle.join(' ')),
  'imported packages are exactly the production dependencies': rules.packageFaults(all, dependencies),
  'files have names in kebab-case': rules.namesNotInKebabCase(all),
  'files and folders are not named after nothing': rules.namesThatSayNothing(all),
  'files have at most 600 lines': rules.longFiles(all, 600),
  'types are checked everywhere': rules.evasions(all),
}

for (const [rule, faults] of Object.entries(RULES)) test(rule, () => assert.deepEqual(faults, []))

test('CONTRIBUTING.md describes every folder and file at the root of src/, and no other', () => {
  const text = readFileSync(`${root}/CONTRIBUTING.md`, 'utf8')
  const [, table = ''] = /\n\| in `src\/` \|.*\n((?:\|.*\n)+)/.exec(text) ?? []
  const described = Array.from(table.matchAll(/^\| `([^`]+?)\/?` \|/gm), ([, name]) => name)
  assert.deepEqual(described.sort(), [...new Set(sources.map(({ path }) => path.split('/')[0]))].sort())
})
