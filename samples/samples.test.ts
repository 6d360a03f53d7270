import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { SuiteResult } from '../src/cli/test.ts'
import type { JsonObject } from '../src/core/json.ts'
import { runCommand } from '../test/support/cli/run-command.ts'
import { startService } from '../test/support/service.ts'

type ListedSample = Readonly<{ name: string; text: string; document: string; tests: readonly JsonObject[] }>

const entries = readdirSync(import.meta.dirname, { withFileTypes: true })
const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
const documents = folders.flatMap((folder) =>
  readdirSync(join(import.meta.dirname, folder))
    .filter((file) => /^endpoint[^.]*\.json$/.test(file))
    .map((file) => join(folder, file)),
)
const read = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8')

for (const folder of folders) {
  test(`${folder} is in the index, and its README names its documents`, () => {
    assert.ok(read('README.md').includes(`(${folder}/README.md)`))
    const readme = read(`${folder}/README.md`)
    for (const path of documents.filter((document) => document.startsWith(`${folder}/`))) {
      assert.ok(readme.includes(path.slice(folder.length + 1)), path)
    }
  })
}

test('all documents can be registered in one service, beside each other and as they are', async (t) => {
  const service = await startService()
  t.after(service.stop)
  for (const path of documents) {
    const reply = await service.fetch('/endpoints', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: read(path),
    })
    assert.equal(reply.status, 201, `${path}: ${reply.text}`)
    assert.equal(reply.headers.get('x-crosswalk-warnings'), null, path)
  }
  const stored = (await service.fetch('/endpoints')).json<JsonObject[]>()
  assert.equal(stored.length, documents.length)
})

test('the service lists all documents with their tests, which have the contents of files', async (t) => {
  const service = await startService()
  t.after(service.stop)
  const { samples } = (await service.fetch('/endpoints/samples')).json<{ samples: readonly ListedSample[] }>()
  assert.deepEqual(samples.map(({ document }) => document).sort(), documents.map(read).sort())
  for (const { name, text, document, tests } of samples) {
    assert.match(text, /^[A-Z].*\.$/, name)
    const reply = await service.fetch('/endpoints/tests/run', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ endpoint: JSON.parse(document), tests }),
    })
    const { passed } = reply.json<{ passed: number }>()
    assert.deepEqual([reply.status, passed], [200, tests.length], `${name}: ${reply.text}`)
  }
})

test('all documents do what their tests expect', async (t) => {
  const { code, stdout } = await runCommand('test', [import.meta.dirname], { json: true }, { env: { CI: 'true' } })
  const { files } = JSON.parse(stdout) as { files: readonly SuiteResult[] }
  for (const { file, lints, report } of files) {
    assert.deepEqual(lints, [], file)
    for (const { name, mismatches } of report?.tests ?? []) {
      await t.test(`${file}: ${name}`, () => assert.deepEqual(mismatches, []))
    }
  }
  assert.equal(code, 0)
  assert.equal(files.length, documents.length)
})
