/** Tests give the same result at any time, in any time zone. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const ZONES = ['UTC', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Kiritimati']
const RUNS_IN_A_ZONE = 5
const DAY_MS = 86_400_000

/** Runs the tests of the samples with snapshots of all they do, on days that lie far apart. */
const program = `
  const RealDate = Date
  let shift = 0
  globalThis.Date = class extends RealDate {
    constructor(...given) { given.length === 0 ? super(RealDate.now() + shift) : super(...given) }
    static now() { return RealDate.now() + shift }
  }
  const { runSamples } = await import(${JSON.stringify(new URL('../../../support/try/tests/sample-snapshots.ts', import.meta.url).href)})
  const first = await runSamples()
  let failed = 0
  for (let run = 0; run < ${RUNS_IN_A_ZONE}; run += 1) {
    shift = (run - 1) * ${DAY_MS * 97 + 12_345_678}
    if ((await runSamples()) !== first) failed += 1
  }
  console.log(JSON.stringify({ failed, first }))`

test('the samples do the same in every run, time zone and year', async () => {
  const runs = await Promise.all(
    ZONES.map(async (TZ) => {
      const child = spawn(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program],
        {
          cwd: ROOT,
          env: { ...process.env, TZ },
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      )
      let text = ''
      child.stdout.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      await once(child, 'close')
      return JSON.parse(text) as { failed: number; first: string }
    }),
  )
  assert.deepEqual(
    runs.map(({ failed }) => failed),
    ZONES.map(() => 0),
  )
  assert.equal(new Set(runs.map(({ first }) => first)).size, 1)
  assert.ok((runs[0]?.first.length ?? 0) > 1_000)
})

test('every sample has tests', () => {
  const folders = readdirSync(join(ROOT, 'samples')).filter((name) =>
    statSync(join(ROOT, 'samples', name)).isDirectory(),
  )
  for (const folder of folders) {
    assert.ok(readdirSync(join(ROOT, 'samples', folder)).includes('endpoint.tests.json'), folder)
  }
})
