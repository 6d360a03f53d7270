/** Keeps the imports pointing one way, and the habits that a linter does not know. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

type Source = Readonly<{ path: string; text: string }>

/**
 * Who may import whom, under src/. A key is a folder or the start of a file's path; the longest that fits decides.
 * Values are read the same way. A folder may always import from itself.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'domain/': [],
  'language/': ['domain/'],
  'formats/': ['domain/'],
  'config/': ['domain/', 'language/', 'formats/'],
  'pipeline/': ['domain/', 'language/', 'formats/', 'config/'],
  'registry/': ['domain/', 'language/', 'formats/', 'config/', 'pipeline/'],
  'messages/': ['domain/', 'language/', 'formats/', 'config/', 'pipeline/', 'registry/'],
  'access/': ['domain/', 'messages/read-time.ts'],
  'adapters/jwt/': ['domain/'],
  'adapters/log/': ['domain/'],
  'adapters/secrets/': ['domain/', 'language/references.ts'],
  'adapters/http-client/': ['domain/', 'language/headers.ts', 'formats/'],
  'adapters/http-server/': ['domain/', 'language/headers.ts', 'formats/', 'registry/', 'messages/', 'access/'],
  'intake/': ['domain/', 'formats/media-type.ts', 'registry/'],
  'adapters/kafka/': ['domain/'],
  'adapters/otel/': ['domain/'],
  'adapters/sql/': ['domain/'],
  'adapters/sqlite/': ['domain/', 'adapters/sql/'],
  'adapters/postgres/': ['domain/', 'adapters/sql/'],
  settings: ['settings', 'domain/', 'language/headers.ts', 'language/path-steps.ts'],
  'guard.ts': [
    'access/',
    'adapters/http-client/',
    'adapters/http-server/protect.ts',
    'adapters/jwt/',
    'domain/',
    'settings.ts',
    'store.ts',
  ],
  'outbound.ts': ['adapters/http-client/', 'domain/', 'settings.ts'],
  'answers.ts': ['domain/', 'pipeline/', 'settings.ts', 'store.ts'],
  'isolation/': ['domain/', 'language/', 'pipeline/sandbox.ts'],
  'sandbox.ts': ['isolation/', 'domain/', 'settings.ts'],
  'broker.ts': ['adapters/kafka/', 'domain/', 'intake/', 'settings.ts'],
  'store.ts': ['adapters/sqlite/', 'adapters/postgres/', 'domain/', 'settings.ts', 'store-lock.ts'],
  'store-lock.ts': ['adapters/sqlite/service-lock.ts', 'settings.ts'],
  'store-commands.ts': ['adapters/sql/', 'adapters/sqlite/', 'adapters/postgres/', 'domain/', 'settings', 'store'],
  'key-commands.ts': ['access/', 'domain/', 'settings.ts', 'store.ts'],
  'tracing.ts': ['adapters/otel/', 'adapters/http-client/', 'domain/', 'registry/', 'settings.ts'],
  'workers/': ['domain/', 'metrics/', 'settings.ts'],
  'metrics/': ['domain/', 'registry/'],
  'observers.ts': ['domain/', 'messages/', 'metrics/', 'registry/', 'settings.ts', 'store.ts', 'tracing.ts'],
  'condition.ts': ['adapters/http-server/', 'domain/', 'metrics/', 'observers.ts', 'registry/', 'store.ts', 'workers/'],
  'servers.ts': [
    'adapters/http-server/',
    'condition.ts',
    'config/',
    'domain/',
    'guard.ts',
    'messages/',
    'pipeline/',
    'registry/',
    'settings.ts',
  ],
  'app.ts': [''],
  'main.ts': [
    'app.ts',
    'store-lock.ts',
    'key-commands.ts',
    'store-commands.ts',
    'workers/',
    'settings',
    'adapters/log/logger.ts',
    'domain/',
  ],
}

const LONGEST_FILE = 300

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

/** One sentence for each import that the table does not allow. */
function wrongImports(source: Source): string[] {
  const key = Object.keys(MAY_IMPORT)
    .filter((start) => source.path.startsWith(start))
    .sort((a, b) => b.length - a.length)[0]
  if (key === undefined) return [`src/${source.path} is in no row of the table: say there what it may import.`]
  const allowed = [...(MAY_IMPORT[key] ?? []), ...(key.endsWith('/') ? [key] : [])]
  return importsOf(source)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.join(posix.dirname(source.path), specifier))
    .filter((target) => !allowed.some((start) => target.startsWith(start)))
    .map((target) => `src/${source.path} must not import src/${target}.`)
}

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

describe('imports', () => {
  const cases: readonly { from: string; imports: string; wrong: boolean }[] = [
    { from: 'domain/a.ts', imports: "import { b } from './b.ts'", wrong: false },
    { from: 'domain/a.ts', imports: "import { b } from '../language/b.ts'", wrong: true },
    { from: 'domain/a.ts', imports: "import type {\n  B,\n} from '../language/b.ts'", wrong: true },
    { from: 'language/a.ts', imports: "export * from '../formats/b.ts'", wrong: true },
    { from: 'pipeline/stages/a.ts', imports: "import { b } from '../chain.ts'", wrong: false },
    { from: 'pipeline/stages/a.ts', imports: "await import('../../registry/b.ts')", wrong: true },
    { from: 'pipeline/stages/a.ts', imports: "import '../../adapters/sqlite/b.ts'", wrong: true },
    { from: 'pipeline/stages/a.ts', imports: "// import { b } from '../../registry/b.ts'", wrong: false },
    { from: 'adapters/http-server/a.ts', imports: "import { b } from '../../registry/b.ts'", wrong: false },
    { from: 'adapters/http-client/a.ts', imports: "import { b } from '../../registry/b.ts'", wrong: true },
    { from: 'adapters/http-client/a.ts', imports: "import { b } from '../../language/headers.ts'", wrong: false },
    { from: 'adapters/http-client/a.ts', imports: "import { b } from '../../language/path.ts'", wrong: true },
    { from: 'adapters/http-client/a.ts', imports: "import { b } from '../sqlite/b.ts'", wrong: true },
    { from: 'config/a.ts', imports: "import { settings } from '../settings.ts'", wrong: true },
    { from: 'main.ts', imports: "import { b } from './app.ts'", wrong: false },
    { from: 'main.ts', imports: "import { b } from './registry/b.ts'", wrong: true },
    { from: 'app.ts', imports: "import { b } from './registry/b.ts'", wrong: false },
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
    const long = sources.filter(({ text }) => text.trimEnd().split('\n').length > LONGEST_FILE)
    assert.deepEqual(
      long.map(({ path }) => path),
      [],
    )
  })

  test('are not named after nothing', () => {
    const empty = /(?:^|[/-])(?:utils?|helpers?|common|misc|ctx)(?:[/.-]|$)/
    assert.deepEqual(
      sources.map(({ path }) => path).filter((path) => empty.test(path)),
      [],
    )
  })
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
