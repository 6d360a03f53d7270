/** A table that the process has no memory to read is refused, and the process goes on. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

const TABLES = new URL('../../../src/tables/', import.meta.url)

const PROGRAM = `
  import { TABLE_FORMATS } from '${TABLES}table-formats.ts'
  import { readTable } from '${TABLES}table-thread.ts'
  const outcomes = []
  for (const megabytes of [80, 2]) {
    const bytes = Buffer.alloc(megabytes * 1_000_000, '{"code":"a"},')
    bytes.write('['.padEnd(bytes.indexOf(',') + 1))
    const end = bytes.write(']', bytes.lastIndexOf(',')) + bytes.lastIndexOf(']')
    const reading = await readTable(TABLE_FORMATS.json, bytes.subarray(0, end)).catch(({ code }) => ({ code }))
    outcomes.push(reading.code ?? reading.ok)
  }
  console.log(JSON.stringify(outcomes))
`

test('a table beyond the memory of the process is refused, and a smaller one is read', () => {
  const flags = ['--max-old-space-size=60', '--eval', PROGRAM]
  const stdio = ['ignore', 'pipe', 'ignore'] as const
  const outcomes = JSON.parse(execFileSync(process.execPath, flags, { encoding: 'utf8', stdio: [...stdio] }))
  assert.deepEqual(outcomes, ['TABLES_FULL', false])
})
