/**
 * `npm run console`: builds the console into console/built and prints the sizes of its parts. `-- --check` fails where one is larger than
 * its budget; `-- --watch` builds again at each change; `-- --if-changed`, which `npm ci` and `npm pack` run, builds only
 * where the sources have changed, and prints nothing.
 */
import { join } from 'node:path'
import { CONSOLE_MISSING } from '../src/api/console-files.ts'
import { BUILT, buildConsole, CONSOLE, updateConsole } from './console/console-build.ts'
import { describeSize, sizesOf } from './console/console-sizes.ts'
import { watchFolder } from './console/watch-folder.ts'

const given = new Set(process.argv.slice(2))
if (given.has('--check')) await check()
else if (given.has('--if-changed')) await update()
else await buildAndReport()
if (given.has('--watch')) {
  console.log('Watching console/src until Ctrl-C; reload the page to see a change.')
  watchFolder(join(CONSOLE, 'src'), buildAndReport)
}

async function buildAndReport(): Promise<void> {
  await buildConsole()
  for (const part of sizesOf(BUILT)) console.log(describeSize(part))
}

async function check(): Promise<void> {
  await updateConsole()
  for (const part of sizesOf(BUILT)) {
    console.log(describeSize(part))
    if (part.bytes > part.limitBytes) fail(`The ${part.name} of the console is larger than its budget.`)
  }
}

/** An install must not fail because of the console; a package without it must not be made. */
async function update(): Promise<void> {
  try {
    await updateConsole()
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException
    fail(code === 'ERR_MODULE_NOT_FOUND' ? CONSOLE_MISSING : `The console could not be built: ${message}`)
    if (process.env.npm_lifecycle_event === 'dependencies') process.exitCode = 0
  }
}

function fail(sentence: string): void {
  console.error(sentence)
  process.exitCode = 1
}
