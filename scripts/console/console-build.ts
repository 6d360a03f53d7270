/** Builds the console with Vite, and compares a build with the sources. */
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
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { InlineConfig } from 'vite'

const root = fileURLToPath(new URL('../..', import.meta.url))
export const CONSOLE = join(root, 'console')
/** Committed and shipped: the service serves this folder. */
export const BUILT = join(CONSOLE, 'built')
/** The hash of the sources of a build, in its folder. */
const SOURCES = 'sources.sha256'

/** Everything that decides the build. */
const INPUTS = [
  'console/index.html',
  'console/icon.svg',
  'console/src/**/*',
  'console/tsconfig.json',
  // The grammar of paths, which the mapping view shares with the service.
  'src/language/{mapping/target,paths/path-steps}.ts',
  'src/domain/{json,lint}.ts',
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

/** A hash of every input of the build, the versions of packages included. */
export function hashOfSources(): string {
  const hash = createHash('sha256')
  for (const path of globSync(INPUTS, { cwd: root }).sort()) {
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

export const isBuildCurrent = (folder = BUILT): boolean => {
  const file = join(folder, SOURCES)
  return existsSync(file) && readFileSync(file, 'utf8').trim() === hashOfSources()
}

/** Builds into a folder beside it and swaps the two, so that a reader never gets half a build. */
export async function buildConsole(folder = BUILT): Promise<void> {
  // Loaded here: most tests of the console only compare the hash.
  const { build } = await import('vite')
  const sources = hashOfSources()
  const fresh = `${folder}.${randomUUID()}`
  try {
    await build(viteConfig(fresh))
    for (const path of filesOf(fresh)) precompress(join(fresh, path))
    writeFileSync(join(fresh, SOURCES), `${sources}\n`)
    const old = `${fresh}.old`
    mkdirSync(folder, { recursive: true })
    renameSync(folder, old)
    renameSync(fresh, folder)
    rmSync(old, { recursive: true })
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

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
