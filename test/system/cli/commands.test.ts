/** What only the process of a command shows: standard input, `--watch`, exit codes of its arguments, and files of one for another. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { DOCUMENT, folderOf } from '../../support/cli/project/folder.ts'
import { DIRECT, type Program, startProgram } from '../../support/spawned-service.ts'
import { until } from '../../support/until.ts'

const shows = ({ output }: Program, text: RegExp) =>
  until(
    () => output.stdout + output.stderr,
    (all) => text.test(all),
  )

const tests = (hello: string) => ({
  tests: [{ name: 'a', given: { message: { body: { name: 'Ann' } } }, expect: { answer: { body: { hello } } } }],
})

/** Linux, proc_pid_syscall(5): the main thread is in `read` of descriptor 0, by the numbers of x64 and arm64. Where the system does not tell, the message comes at once. */
function waitsForInput(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/syscall`, 'utf8').match(/^(?:0|63) 0x0 /) !== null
  } catch {
    return true
  }
}

describe('crosswalk run', () => {
  const xml = {
    ...DOCUMENT,
    transformation: { input: 'XML', output: 'JSON' },
    inputMapping: { 'requestBody.id': 'id' },
  }
  const piped: readonly (readonly [text: string, code: number, stdout: string, stderr: RegExp])[] = [
    ['<order><id>18</id></order>', 0, '{"id":"18"}\n', /^$/],
    ['<order>', 1, '', /^standard input: error: BODY_/],
  ]
  for (const [text, code, stdout, stderr] of piped) {
    test(`reads ${text} from standard input`, async (context) => {
      const [program = '', ...first] = DIRECT
      const cwd = folderOf(context, { 'xml.json': xml })
      const child = spawn(program, [...first, 'run', 'xml.json', '--input', '-'], { cwd, env: {} })
      const output = { stdout: '', stderr: '' }
      child.stdout.on('data', (chunk) => (output.stdout += chunk))
      child.stderr.on('data', (chunk) => (output.stderr += chunk))
      // A program that has not written yet is waited for.
      await until(
        () => child.exitCode !== null || waitsForInput(child.pid ?? 0),
        (isReady) => isReady,
      )
      child.stdin.end(text)
      assert.deepEqual([...(await once(child, 'close')).slice(0, 1), output.stdout], [code, stdout])
      assert.match(output.stderr, stderr)
    })
  }

  test('runs again when a file changes, with --watch', async (context) => {
    const folder = folderOf(context, { 'a.json': DOCUMENT, 'input.json': { name: 'Ada' } })
    const args = ['run', 'a.json', '--input', 'input.json', '--watch']
    const program = startProgram(folder, { args, lifetimeMs: 60_000 })
    await shows(program, /\{"hello":"Ada"\}\n$/)
    writeFileSync(join(folder, 'input.json'), '{ "name": "Eve" }')
    await shows(program, /\{"hello":"Eve"\}\n$/)
    writeFileSync(join(folder, 'a.json'), '{ "name": "Gree')
    await shows(program, /a\.json:\d+:\d+: error: The JSON /)
    writeFileSync(join(folder, 'a.json'), JSON.stringify({ ...DOCUMENT, inputMapping: { 'requestBody.name': 'full' } }))
    await until(
      () => program.output.stdout,
      (stdout) => stdout.endsWith('{"full":"Eve"}\n'),
    )
    program.child.kill('SIGTERM')
    await program.ended
  })
})

describe('crosswalk test', () => {
  test('runs the tests again when a file changes, with --watch', async (context) => {
    const folder = folderOf(context, { 'a.json': DOCUMENT, 'a.tests.json': tests('Ann') })
    const program = startProgram(folder, { args: ['test', '--watch'] })
    await shows(program, /1 passed, 0 failed/)
    writeFileSync(join(folder, 'a.tests.json'), '{')
    await shows(program, /did not run/)
    writeFileSync(join(folder, 'a.tests.json'), JSON.stringify(tests('x')))
    await shows(program, /0 passed, 1 failed/)
    program.child.kill('SIGTERM')
    await program.ended
  })

  test('runs the tests that compare saves', async (context) => {
    const headers = { 'content-type': 'application/json' }
    const at = { timestamp: '2026-01-01T00:00:00.000Z' }
    const [abc, def] = ['Ada', 'Eve'].map((hello) => ({
      _id: hello === 'Ada' ? 'abc' : 'def',
      request: { path: '/greet', method: 'POST', headers, body: '{"name":"Ada"}', ...at },
      response: { status: 200, headers, body: JSON.stringify({ hello }), timestamp: 0 },
      orchestrations: [],
    }))
    const folder = folderOf(context, { 'documents/d.json': DOCUMENT, 'transactions.json': [abc ?? 0, def ?? 0] })
    const args = ['compare', '--openhim', 'transactions.json', '--endpoints', 'documents', '--save-tests', 'documents']
    const compared = startProgram(folder, { args })
    assert.deepEqual((await compared.ended).code, 2, compared.output.stderr)
    const tested = startProgram(folder, { args: ['test', 'documents'] })
    assert.equal((await tested.ended).code, 1, tested.output.stderr)
    assert.match(
      tested.output.stdout,
      /^documents\/greeting\.tests\.json: 1 passed, 1 failed\n {2}failed: transaction def\n/,
    )
  })
})

test('a reader that has enough ends no command', async () => {
  const [node, ...args] = DIRECT
  const child = spawn(node, [...args, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.destroy()
  const [errors, [code]] = await Promise.all([readText(child.stderr), once(child, 'exit')])
  assert.deepEqual([code, errors], [0, ''])
})
