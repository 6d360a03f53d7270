/** The decisions stay few, whole and findable. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { headingsOf, linksOf } from '../../support/docs/page.ts'

const MAX_ENTRIES = 60
const ENTRY = /^.+\n\n\*\*Context\.\*\* [\s\S]+\n\n\*\*Decision\.\*\* [\s\S]+\n\n\*\*Consequence\.\*\* [\s\S]+$/

const folder = fileURLToPath(new URL('../../../docs/decisions/', import.meta.url))
const pages = readdirSync(folder)
  .filter((name) => name !== 'README.md')
  .map((name) => {
    const text = readFileSync(folder + name, 'utf8')
    return { name, headings: headingsOf(text).slice(1), entries: text.split(/^## /m).slice(1) }
  })

describe('decisions', () => {
  for (const { name, entries } of pages) {
    test(`${name}: each entry has a context, a decision and a consequence`, () => {
      assert.ok(entries.length > 0)
      for (const entry of entries) assert.match(entry, ENTRY)
    })
  }

  test('each is in the index once, and the index has no others', () => {
    const listed = linksOf(readFileSync(`${folder}README.md`, 'utf8')).filter((link) => !link.startsWith('..'))
    const entries = pages.flatMap(({ name, headings }) => headings.map((heading) => `${name}#${heading}`))
    assert.ok(entries.length <= MAX_ENTRIES, `${entries.length} entries`)
    assert.deepEqual(listed.toSorted(), entries.toSorted())
  })
})
