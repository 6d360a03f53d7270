/** Snapshots catch what changes: in the document of each sample one text is changed at a time. What that alters is found by dry runs, which compare nothing. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createOfflineDryRun, createOfflineTests } from '../../../../src/app/offline.ts'
import { fillFiles } from '../../../../src/cli/test-suites.ts'
import { isObject, type Json, type JsonObject } from '../../../../src/core/json.ts'
import { checkTestFile } from '../../../../src/try/tests/check-test-file.ts'
import type { TestFile } from '../../../../src/try/tests/test-file.ts'
import { LONG } from '../../../support/form.ts'
import { loggerInto, readTestSettings } from '../../../support/service.ts'

const SAMPLES = new URL('../../../../samples/', import.meta.url).pathname

const settings = readTestSettings({})
const runTests = createOfflineTests(settings, loggerInto([]))
const dryRun = createOfflineDryRun(settings, loggerInto([]))

type Subject = Readonly<{ name: string; document: JsonObject; given: readonly JsonObject[] }>

const read = (path: string): JsonObject => JSON.parse(readFileSync(path, 'utf8'))

/** The messages of its tests. */
const samples = globSync('*/*.tests.json', { cwd: SAMPLES }).map((file): Subject => {
  const path = join(SAMPLES, file)
  const { tests } = fillFiles(read(path), path, SAMPLES).raw as { tests: readonly JsonObject[] }
  const steps = tests.flatMap((one) => (Array.isArray(one.steps) ? (one.steps as JsonObject[]) : [one]))
  return {
    name: file,
    document: read(path.replace('.tests', '')),
    given: steps.map(({ given }) => given as JsonObject),
  }
})

const snapshotTests = (given: readonly JsonObject[]): TestFile =>
  checkTestFile({ tests: given.map((one, n) => ({ name: `${n}`, given: one, expect: { snapshot: true } })) }).file

/** The answers and calls of all messages; undefined for a document that cannot run. */
async function effectsOf(document: JsonObject, given: readonly JsonObject[]): Promise<string | undefined> {
  const effects: Json[] = []
  for (const { message, state, ...answers } of given) {
    const { now: _now, secrets: _secrets, ...canned } = answers
    const request = {
      endpoint: document,
      message: { ...(message as JsonObject), ...(state === undefined ? {} : { state }) },
      ...canned,
    }
    const { ran, answer, calls } = await dryRun(JSON.stringify(request))
    if (ran !== true) return undefined
    const made = (calls as JsonObject[]).map(({ id, method, url, headers, body }) => ({
      id,
      method,
      url,
      headers,
      body: body ?? null,
    }))
    effects.push(answer ?? null, made as unknown as Json)
  }
  return JSON.stringify(effects.map(inOrder))
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'now')
    .replaceAll(/\b[0-9a-f]{24}\b/g, 'id')
}

/** The order of members is no difference, in bodies neither. */
function inOrder(value: Json): Json {
  if (typeof value === 'string' && /^[{[]/.test(value)) return inOrder(JSON.parse(value))
  if (Array.isArray(value)) return value.map(inOrder)
  if (!isObject(value)) return value
  const names = Object.keys(value).sort()
  return Object.fromEntries(names.map((name) => [name, inOrder(value[name] as Json)]))
}

/** The document with another text at one place at a time: of what it maps, computes, holds and sends. */
function* mutantsOf(document: JsonObject): Generator<Readonly<{ place: string; document: JsonObject }>> {
  for (const part of ['inputMapping', 'inputTransforms', 'constants', 'requests']) {
    for (const [place, value] of changedTexts(document[part] ?? {})) {
      yield { place: `${part}${place}`, document: { ...document, [part]: value } }
    }
  }
}

function* changedTexts(value: Json): Generator<readonly [place: string, Json]> {
  if (typeof value === 'string') yield ['', value.replace(/(\w)(\W*)$/, '$1Mutant$2')]
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    // What is given for a request names it.
    if (name === 'id') continue
    for (const [place, changed] of changedTexts(inner as Json)) {
      yield [
        `.${name}${place}`,
        Array.isArray(value) ? value.with(Number(name), changed) : { ...value, [name]: changed },
      ]
    }
  }
}

/** The short form takes some of the mutants. */
const STRIDE = LONG ? 1 : 7

test('of the changes that alter output or calls of the samples, snapshots catch 99 of 100', async () => {
  let altering = 0
  const missed: string[] = []
  for (const { name, document, given } of samples) {
    const before = await effectsOf(document, given)
    assert.ok(before !== undefined, name)
    const tests = snapshotTests(given)
    const snapshots: Record<string, JsonObject> = {}
    await runTests(document, tests, {
      onSnapshot: ({ name: own }, _step, one) => void Object.assign(snapshots, { [own]: one }),
    })
    for (const mutant of [...mutantsOf(document)].filter((_one, n) => n % STRIDE === 0)) {
      const after = await effectsOf(mutant.document, given)
      if (after === undefined || after === before) continue
      altering += 1
      const { failed } = await runTests(mutant.document, tests, { snapshots })
      if (failed === 0) missed.push(`${name} ${mutant.place}`)
    }
  }
  assert.ok(altering > 100 / STRIDE, `${altering}`)
  assert.ok(missed.length <= altering / 100, missed.join('\n'))
})
