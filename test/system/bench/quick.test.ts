/** The benchmark works, whatever it measures: every server answers every workload alike and every row is there. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Report } from '../../../bench/report/report.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

// What a process used is read from /proc.
const skip = process.platform !== 'linux'

test('a quick run measures everything once', { skip, timeout: 300_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-bench-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'report.json')
  const run = promisify(execFile)(process.execPath, ['bench/run.ts', '--quick', '--report', file], {
    cwd: root,
    timeout: 290_000,
  })

  const { stdout } = await run

  const { loads, figures, missing } = JSON.parse(readFileSync(file, 'utf8')) as Report
  const rows = [...loads, ...missing].map(({ workload, server }) => `${workload} ${server}`)
  for (const workload of ['W1', 'W2', 'W3', 'W4 in', 'W4 out', 'W5', 'W8']) {
    for (const server of ['bare', 'fastify', 'node-red', 'crosswalk']) {
      assert.ok(rows.includes(`${workload} ${server}`), `${workload} ${server}`)
    }
  }
  for (const row of ['W6 1 endpoint', 'W6 20 endpoints', 'W7 without state', 'W7 with state', 'WORKERS WORKERS=2']) {
    assert.ok(rows.includes(row), row)
  }
  for (const { workload, server, messagesPerSecond } of loads) {
    assert.ok(messagesPerSecond.median > 0, `${workload} ${server}`)
  }
  for (const { name, spread } of figures) assert.ok(spread.values.every(Number.isFinite), name)
  const keys = figures.map(({ key }) => key)
  for (const key of [
    'registering',
    'message-meanwhile',
    'start-empty',
    'start-stored',
    'idle-stored',
    'mapping-W1',
    'mapping-W5',
    'xml-in',
    'xml-out',
    'routing',
  ]) {
    assert.ok(keys.includes(key), key)
  }
  assert.match(stdout, /Not to be quoted/)
})
