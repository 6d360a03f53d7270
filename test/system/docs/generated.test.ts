/** Documentation that is written from the code says what the code says. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { writeOrCheck } from '../../../scripts/generated.ts'
import { FAILURES } from '../../../src/domain/failure-table.ts'
import { readSettings } from '../../../src/settings/settings.ts'
import { SETTINGS } from '../../../src/settings/settings-table.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

describe('generated files', () => {
  for (const script of readdirSync(join(root, 'scripts')).filter((name) => /^docs-.*\.ts$/.test(name))) {
    test(`of scripts/${script} are as the code says`, () => {
      const { status, stderr } = spawnSync(process.execPath, [`scripts/${script}`, '--check'], {
        cwd: root,
        encoding: 'utf8',
      })
      assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
    })
  }

  test('are written, and checked without writing', (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'crosswalk-docs-'))
    t.after(() => rmSync(directory, { recursive: true }))
    const path = join(directory, 'a.md')
    const files = [{ path, text: 'as the code says\n' }]

    assert.match(writeOrCheck(files, ['--check']).join(), /a\.md is not up to date\. Run `npm run docs`/)
    assert.deepEqual(writeOrCheck(files, []), [])
    assert.deepEqual(writeOrCheck(files, ['--check']), [])

    writeFileSync(path, 'edited by hand\n')
    assert.equal(writeOrCheck(files, ['--check']).length, 1)
    assert.equal(readFileSync(path, 'utf8'), 'edited by hand\n')
  })
})

describe('docs/failures.md', () => {
  test('has a row for each code, with its status', () => {
    const text = read('docs/failures.md')
    for (const [code, { status }] of Object.entries(FAILURES))
      assert.ok(text.includes(`| \`${code}\` | ${status} |`), code)
  })
})

describe('docs/settings.md', () => {
  test('has a row for each setting, each of four columns', () => {
    const rows = read('docs/settings.md')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
    assert.deepEqual(
      rows.map((row) => row.split('`')[1]).toSorted(),
      Object.values(SETTINGS)
        .map(({ name }) => name)
        .toSorted(),
    )
    for (const row of rows) assert.equal(row.split('|').length, 6, row)
  })
})

describe('.env.example', () => {
  const lines = read('.env.example').split('\n')

  test('sets nothing as it is', () => {
    assert.deepEqual(
      lines.filter((line) => line !== '' && !line.startsWith('#')),
      [],
    )
  })

  test('with every line taken in gives the defaults', () => {
    const assignments = lines.filter((line) => /^#[A-Z_]+=/.test(line)).map((line) => line.slice(1).split(/=(.*)/))
    const env = Object.fromEntries(assignments.map(([name = '', value]) => [name, value]))
    assert.equal(assignments.length, Object.keys(SETTINGS).length)
    assert.deepEqual(readSettings(env), readSettings({}))
  })
})
