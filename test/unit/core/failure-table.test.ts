import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { FAILURES, isFailureCode, kindForCode } from '../../../src/core/failure-table.ts'

const SOURCES = new URL('../../../src/', import.meta.url)

/** A code that is compared, or that stands in a list. */
const ASKED_BY_NAME = /(?:[=!]==|\bcase|[[,]|\bincludes\(|\bhas\()\s*'([A-Z_]+)'(?!\s*,\s*(?:'|`|\w+\())/g

describe('the table of failures', () => {
  test('is the only place that knows what a code stands for', () => {
    const paths = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
    const found = paths
      .filter((path) => path !== 'core/failure-table.ts')
      .flatMap((path) =>
        Array.from(readFileSync(new URL(path, SOURCES), 'utf8').matchAll(ASKED_BY_NAME), ([, code = '']) => ({
          path,
          code,
        })),
      )
      // Kafka has an error of the same name as one of ours; a route lists the failures of its handler.
      .filter(({ path, code }) => isFailureCode(code) && !/^(?:outbound\/kafka|inbound\/kafka|api)\//.test(path))
    assert.deepEqual(found, [])
  })

  test('gives a code of another version the row of INTERNAL', () => {
    for (const code of ['', 'NEW_IN_2030', 'toString']) assert.equal(kindForCode(code), FAILURES.INTERNAL)
  })
})
