/** `crosswalk schema`: what it prints takes every file that the commands take, and refuses faults of form. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import Ajv, { type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { readProject } from '../../../src/cli/project/project-file.ts'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import { isError } from '../../../src/core/lint.ts'
import { checkDocument } from '../../../src/document/checks/check-document.ts'
import { checkTestFile } from '../../../src/try/tests/check-test-file.ts'
import rich from '../../data/rich-document.json' with { type: 'json' }
import { DOCUMENT, folderOf } from '../../support/cli/project/folder.ts'
import { runCommand } from '../../support/cli/run-command.ts'

const SAMPLES = fileURLToPath(new URL('../../../samples', import.meta.url))
const read = (file: string): JsonObject => JSON.parse(readFileSync(join(SAMPLES, file), 'utf8'))
const samples = globSync('*/endpoint*.json', { cwd: SAMPLES })
const isTests = (file: string) => file.endsWith('.tests.json')
const only = (part: JsonObject): JsonObject => ({ tests: [{ name: 'a', ...part }] })
const editor = { $schema: '../x.schema.json' }

type Kind = 'document' | 'tests' | 'project'
/** `isSound`: what the check of such files says. */
type Table = Readonly<{ isSound(file: Json): boolean; sound: readonly Json[]; faulty: readonly Json[] }>

const isRecord = (file: Json) => (isObject(file) ? file : {})

function tables(context: { after(work: () => void): void }): Readonly<Record<Kind, Table>> {
  return {
    document: {
      isSound: (file) => !checkDocument(file).lints.some(isError),
      sound: [
        rich,
        DOCUMENT,
        { ...DOCUMENT, ...editor },
        ...samples.filter((file) => !isTests(file)).map(read),
      ] as Json[],
      faulty: [
        [],
        { ...DOCUMENT, name: 17 },
        { ...DOCUMENT, colour: 'red' },
        { ...DOCUMENT, transformation: { input: 'JSONS', output: 'JSON' } },
        { ...DOCUMENT, inputTransforms: { a: 1 } },
        { ...DOCUMENT, requests: { lookup: [{ id: 'a' }] } },
        { ...DOCUMENT, kafkaConsumerTopic: 'a b' },
        { endpoint: {} },
      ],
    },
    tests: {
      isSound: (file) => !checkTestFile(file).lints.some(isError),
      sound: [{ tests: [] }, { ...editor, tests: [] }, ...samples.filter(isTests).map(read)],
      faulty: [
        [],
        {},
        { tests: [], colour: 'red' },
        only({}),
        only({ steps: [] }),
        only({ steps: [{}] }),
        only({ expect: {}, steps: [{ expect: {} }] }),
        only({ expect: { answr: {} } }),
        only({ expect: {}, given: { lookups: { a: { status: 1 } } } }),
        only({ expect: {}, given: { responses: { a: [{ fault: 'slow' }] } } }),
        only({ expect: {}, skip: ' ' }),
      ],
    },
    project: {
      isSound: (file) => {
        const { faults } = readProject(join(folderOf(context, { 'crosswalk.json': isRecord(file) }), 'crosswalk.json'))
        return isObject(file) && !faults.some(isError)
      },
      sound: [{}, editor, { labels: { a: 'b' }, targets: { test: { url: 'http://a', values: { A: 'b' } } } }],
      faulty: [
        [],
        { endpoint: [] },
        { endpoints: ['../a'] },
        { labels: { a: 1 } },
        { targets: { a: {} } },
        { targets: { a: { url: 'http://a', value: {} } } },
      ],
    },
  }
}

for (const kind of ['document', 'tests', 'project'] as const) {
  describe(`the schema of ${kind}`, () => {
    let validate: ValidateFunction
    before(async () => {
      const { code, stdout } = await runCommand('schema', [kind])
      assert.equal(code, 0)
      const ajv = new Ajv.default({ allErrors: true, strict: true, strictRequired: false })
      addFormats.default(ajv)
      validate = ajv.compile(JSON.parse(stdout))
    })

    test('takes what the check of such files takes', (context) => {
      const { sound, isSound } = tables(context)[kind]
      for (const file of sound) {
        // The commands read files that tests name before the check.
        assert.ok(JSON.stringify(file).includes('$file') || isSound(file), JSON.stringify(file))
        assert.ok(validate(file), `${JSON.stringify(validate.errors)} ${JSON.stringify(file).slice(0, 200)}`)
      }
    })

    test('refuses faults of form, as the check does', (context) => {
      const { faulty, isSound } = tables(context)[kind]
      for (const file of faulty) {
        assert.ok(!validate(file), JSON.stringify(file))
        assert.ok(!isSound(file), JSON.stringify(file))
      }
    })
  })
}

describe('the schema of document', () => {
  test('is printed without a kind, and takes what the command line fills in', async () => {
    const { stdout } = await runCommand('schema')
    assert.deepEqual(JSON.parse(stdout), JSON.parse((await runCommand('schema', ['document'])).stdout))
    const ajv = new Ajv.default({ strict: false })
    addFormats.default(ajv)
    const validate = ajv.compile(JSON.parse(stdout))
    const filledIn = {
      ...DOCUMENT,
      renamedFrom: 'Hello',
      transformation: { input: 'JSON', output: '${value:OUT}' },
      inputTransforms: { total: { $file: 'total.jsonata' } },
    }
    assert.ok(validate(filledIn), JSON.stringify(validate.errors))
    assert.ok(!validate({ ...filledIn, inputTransforms: { total: { $file: 'total.jsonata', more: 1 } } }))
  })
})
