/** The records of decisions stay short, whole and findable. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { linksOf } from '../../support/docs/page.ts'

const MOST_LINES = 15

const folder = fileURLToPath(new URL('../../../docs/decisions/', import.meta.url))
const records = readdirSync(folder).filter((name) => name !== 'README.md')

describe('a record of a decision', () => {
  for (const name of records) {
    test(name, () => {
      const text = readFileSync(folder + name, 'utf8')
      assert.match(name, /^[a-z0-9]+(-[a-z0-9]+)*\.md$/)
      assert.ok(text.trimEnd().split('\n').length <= MOST_LINES, `more than ${MOST_LINES} lines`)
      assert.match(
        text,
        /^# .+\n\n\*\*Context\.\*\* [\s\S]+\n\n\*\*Decision\.\*\* [\s\S]+\n\n\*\*Consequence\.\*\* [\s\S]+$/,
      )
    })
  }

  test('is in the index once, and the index has no others', () => {
    const listed = linksOf(readFileSync(`${folder}README.md`, 'utf8')).filter((link) => !link.startsWith('..'))
    assert.deepEqual(listed.toSorted(), records.toSorted())
  })
})
