/**
 * `npm run console`: builds the console into console/built. `-- --check` compares that folder with a build of the sources instead,
 * and the sizes with their budgets; `-- --watch` builds again at each change.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { BUILT, buildConsole, CONSOLE, filesOf } from './console/console-build.ts'
import { describeSize, sizesOf } from './console/console-sizes.ts'
import { watchFolder } from './console/watch-folder.ts'

if (process.argv.includes('--check')) await check()
else await buildAndReport()
if (process.argv.includes('--watch')) {
  console.log('Watching console/src until Ctrl-C; reload the page to see a change.')
  watchFolder(join(CONSOLE, 'src'), buildAndReport)
}

async function buildAndReport(): Promise<void> {
  await buildConsole()
  for (const part of sizesOf(BUILT)) console.log(describeSize(part))
}

async function check(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'crosswalk-console-'))
  try {
    await buildConsole(join(home, 'built'))
    if (!isSameBuild(BUILT, join(home, 'built'))) {
      fail('console/built is not the build of console/src. Run `npm run console` and commit the result.')
    }
    for (const part of sizesOf(join(home, 'built'))) {
      console.log(describeSize(part))
      if (part.bytes > part.limitBytes) fail(`The ${part.name} of the console is larger than its budget.`)
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** Compressed files are compared by what they hold: their bytes depend on the processor that compressed them. */
function isSameBuild(one: string, other: string): boolean {
  const paths = filesOf(one)
  if (paths.join('\n') !== filesOf(other).join('\n')) return false
  return paths.every((path) => contentOf(join(one, path)).equals(contentOf(join(other, path))))
}

function contentOf(file: string): Buffer {
  const bytes = readFileSync(file)
  if (file.endsWith('.br')) return brotliDecompressSync(bytes)
  return file.endsWith('.gz') ? gunzipSync(bytes) : bytes
}

function fail(sentence: string): void {
  console.error(sentence)
  process.exitCode = 1
}
