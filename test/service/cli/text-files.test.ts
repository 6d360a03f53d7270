/** What commands do with texts of documents in files, and `crosswalk render`, which shows the documents as sent. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { DOCUMENT, folderOf } from '../../support/cli/project/folder.ts'
import { runArguments } from '../../support/cli/run-command.ts'

const targets = {
  test: { url: 'http://127.0.0.1:1', values: { GREETING: 'Hello' } },
  prod: { url: 'http://127.0.0.1:2', values: { GREETING: 'Hi' } },
}
const greets: JsonObject = {
  name: 'greets',
  given: { message: { body: { name: 'Ann' } } },
  expect: { answer: { body: { hello: 'Hello Ann' } } },
}

const files = (expression: string): Readonly<Record<string, Json>> => ({
  'crosswalk.json': { $schema: 'x', labels: { project: 'a' }, targets },
  'endpoints/a.json': {
    $schema: '../document.schema.json',
    ...DOCUMENT,
    renamedFrom: 'Hello',
    constants: { token: '${env:CROSSWALK_SECRET_TOKEN}' },
    inputTransforms: { hello: { $file: 'hello.jsonata' } },
    inputMapping: { 'transforms.hello': 'hello' },
  },
  'endpoints/hello.jsonata': expression,
  'endpoints/a.tests.json': { $schema: 'y', tests: [greets] },
  'message.json': { name: 'Ann' },
})

const GREETING = '/* A greeting. */\n"${value:GREETING} " & requestBody.name\n'
const WRONG = '"${value:GREETING} " &\n  requestBody.name)\n'
const FAULT =
  /^endpoints\/a\.json:19:5: error: inputTransforms\.hello: Syntax error: "\)", near character \d+ of the expression\. \(hello\.jsonata:2:19\)/m

describe('a text in a file is used by', () => {
  const cases: readonly (readonly [command: string, code: number, stdout: RegExp])[] = [
    ['lint', 0, /^$/],
    ['run endpoints/a.json --input message.json --target test', 0, /^\{"hello":"Hello Ann"\}\n$/],
    ['test --target test', 0, /1 passed, 0 failed/],
    ['openapi --target test', 0, /"Greeting"/],
    ['render test', 0, /"hello": "\/\* A greeting\. \*\/\\n\\"Hello \\" & requestBody\.name"/],
  ]
  for (const [command, code, stdout] of cases) {
    test(command, async (context) => {
      const outcome = await runArguments(command.split(' '), { cwd: folderOf(context, files(GREETING)) })
      assert.equal(outcome.code, code, outcome.stdout + outcome.stderr)
      assert.match(outcome.stdout, stdout)
    })
  }

  for (const command of ['lint', 'run endpoints/a.json --input message.json --target test', 'test --target test']) {
    test(`${command}, which names it where it is wrong`, async (context) => {
      const outcome = await runArguments(command.split(' '), { cwd: folderOf(context, files(WRONG)) })
      assert.equal(outcome.code, 1)
      assert.match((outcome.stdout + outcome.stderr).replace(/^ +/gm, ''), FAULT)
    })
  }
})

describe('render', () => {
  test('prints the documents for a target, with their secrets as references', async (context) => {
    const cwd = folderOf(context, files(GREETING))
    const { code, stdout, stderr } = await runArguments(['render', 'prod'], {
      cwd,
      env: { CROSSWALK_SECRET_TOKEN: 'x' },
    })
    assert.deepEqual([code, stderr], [0, ''])
    assert.deepEqual(JSON.parse(stdout), [
      {
        ...DOCUMENT,
        constants: { token: '${env:CROSSWALK_SECRET_TOKEN}' },
        inputTransforms: { hello: '/* A greeting. */\n"Hi " & requestBody.name' },
        inputMapping: { 'transforms.hello': 'hello' },
        labels: { project: 'a' },
      },
    ])
  })

  const faults: readonly (readonly [args: string[], changes: Readonly<Record<string, Json>>, code: number, RegExp])[] =
    [
      [[], {}, 3, /Name a target: test, prod\./],
      [['tst'], {}, 3, /There is no target "tst".*did you mean "test"\?/],
      [['test', '--target', 'prod'], {}, 3, /Two targets are named/],
      [
        ['test'],
        { 'endpoints/b.json': { ...DOCUMENT, name: '${value:NONE}' } },
        1,
        /b\.json:2:3: error: name: .*no value "NONE"/,
      ],
      [
        ['test'],
        { 'endpoints/b.json': { ...DOCUMENT, name: 17 } },
        1,
        /b\.json:2:3: error: name: "name" must be a string/,
      ],
      [
        ['test'],
        { 'endpoints/b.json': { ...DOCUMENT, name: 'B', description: '${Value:A}' } },
        0,
        /b\.json:\d+:3: warning: description: /,
      ],
    ]
  for (const [args, changes, expected, says] of faults) {
    test(`${args.join(' ')} with ${JSON.stringify(changes)} says what is wrong`, async (context) => {
      const cwd = folderOf(context, { ...files(GREETING), ...changes })
      const { code, stderr } = await runArguments(['render', ...args], { cwd })
      assert.equal(code, expected, stderr)
      assert.match(stderr, says)
    })
  }
})
