/** `crosswalk new`: the document lints clean, keeps the fields of the sample, and replaces no file. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createOfflineServices } from '../../../src/app/offline.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { checkFiles } from '../../../src/endpoints/check-files.ts'
import { readSettings } from '../../../src/settings/settings.ts'
import { newDocument, withoutFaults } from '../../../src/try/suggestions/draft-endpoint.ts'
import { DOCUMENT, folderOf } from '../../support/cli/project/folder.ts'
import { runArguments } from '../../support/cli/run-command.ts'
import fc from '../../support/fast-check.ts'

const reading = readSettings({})
if (!reading.ok) throw new Error(reading.faults.join('\n'))
const { settings } = reading

type Case = Readonly<{
  name: string
  args: readonly string[]
  project?: Json
  code?: number
  file: string
  stderr?: RegExp
}>

const CASES: readonly Case[] = [
  { name: 'a document', args: ['Lab orders'], file: 'lab-orders.json' },
  { name: 'one from XML', args: ['Lab orders', '--sample', 'order.xml'], file: 'lab-orders.json' },
  { name: 'one of a project', args: ['Lab orders'], project: {}, file: 'endpoints/lab-orders.json' },
  {
    name: 'one of a project with another folder',
    args: ['../Lab'],
    project: { endpoints: ['a/b/*.json', 'endpoints/*.json'] },
    file: 'a/b/lab.json',
  },
  {
    name: 'a name that is taken',
    args: ['Greeting'],
    project: {},
    code: 3,
    file: 'endpoints/greeting.json',
    stderr: /name: endpoints\/there\.json has this name already/,
  },
  {
    name: 'a sample of another kind',
    args: ['A', '--sample', 'text.bin'],
    code: 3,
    file: 'a.json',
    stderr: /text\.bin: The JSON is not well-formed/,
  },
]

describe('new', () => {
  for (const { name, args, project, code = 0, file, stderr } of CASES) {
    test(`writes ${name}`, async (context) => {
      const folder = folderOf(context, {
        ...(project === undefined ? {} : { 'crosswalk.json': project }),
        'endpoints/there.json': DOCUMENT,
        'order.json': { id: '1', patient: { name: 'Ada' }, 'a.b': [1], 'with [0]': null, __proto__x: true },
        'order.xml': '<order nr="1"><id>1</id><line>a</line><line>b</line></order>',
        'text.bin': 'hello',
      })
      const run = (...given: readonly string[]) => runArguments(given, { cwd: folder })
      const made = await run('new', ...args)
      assert.equal(made.code, code, made.stderr)
      if (stderr !== undefined) assert.match(made.stderr, stderr)
      assert.equal(existsSync(join(folder, file)), code === 0)
      if (code !== 0) return
      const tests = file.replace(/json$/, 'tests.json')
      assert.equal(made.stdout, `${file}\n${tests}\n`)
      const lint = await run('lint', '--strict', file)
      assert.equal(lint.code, 0, lint.stdout)
      const tested = await run('test', file)
      assert.equal(tested.code, 0, tested.stdout)
      assert.match(tested.stdout, /1 passed, 0 failed/)
      writeFileSync(join(folder, file), 'mine')
      const again = await run('new', ...args)
      assert.equal(again.code, 3)
      assert.match(again.stderr, /already exists and is not replaced/)
      assert.equal(readFileSync(join(folder, file), 'utf8'), 'mine')
    })
  }

  test('gives what the sample has', async (context) => {
    const folder = folderOf(context, { 'order.json': { id: '1', patient: { name: 'Ada' }, 'a.b': [1] } })
    const run = (...given: readonly string[]) => runArguments(given, { cwd: folder })
    await run('new', 'Order', '--sample', 'order.json')
    // The sample has the name of the file that the document would get.
    assert.match((await run('run', 'order.json', '--input', 'order.json')).stderr, /error/)
    await run('new', 'Order 2', '--sample', 'order.json')
    const same = await run('run', 'order-2.json', '--input', 'order.json')
    assert.equal(same.code, 0, same.stderr)
    const sample: Json = JSON.parse(readFileSync(join(folder, 'order.json'), 'utf8'))
    assert.deepEqual(JSON.parse(same.stdout), sample)
    const { tests } = JSON.parse(readFileSync(join(folder, 'order-2.tests.json'), 'utf8')) as { tests: JsonObject[] }
    assert.deepEqual(tests[0]?.expect, { outcome: 'done', answer: { status: 200, body: sample } })
  })

  test('derives the document of examples, with a test of each', async (context) => {
    const pair = (id: string, name: string) => ({
      [`pairs/${id}.in.xml`]: `<patient nr="${id}"><name>${name}</name></patient>`,
      [`pairs/${id}.out.json`]: { reference: `Patient/${id}`, name: name.toUpperCase() },
    })
    const folder = folderOf(context, {
      ...pair('47', 'Ann'),
      ...pair('812', 'Bob'),
      'pairs/unnamed.in.xml': '<patient nr="9913"/>',
      'pairs/unnamed.out.json': { reference: 'Patient/9913' },
      'pairs/unnumbered.in.xml': '<patient><name>Cleo</name></patient>',
      'pairs/unnumbered.out.json': { name: 'CLEO' },
    })
    const run = (...given: readonly string[]) => runArguments(given, { cwd: folder })
    const made = await run('new', 'Patients', '--examples', 'pairs')
    assert.equal(made.code, 0, made.stderr)
    assert.match(made.stderr, /2 places of the output were found, 0 are questions/)
    const tested = await run('test', 'patients.json')
    assert.match(tested.stdout, /4 passed, 0 failed/)
    for (const [args, fault] of [
      [['--examples', 'none'], /none is not a folder/],
      [['--examples', 'pairs', '--sample', 'pairs/47.in.xml'], /either --sample or --examples/],
    ] as const) {
      const refused = await run('new', 'Other', ...args)
      assert.equal(refused.code, 3)
      assert.match(refused.stderr, fault)
    }
  })

  test('lints clean for any sample', async () => {
    const check = async (document: Json) => {
      const [one] = await checkFiles([{ file: '', document }], { services: createOfflineServices(settings), settings })
      return one?.lints ?? []
    }
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (sample) => {
        const value: Json = JSON.parse(JSON.stringify(sample))
        const { lints } = await withoutFaults(
          newDocument('Any', '/any', { value, format: 'JSON', text: JSON.stringify(value) }),
          check,
        )
        assert.deepEqual(lints, [])
      }),
      { numRuns: 200 },
    )
  })
})
