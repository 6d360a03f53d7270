/** What the messages of all tests of the samples do, and one more document that draws random numbers and reads the clock. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createOfflineTests } from '../../../../src/app/offline.ts'
import { fillFiles } from '../../../../src/cli/test-suites.ts'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { checkTestFile } from '../../../../src/try/tests/check-test-file.ts'
import { loggerInto, readTestSettings } from '../../service.ts'

const SAMPLES = new URL('../../../../samples/', import.meta.url).pathname
const runTests = createOfflineTests(readTestSettings({}), loggerInto([]))
const read = (path: string): JsonObject => JSON.parse(readFileSync(path, 'utf8'))

const DRAWING: JsonObject = {
  name: 'drawing',
  endpoint: { pattern: '/drawing' },
  transformation: { input: 'JSON', output: 'JSON' },
  inputTransforms: {
    now: '$now("[Y]-[M]-[D] [H]:[m] [z]")',
    millis: '$millis()',
    drawn: '[$random(), $shuffle([1..9])]',
    local: '$toMillis("2020-07-01T12:00:00")',
    today: '$toMillis("07:30", "[H01]:[m01]")',
    evaluated: '$eval("$now()")',
  },
  inputMapping: {
    'transforms.now': 'now',
    'transforms.millis': 'millis',
    'transforms.drawn': 'drawn',
    'transforms.local': 'local',
    'transforms.today': 'today',
    'transforms.evaluated': 'evaluated',
    timestamps: 'timestamps',
    'requestBody.day': { key: 'day', transform: { function: 'dateTimeToDate' } },
  },
}

/** As JSON text; rejects if a test does not do what it expects. */
export async function runSamples(): Promise<string> {
  const snapshots: Json[] = []
  const run = async (document: JsonObject, tests: Json) => {
    const { file } = checkTestFile(tests)
    const kept = file.tests.map((one) => ({
      ...one,
      steps: one.steps.map((step) => ({ ...step, expect: { ...step.expect, snapshot: true } })),
    }))
    const report = await runTests(
      document,
      { ...file, tests: kept },
      {
        onSnapshot: (_test, _step, snapshot) => void snapshots.push(snapshot),
      },
    )
    const others = report.tests.flatMap(({ mismatches }) =>
      mismatches.filter(({ path }) => !path.endsWith('/snapshot')),
    )
    const unexpected = others.filter(({ path }) => !path.endsWith('/expect/failure'))
    if (unexpected.length > 0) throw new Error(JSON.stringify(unexpected))
  }
  for (const file of globSync('*/*.tests.json', { cwd: SAMPLES }).sort()) {
    const path = join(SAMPLES, file)
    await run(read(path.replace('.tests', '')), fillFiles(read(path), path, SAMPLES).raw)
  }
  const given = { message: { body: { day: '2026-03-29T02:30:00' } } }
  await run(DRAWING, { tests: [{ name: 'drawing', given, expect: { outcome: 'done' } }] })
  return JSON.stringify(snapshots)
}
