/** Documents that people run, in both forms: converted, they register without error, and every change is reported. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../src/domain/json.ts'
import { convertSet, faultsOf, unreported } from './conversion-rig.ts'

const FOLDER = new URL('../../../../shared/real-documents/', import.meta.url).pathname
const isThere = existsSync(FOLDER)

if (!isThere) {
  test('conversions of documents that people run', (context) =>
    context.diagnostic('Not run: there is no folder ../shared/real-documents'))
}

describe('conversions of documents that people run', () => {
  if (!isThere) return
  for (const form of ['as-written', 'as-stored']) {
    const sets = globSync('*', { cwd: `${FOLDER}${form}` }).sort()
    for (const set of [...sets, '.']) {
      test(`${form}/${set}`, async () => {
        const names = globSync('**/*.json', { cwd: `${FOLDER}${form}/${set}` }).sort()
        const found = names.map(
          (name) => JSON.parse(readFileSync(`${FOLDER}${form}/${set}/${name}`, 'utf8')) as JsonObject,
        )
        const { documents, secrets } = convertSet(found)
        assert.deepEqual(
          documents.flatMap(({ document, changes }, index) => unreported(found[index] ?? {}, document, changes)),
          [],
        )
        const text = JSON.stringify(documents)
        for (const { name, value } of secrets) {
          assert.ok(text.includes(`\${env:${name}}`), name)
          assert.ok(!text.includes(value), name)
        }
        const faults = await faultsOf(documents)
        assert.deepEqual(
          faults.flatMap((some, index) => some.map((fault) => `${names[index]}: ${fault}`)),
          [],
        )
        assert.deepEqual(
          documents.flatMap(({ changes }) => changes.filter(({ level }) => level === 'lost')),
          [],
        )
        const again = convertSet(
          documents.map(({ document }) => document),
          { peerVersion: '3.3.0' },
        )
        assert.deepEqual(
          again.documents.map(({ document }) => document),
          documents.map(({ document }) => document),
        )
      })
    }
  }
})
