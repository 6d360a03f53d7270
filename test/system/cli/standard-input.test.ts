/** Commands that read standard input wait for a program that has not written yet. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { entry } from '../../../bin/entry.js'
import { until } from '../../support/until.ts'

/** Linux, proc_pid_syscall(5): the main thread is in `read` of descriptor 0, by the numbers of x64 and arm64. Where the system does not tell, the message comes at once. */
function waitsForInput(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/syscall`, 'utf8').match(/^(?:0|63) 0x0 /) !== null
  } catch {
    return true
  }
}

test('run takes a message that comes late', async (test) => {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-input-'))
  test.after(() => rmSync(folder, { recursive: true, force: true }))
  const document = join(folder, 'one.json')
  writeFileSync(
    document,
    JSON.stringify({
      name: 'one',
      endpoint: { pattern: '/one' },
      transformation: { input: 'JSON', output: 'JSON' },
      inputMapping: { 'requestBody.a': 'b' },
    }),
  )
  const child = spawn(process.execPath, [entry(), 'run', document, '--input', '-'], { cwd: folder, timeout: 60_000 })
  const written = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  await until(
    () => child.exitCode !== null || waitsForInput(child.pid ?? 0),
    (isReady) => isReady,
  )
  child.stdin.end('{"a":1}')
  const [stdout, stderr, [code]] = await written
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /"b": ?1/)
})
