/** `crosswalk openapi`: the document that a service with the same endpoints gives, with published tests as examples. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { DOCUMENT, folderOf } from '../../support/cli/project/folder.ts'
import { type CommandOptions, runCommand } from '../../support/cli/run-command.ts'
import { json, startService } from '../../support/service.ts'
import { assertValid, type OpenApi } from '../../support/try/openapi/documents.ts'

const run = (files: readonly string[], options: CommandOptions = {}) =>
  runCommand('openapi', files, { apiVersion: '0.0.0', ...options }, { env: { SERVER_PORT: '0' } })

const TESTS: JsonObject = {
  tests: [
    {
      name: 'a greeting',
      publish: true,
      given: { message: { body: { name: 'Ada' } } },
      expect: { answer: { status: 200, body: { hello: 'Ada' } } },
    },
    { name: 'inner', given: { message: { body: { name: 'Eve' } } }, expect: { outcome: 'done' } },
    {
      name: 'a run, which no caller sends',
      publish: true,
      given: { message: { timestamps: { scheduledFor: '2026-01-01T02:30:00Z' } } },
      expect: { answer: { status: 200, body: {} } },
    },
    {
      name: 'any greeting',
      publish: true,
      given: { message: { body: { name: 'Bob' } } },
      expect: { answer: { body: { hello: { $matches: '.' } } } },
    },
  ],
}
const GREETING = { ...DOCUMENT, schedule: { every: '366d' } }
const NIGHTLY = { name: 'Nightly', schedule: { every: '366d' }, transformation: { output: 'JSON' } }
const STATUS = { ...DOCUMENT, name: 'Status', endpoint: { pattern: '/status/:id', method: 'GET' } }

const examplesIn = (media: Json | undefined): Json | undefined => (media as { examples?: Json } | undefined)?.examples

describe('crosswalk openapi', () => {
  test('refuses an origin that is no URL', async (context) => {
    const folder = folderOf(context, { 'greeting.json': DOCUMENT })
    for (const origin of ['bogus', 'ftp://host', '']) {
      const { code, stdout, stderr } = await run([folder], { origin })
      assert.deepEqual(
        { code, stdout, stderr },
        { code: 3, stdout: '', stderr: 'crosswalk: --origin must be an http(s) URL.\n' },
      )
    }
  })

  test('writes what the service gives for the same endpoints', async (context) => {
    const folder = folderOf(context, {
      'greeting.json': GREETING,
      'greeting.tests.json': TESTS,
      'nightly.json': NIGHTLY,
      'status.json': STATUS,
    })
    const output = join(folder, 'written.json')
    const { code, stdout, stderr } = await run([folder], { output })
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: '', stderr: '2 endpoints\n' })
    const written = JSON.parse(readFileSync(output, 'utf8')) as OpenApi
    await assertValid(written, 'written')

    const service = await startService()
    context.after(() => service.stop())
    const { _id } = await service.register(GREETING)
    await service.register(STATUS)
    await service.register(NIGHTLY)
    const stored = await service.fetch(`/endpoints/${_id}/tests`, json('PUT', TESTS))
    assert.equal(stored.status, 200, stored.text)
    assert.deepEqual((await service.fetch('/endpoints/openapi.json')).json(), written)

    const one = (await service.fetch(`/endpoints/${_id}/openapi.json`)).json<OpenApi>()
    const post = one.paths['/greet']?.post as unknown as {
      requestBody: { content: Record<string, JsonObject> }
      responses: Record<string, { content: Record<string, JsonObject> }>
    }
    assert.deepEqual(examplesIn(post.requestBody.content['application/json']), {
      'a-greeting-15ef5ad031a0': { summary: 'a greeting', value: { name: 'Ada' } },
      'any-greeting-2c2e37504225': { summary: 'any greeting', value: { name: 'Bob' } },
    })
    assert.deepEqual(examplesIn(post.responses['200']?.content['application/json']), {
      'a-greeting-15ef5ad031a0': { summary: 'a greeting', value: { hello: 'Ada' } },
    })
  })

  const refusals = [
    {
      name: 'a document with a fault',
      files: { 'a.json': { ...DOCUMENT, transformation: { input: 'JSON', output: 'JSONS' } } },
      code: 1,
      stderr: /a\.json:\d+:\d+: error: transformation\.output: .*JSONS/,
    },
    {
      name: 'a document whose fault has characters that steer a terminal',
      files: { 'a.json': { ...DOCUMENT, '\u001b[2J': 1 } },
      code: 1,
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there
      stderr: /^[^\u0000-\u0009\u000b-\u001f]+$/,
    },
    { name: 'a folder without documents', files: { 'a.txt': 'x' }, code: 3, stderr: /no documents/ },
  ]
  for (const { name, files, code, stderr } of refusals) {
    test(`writes nothing for ${name}`, async (context) => {
      const result = await run([folderOf(context, files)])
      assert.equal(result.code, code, result.stderr)
      assert.equal(result.stdout, '')
      assert.match(result.stderr, stderr)
    })
  }
})
