/** Keeps the imports pointing one way, and the habits that a linter does not know. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

type Source = Readonly<{ path: string; text: string }>

/**
 * Which folders of src/ each folder may import from, beside itself. Every folder has a row; a file of the root is a row of
 * its own. `domain` as a value stands for the folder and the folders below it.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: ['domain/secrets', 'domain/tracing'],
  'domain/egress': [],
  'domain/ports': ['domain'],
  'domain/records': ['domain'],
  'domain/secrets': [],
  'domain/tracing': ['domain'],
  formats: ['domain'],
  language: ['domain'],
  'language/json-schema': ['domain', 'language'],
  'language/jsonata': ['domain', 'language'],
  'language/jsonata/fast-path': ['domain', 'language/jsonata'],
  'language/mapping': ['domain', 'language/mapping/generated', 'language/paths'],
  'language/mapping/generated': ['domain', 'language/mapping', 'language/paths'],
  'language/paths': ['domain'],
  'config/schema': ['domain', 'formats'],
  'config/checks': ['config/schema', 'domain', 'formats', 'language'],
  pipeline: ['config', 'domain', 'formats', 'language', 'pipeline/idempotency', 'pipeline/requests', 'pipeline/stages'],
  'pipeline/idempotency': ['config', 'domain', 'pipeline'],
  'pipeline/requests': ['config', 'domain', 'formats', 'language', 'pipeline'],
  'pipeline/stages': ['config', 'domain', 'formats', 'language', 'pipeline'],
  endpoints: ['config', 'domain', 'endpoints/sync', 'formats', 'language', 'pipeline'],
  'endpoints/sync': ['domain', 'endpoints', 'pipeline'],
  intake: ['domain', 'endpoints', 'formats', 'intake/admission', 'pipeline'],
  'intake/admission': ['domain', 'endpoints'],
  'intake/records': ['domain', 'endpoints', 'formats', 'intake'],
  'dry-run': ['config', 'domain', 'endpoints', 'formats', 'intake', 'pipeline'],
  metrics: ['domain', 'endpoints', 'intake', 'pipeline'],
  'metrics/stats': ['domain', 'intake'],
  'message-log': ['config', 'domain', 'endpoints', 'formats', 'intake', 'language'],
  replay: ['domain', 'endpoints', 'intake', 'language', 'message-log', 'pipeline'],
  access: ['domain'],
  isolation: ['domain', 'language', 'pipeline'],
  workers: ['domain', 'metrics', 'settings'],
  settings: ['domain', 'settings/groups'],
  'settings/groups': ['domain', 'language', 'settings'],
  'adapters/http-client': ['domain'],
  'adapters/http-server': ['domain'],
  'adapters/http-server/management': ['adapters/http-server', 'domain'],
  'adapters/http-server/messages': ['adapters/http-server', 'domain'],
  'adapters/http-server/openapi': ['adapters/http-server', 'domain'],
  'adapters/jwt': ['domain'],
  'adapters/kafka': ['domain'],
  'adapters/kafka/consumer': ['adapters/kafka', 'domain'],
  'adapters/kafka/producer': ['adapters/kafka', 'domain'],
  'adapters/log': ['domain'],
  'adapters/otel': ['domain'],
  'adapters/postgres': ['domain'],
  'adapters/secrets': ['domain'],
  'adapters/sql': ['domain'],
  'adapters/sql/message-log': ['adapters/sql', 'domain'],
  'adapters/sql/migrations': ['adapters/sql', 'domain'],
  'adapters/sql/stores': ['adapters/sql', 'domain'],
  'adapters/sqlite': ['adapters/sqlite/message-log', 'domain'],
  'adapters/sqlite/message-log': ['adapters/sqlite', 'domain'],
  cli: ['access', 'adapters', 'domain', 'settings', 'wiring'],
  wiring: [
    'access',
    'adapters',
    'config',
    'domain',
    'dry-run',
    'endpoints',
    'intake',
    'isolation',
    'message-log',
    'metrics',
    'pipeline',
    'replay',
    'settings',
    'workers',
  ],
  'app.ts': ['adapters', 'domain', 'dry-run', 'endpoints', 'intake', 'replay', 'settings', 'wiring', 'workers'],
  'main.ts': ['adapters/log', 'app.ts', 'cli', 'domain', 'settings', 'wiring', 'workers'],
}

/** What adapters may import beside the domain, with the reason: at most three exceptions. */
const ADAPTER_EXCEPTIONS: readonly Readonly<{ folder: string; may: readonly string[]; reason: string }>[] = [
  {
    folder: 'adapters/http-server',
    may: ['access', 'dry-run', 'endpoints', 'formats', 'intake', 'message-log', 'metrics', 'replay'],
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

const LONGEST_FILE = 300
const P90_LINES = 185
/** Files under this many lines are short: a reader opens them for too little. The aim is 10; the number only goes down. */
const SHORT_LINES = 20
const MOST_SHORT_FILES = 10
const MOST_FILES_IN_A_FOLDER = 15
const MOST_FILES_AT_THE_ROOT = 4

const root = fileURLToPath(new URL('..', import.meta.url))

const sources: readonly Source[] = readdirSync(`${root}/src`, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .sort()
  .map((path) => ({ path, text: readFileSync(`${root}/src/${path}`, 'utf8') }))

/** What a file imports, types too, as it is written there. */
function importsOf({ text }: Source): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const found = code.matchAll(/\bfrom\s*['"]([^'"]+)['"]|\bimport\s*\(?\s*['"]([^'"]+)['"]/g)
  return Array.from(found, ([, from, direct]) => from ?? direct ?? '')
}

const folderOf = (path: string): string => (path.includes('/') ? posix.dirname(path) : path)

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)

/** What the table lets a folder import; undefined if the folder has no row. */
function allowedFrom(folder: string): readonly string[] | undefined {
  const row = MAY_IMPORT[folder]
  if (row === undefined) return undefined
  return [
    ...row,
    ...ADAPTER_EXCEPTIONS.flatMap((exception) => (isWithin(folder, exception.folder) ? exception.may : [])),
  ]
}

/** The files of src/ that a file imports, by their paths. */
const targetsOf = (source: Source): string[] =>
  importsOf(source)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.join(posix.dirname(source.path), specifier))

/** One sentence for each import that the table does not allow. */
function wrongImports(source: Source): string[] {
  const folder = folderOf(source.path)
  const allowed = allowedFrom(folder)
  if (allowed === undefined) return [`src/${folder} has no row in the table: add one that says what it may import.`]
  return targetsOf(source)
    .filter((target) => folderOf(target) !== folder && !allowed.some((one) => isWithin(target, one)))
    .map((target) => `src/${source.path} must not import src/${target}.`)
}

/** The circles of imports, types included: each a list of files that reach each other (Tarjan's algorithm). */
function circlesOf(files: readonly Source[]): string[][] {
  const targets = new Map(files.map((source) => [source.path, targetsOf(source)]))
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const path: string[] = []
  const circles: string[][] = []
  const visit = (file: string): void => {
    order.set(file, order.size)
    lowest.set(file, order.get(file) ?? 0)
    path.push(file)
    for (const target of targets.get(file) ?? []) {
      if (!targets.has(target)) continue
      if (!order.has(target)) visit(target)
      if (path.includes(target)) lowest.set(file, Math.min(lowest.get(file) ?? 0, lowest.get(target) ?? 0))
    }
    if (lowest.get(file) !== order.get(file)) return
    const circle = path.splice(path.indexOf(file))
    if (circle.length > 1) circles.push(circle.sort())
  }
  for (const file of targets.keys()) if (!order.has(file)) visit(file)
  return circles
}

/** Names that stand more than once, with their files; those of the two databases are twins by design. */
function repeated(named: readonly (readonly [name: string, path: string])[]): string[] {
  const places = new Map<string, string[]>()
  for (const [name, path] of named) places.set(name, [...(places.get(name) ?? []), path])
  const areTwins = (paths: readonly string[]): boolean =>
    paths.length === 2 && ['sqlite', 'postgres'].every((one) => paths.some((path) => isWithin(path, `adapters/${one}`)))
  return [...places]
    .filter(([, paths]) => paths.length > 1 && !areTwins(paths))
    .map(([name, paths]) => `${name}: ${paths.join(', ')}`)
}

const linesOf = ({ text }: Source): number => text.trimEnd().split('\n').length

/** The package of an import: `@scope/name` or `name`, without the path in it. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** `any` as a type, and the comments that turn the compiler off; texts and comments may speak of any. */
function evasions({ path, text }: Source): string[] {
  const found = [...text.matchAll(/@ts-(?:ignore|expect-error|nocheck)/g)].map(([comment]) => `src/${path}: ${comment}`)
  const code = text.replace(/'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\*[\s\S]*?\*\/|\/\/.*/g, "''")
  if (/(?:[:<|&,=(]|\bas|=>)\s*any\b(?!\s*[:(])/.test(code)) found.push(`src/${path}: any`)
  return found
}

const file = (path: string, ...imports: readonly string[]): Source => ({
  path,
  text: imports.map((one) => `import type { A } from '${one}'`).join('\n'),
})

describe('imports', () => {
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
      assert.equal(wrongImports({ path: from, text: imports }).length, wrong ? 1 : 0)
    })
  }

  test('of every file point one way', () => {
    assert.deepEqual(sources.flatMap(wrongImports), [])
  })

  test('are described by a table without rows for folders that do not exist', () => {
    const folders = new Set(sources.map(({ path }) => folderOf(path)))
    assert.deepEqual(
      Object.keys(MAY_IMPORT).filter((folder) => !folders.has(folder)),
      [],
    )
  })

  test('of adapters have at most three exceptions, each with its reason', () => {
    const rows = Object.keys(MAY_IMPORT).filter((folder) => isWithin(folder, 'adapters'))
    const beyond = rows.filter((folder) => {
      const own = folder.split('/').slice(0, 2).join('/')
      return (MAY_IMPORT[folder] ?? []).some((one) => !isWithin(one, 'domain') && !isWithin(one, own))
    })
    assert.deepEqual(beyond, [])
    assert.ok(ADAPTER_EXCEPTIONS.length <= 3)
    for (const { reason } of ADAPTER_EXCEPTIONS) assert.ok(reason.length > 0)
  })

  const circleCases: readonly { name: string; files: readonly Source[]; circles: readonly string[][] }[] = [
    { name: 'no circle', files: [file('a.ts', './b.ts'), file('b.ts', './c.ts'), file('c.ts')], circles: [] },
    { name: 'a circle of two', files: [file('a.ts', './b.ts'), file('b.ts', './a.ts')], circles: [['a.ts', 'b.ts']] },
    {
      name: 'a circle of types alone, over folders',
      files: [file('x/a.ts', '../b.ts'), file('b.ts', './x/c.ts'), file('x/c.ts', './a.ts')],
      circles: [['b.ts', 'x/a.ts', 'x/c.ts']],
    },
  ]
  for (const { name, files, circles } of circleCases) {
    test(`finds ${name}`, () => assert.deepEqual(circlesOf(files), circles))
  }

  test('form no circle', () => {
    assert.deepEqual(circlesOf(sources), [])
  })

  test('of packages are exactly the production dependencies', () => {
    const imported = new Set(
      sources
        .flatMap(importsOf)
        .filter((specifier) => !specifier.startsWith('.') && !isBuiltin(specifier))
        .map(packageOf),
    )
    const manifest: unknown = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))
    const { dependencies } = manifest as { dependencies: Record<string, string> }
    assert.deepEqual([...imported].sort(), Object.keys(dependencies).sort())
  })
})

