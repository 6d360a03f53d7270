/** Where this fails, another version of Node.js counts otherwise: look again at what is gained. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

test('V8 counts how often a function has run, up to what is set again at the end', () => {
  const told = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8', maxBuffer: 2 ** 24 })
  const [, count] = /\n +type: int +default: --invocation-count-for-turbofan=(\d+)\n/.exec(told) ?? []
  assert.equal(count, '3000')
})
