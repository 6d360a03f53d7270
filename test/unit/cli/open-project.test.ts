/** Every command that reads documents finds their project from them, or is given it. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Json } from '../../../src/core/json.ts'
import { DOCUMENT, folderOf } from '../../support/cli/project/folder.ts'
import { runCommand } from '../../support/cli/run-command.ts'

const COMMANDS = ['lint', 'test', 'coverage', 'openapi', 'run'] as const

const project = (word: string) => ({ targets: { test: { url: 'http://127.0.0.1:1', values: { WORD: word } } } })
const FILES: Readonly<Record<string, Json>> = {
  'lab/crosswalk.json': project('lab'),
  'lab/endpoints/deep/a.json': {
    ...DOCUMENT,
    constants: { word: '${value:WORD}' },
    inputMapping: { 'constants.word': 'word' },
  },
  'lab/endpoints/deep/a.tests.json': { tests: [{ name: 'a', expect: { answer: { body: { word: 'lab' } } } }] },
  'other/crosswalk.json': project('other'),
  'other/endpoints/b.json': { ...DOCUMENT, name: 'B', endpoint: { pattern: '/b' } },
  'other/endpoints/b.tests.json': { tests: [{ name: 'b', expect: { outcome: 'done' } }] },
  'none/c.json': { ...DOCUMENT, name: 'C', endpoint: { pattern: '/c' } },
  'none/c.tests.json': { tests: [{ name: 'c', expect: { outcome: 'done' } }] },
}
const A = 'lab/endpoints/deep/a.json'

async function run(name: (typeof COMMANDS)[number], folder: string, given: readonly string[], project?: string) {
  const at = (path: string) => join(folder, path)
  const options = { project: project && at(project) }
  const outcome = await runCommand(name, given.map(at), options, { env: { CI: 'true' } })
  return { ...outcome, all: outcome.stdout + outcome.stderr }
}

describe('the project of a document', () => {
  for (const name of COMMANDS) {
    test(`crosswalk ${name}`, async (context) => {
      const folder = folderOf(context, FILES)
      const found = await run(name, folder, [A])
      assert.equal(found.code, 0, `is found from the document upwards: ${found.all}`)
      if (name === 'run') assert.equal(found.stdout, '{"word":"lab"}\n')

      for (const named of ['other', 'other/crosswalk.json']) {
        const other = await run(name, folder, [A], named)
        // The tests of the document expect the word of its own project.
        assert.equal(other.code, /test|coverage/.test(name) ? 1 : 0, other.all)
        if (name === 'run') assert.equal(other.stdout, '{"word":"other"}\n')
      }
      const missing = await run(name, folder, [A], 'none')
      assert.deepEqual([missing.code, missing.stdout], [3, ''])
      assert.match(missing.stderr, /^crosswalk: --project is wrong: There is no crosswalk\.json in \S+none\.\n$/)

      const nowhere = await run(name, folder, [A], 'nowhere')
      assert.match(nowhere.stderr, /^crosswalk: --project is wrong: There is no file or folder \S+nowhere\.\n$/)

      if (name === 'run') return
      assert.equal((await run(name, folder, [], 'lab')).code, 0, 'documents of a named project')
      for (const other of ['other/endpoints/b.json', 'none/c.json']) {
        const mixed = await run(name, folder, [A, other])
        assert.deepEqual([mixed.code, mixed.stdout], [3, ''])
        assert.match(
          mixed.stderr,
          /a\.json belongs to \S*lab\/crosswalk\.json, and \S+ to (?:\S*other\/crosswalk\.json|no project)/,
        )
      }
      assert.equal((await run(name, folder, ['none/c.json'])).code, 0, 'a document without a project')
    })
  }

  test('crosswalk new', async (context) => {
    const folder = folderOf(context, FILES)
    const { code, stdout, stderr } = await runCommand('new', ['Lab orders'], { project: join(folder, 'lab') })
    assert.equal(code, 0, stderr)
    assert.match(stdout, /lab\/endpoints\/lab-orders\.json\n/)
  })
})