describe('files', () => {
  test('have names in kebab-case', () => {
    const kebab = /^(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)*[a-z0-9]+(?:-[a-z0-9]+)*\.ts$/
    assert.deepEqual(
      sources.map(({ path }) => path).filter((path) => !kebab.test(path)),
      [],
    )
  })

  test(`have at most ${LONGEST_FILE} lines`, () => {
    assert.deepEqual(
      sources.filter((source) => linesOf(source) > LONGEST_FILE).map(({ path }) => path),
      [],
    )
  })

  test(`have at most ${P90_LINES} lines in nine of ten`, () => {
    const lines = sources.map(linesOf).sort((a, b) => a - b)
    assert.ok((lines[Math.ceil(lines.length * 0.9) - 1] ?? 0) <= P90_LINES)
  })

  test(`have under ${SHORT_LINES} lines in at most ${MOST_SHORT_FILES} cases`, () => {
    const short = sources.filter((source) => linesOf(source) < SHORT_LINES).map(({ path }) => path)
    assert.ok(short.length <= MOST_SHORT_FILES, short.join('\n'))
  })

  test(`are at most ${MOST_FILES_IN_A_FOLDER} in a folder, ${MOST_FILES_AT_THE_ROOT} at the root`, () => {
    const counts = new Map<string, number>()
    for (const { path } of sources) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1)
    assert.deepEqual(
      [...counts].filter(
        ([folder, count]) => count > (folder === '.' ? MOST_FILES_AT_THE_ROOT : MOST_FILES_IN_A_FOLDER),
      ),
      [],
    )
  })

  test('have a name of their own each', () => {
    assert.deepEqual(repeated(sources.map(({ path }) => [posix.basename(path), path])), [])
  })

  test('export types with a name of their own each', () => {
    const types = sources.flatMap(({ path, text }) =>
      Array.from(text.matchAll(/^export (?:type|interface|class) (\w+)/gm), ([, name]) => [name ?? '', path] as const),
    )
    assert.deepEqual(repeated(types), [])
  })

  test('are not named after nothing', () => {
    const empty = /(?:^|[/-])(?:utils?|helpers?|common|misc|ctx)(?:[/.-]|$)/
    assert.deepEqual(
      sources.map(({ path }) => path).filter((path) => empty.test(path)),
      [],
    )
  })
})

test('CONTRIBUTING.md describes every folder and file at the root of src/, and no other', () => {
  const text = readFileSync(`${root}/CONTRIBUTING.md`, 'utf8')
  const [, table = ''] = /\n\| in `src\/` \|.*\n((?:\|.*\n)+)/.exec(text) ?? []
  const described = Array.from(table.matchAll(/^\| `([^`]+?)\/?` \|/gm), ([, name]) => name)
  assert.deepEqual(described.sort(), [...new Set(sources.map(({ path }) => path.split('/')[0]))].sort())
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
      assert.equal(evasions({ path: 'a.ts', text: code }).length, evades ? 1 : 0)
    })
  }

  test('of every file are checked', () => {
    assert.deepEqual(sources.flatMap(evasions), [])
  })
})
