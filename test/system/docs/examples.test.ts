/**
 * The guide says what the service does: every example in it is run, in the order of its page, by one service a page.
 *
 * Blocks, by the words after their three backquotes:
 * - `json endpoint`: a document, registered; in place of the one with its name, where there is one.
 * - `json tests`: a file of tests of the document before it; all pass.
 * - `http` with a request, or `sh` with `curl` commands: sent.
 * - `http call`: a call that the service makes to another system while it works on the request above, and the answer.
 * - `http` with an answer, `json answer` (its body alone): what came back. `text answer`: lines that are in it.
 *   A request without one must succeed; a document without one must be taken without a warning.
 * - `json schema`: an `inputValidation`; a table of messages and answers follows. Further words are settings.
 * - `json source`: a message, for the tables that follow. `json example`: `source`, `mapping` and `output`.
 * - Tables with a header that test/system/docs/tables.ts knows.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { blocksOf, type Fence, headingsOf, linksOf } from '../../support/docs/page.ts'
import { isExample, KNOWN, kindOf, PROSE, play } from './play.ts'

/** The secrets that examples refer to. */
Object.assign(process.env, {
  CROSSWALK_SECRET_TOKEN: 'abc',
  CROSSWALK_SECRET_KEY: 'a&b',
  CROSSWALK_SECRET_LAB: 'the-key-of-the-lab',
})

const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (page: string): string => readFileSync(join(root, page), 'utf8')

const filesIn = (folder: string) => readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
const pages = [
  'README.md',
  ...['docs', 'samples'].flatMap((folder) =>
    filesIn(folder)
      .filter((file) => file.isFile() && file.name.endsWith('.md'))
      .map((file) => join(file.parentPath, file.name).slice(root.length)),
  ),
]

describe('every page', () => {
  for (const page of pages) {
    test(`${page} has blocks of known kinds and links that lead somewhere`, () => {
      for (const block of blocksOf(read(page))) {
        if (block.kind !== 'fence') continue
        const known =
          KNOWN.includes(kindOf(block)) || (block.words.length === 1 && PROSE.includes(block.words[0] ?? ''))
        assert.ok(known, `line ${block.line}: the test knows no \`\`\`${block.words.join(' ')}`)
        if (block.words[0] === 'sh') assertSafeToPaste(block)
      }
      for (const link of linksOf(read(page))) assert.ok(leadsSomewhere(link, page), `the link to ${link}`)
    })
  }
})

/** A command that runs until Ctrl-C keeps those behind it from running; npx may run a package of a stranger. */
function assertSafeToPaste({ text, line }: Fence): void {
  const commands = text.trimEnd().split('\n')
  const runsOn = commands.findIndex((command) => /npm start(?! -s --| --)|--watch|--follow/.test(command))
  assert.ok(runsOn === -1 || runsOn === commands.length - 1, `line ${line}: ${commands[runsOn]}`)
  assert.doesNotMatch(text, /\bnpx crosswalk\b/, `line ${line}`)
}

function leadsSomewhere(link: string, page: string): boolean {
  const [path = '', heading] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(root, target))) return false
  return heading === undefined || headingsOf(read(target)).includes(heading)
}

for (const page of pages.filter((name) => !name.startsWith('samples/'))) {
  const blocks = blocksOf(read(page)).filter(isExample)
  if (blocks.length > 0) test(`${page} says what the service does`, (t) => play(read(page), blocks, t))
}
