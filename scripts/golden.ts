/**
 * Records what a user of a tree can observe: the management API, messages with their log entries, commands, generated documents.
 * `node bin/node.js scripts/golden.ts <tree> <folder>`; two recordings are compared with `diff -r`.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { recordApi } from './golden/record-api.ts'
import { recordCommands } from './golden/record-commands.ts'
import { recordMessages } from './golden/record-messages.ts'
import { Recording } from './golden/recording.ts'
import { StableText } from './golden/stable-text.ts'

const GENERATED = ['docs/settings.md', 'docs/failures.md', 'docs/endpoint-document.md', 'docs/cli.md', '.env.example']

const [tree, out, only] = process.argv.slice(2)
if (tree === undefined || out === undefined) {
  process.stderr.write('Give the root of a tree and the folder for the recording.\n')
  process.exit(1)
}
const started = performance.now()
const stable = new StableText()
const work = mkdtempSync(join(tmpdir(), 'crosswalk-golden-'))
stable.name(work, 'work')
stable.name(resolve(tree), 'tree')
const recording = new Recording(resolve(tree), resolve(out), work, stable)

const PARTS = { messages: recordMessages, api: recordApi, commands: recordCommands }
try {
  rmSync(out, { recursive: true, force: true })
  for (const file of GENERATED) {
    if (existsSync(join(tree, file))) recording.copy(`generated/${file}`, readFileSync(join(tree, file), 'utf8'))
  }
  const parts = Object.entries(PARTS).filter(([name]) => only === undefined || only === name)
  // Each has services and files of its own.
  await Promise.all(parts.map(([, record]) => record(recording)))
  recording.save()
} finally {
  rmSync(work, { recursive: true, force: true })
}
process.stdout.write(
  `${recording.calls} calls in ${Math.round((performance.now() - started) / 1000)} s: ${resolve(out)}\n`,
)
