/** Builds the console with Vite, where its sources have changed since the last build. */
import { createHash, randomUUID } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { InlineConfig, Rolldown } from 'vite'
import { writeGuide } from './guide-pages.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
export const CONSOLE = join(root, 'console')
/** Ignored by git and part of the package: the service serves this folder. */
export const BUILT = join(CONSOLE, 'built')
/** What a build was made of, in its folder. */
const SOURCES = 'sources.json'
type Sources = Readonly<{ hash: string; shared: readonly string[] }>

/** What decides the build, beside the packages and the files of the service that it imports, which each build lists. */
const INPUTS = [
  'console/index.html',
  'console/icon.svg',
  'console/src/**/*',
  'console/tsconfig.json',
  'tsconfig.json',
  'console/guide.css',
  'docs/**/*.md',
  'scripts/console/*.ts',
]

export const viteConfig = (outDir: string): InlineConfig => ({
  configFile: false,
  root: CONSOLE,
  base: '/console/',
  publicDir: false,
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', development: false } },
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [englishOnly],
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2023',
    manifest: 'manifest.json',
    // A file of its own each: the policy of the page allows no data URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      output: { hashCharacters: 'base36' },
      // Packages say "use client" for servers that render React; there is none here.
      onLog: (level, log, handle) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log)
      },
    },
  },
})

/** The console speaks English, as the API does: the words of React Aria in other languages would be two thirds of it. */
const englishOnly = {
  name: 'english-only',
  enforce: 'pre' as const,
  load: (id: string) =>
    /[/\\]react-aria(?:-components)?[/\\].*[/\\]intl[/\\]/.test(id) &&
    /[/\\][a-z]{2}-[A-Z]{2}\.m?js$/.test(id) &&
    !/en-US\.m?js$/.test(id)
      ? 'export default {}'
      : undefined,
}

/** A hash of every input of the build, the versions of packages included. `shared`: the files of the service that it imports. */
function hashSources(shared: readonly string[]): string {
  const hash = createHash('sha256')
  for (const path of [...globSync(INPUTS, { cwd: root }).sort(), ...shared]) {
    if (statSync(join(root, path)).isDirectory()) continue
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0')
  }
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Package>
  }
  const packages = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && dev === true)
  return hash.update(packages.map(([path, { version }]) => `${path} ${version}\n`).join('')).digest('hex')
}
type Package = Readonly<{ version?: string; dev?: boolean }>

/** Builds the console unless the build in place is that of the sources. */
export async function updateConsole(): Promise<void> {
  if (!isCurrent()) await buildConsole()
}

function isCurrent(): boolean {
  const file = join(BUILT, SOURCES)
  if (!existsSync(file)) return false
  const { hash, shared }: Sources = JSON.parse(readFileSync(file, 'utf8'))
  return shared.every((path) => existsSync(join(root, path))) && hash === hashSources(shared)
}

/** Builds into a folder beside it and swaps the two, so that a reader never gets half a build. */
export async function buildConsole(): Promise<void> {
  // Loaded here: an install without dev dependencies lacks it.
  const { build } = await import('vite')
  const fresh = `${BUILT}.${randomUUID()}`
  try {
    const shared = sharedFiles((await build(viteConfig(fresh))) as Rolldown.RolldownOutput)
    writeGuide(root, join(fresh, 'docs'))
    for (const path of filesOf(fresh)) precompress(join(fresh, path))
    const sources: Sources = { hash: hashSources(shared), shared }
    writeFileSync(join(fresh, SOURCES), JSON.stringify(sources))
    const old = `${fresh}.old`
    mkdirSync(BUILT, { recursive: true })
    renameSync(BUILT, old)
    renameSync(fresh, BUILT)
    rmSync(old, { recursive: true })
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

/** The files of src/ in a build, such as the grammar of paths. */
const sharedFiles = ({ output }: Rolldown.RolldownOutput): readonly string[] =>
  output
    .flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
    .filter((id) => id.startsWith(join(root, 'src/')))
    .map((id) => relative(root, id))
    .sort()

/** The paths of all files of a folder, sorted. */
export const filesOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()

/** The page itself has a nonce of its own in each answer, so only its parts can be compressed beforehand. */
function precompress(file: string): void {
  if (['index.html', 'manifest.json'].includes(basename(file))) return
  const body = readFileSync(file)
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: body.length }
  writeFileSync(`${file}.br`, brotliCompressSync(body, { params }))
  writeFileSync(`${file}.gz`, gzipSync(body, { level: 9 }))
}
