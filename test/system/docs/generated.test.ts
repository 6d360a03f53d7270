/** Documentation that is written from the code says what the code says. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
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
