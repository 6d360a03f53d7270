import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createMediatorVersions, toUrlPattern } from '../../../src/openhim/mediator.ts'
import fc from '../../support/fast-check.ts'
import { isGreater } from '../../support/openhim/strict-core.ts'

describe('versions of the mediator', () => {
  test('are the time in UTC, without leading zeros', () => {
    for (const [time, version] of [
      ['2026-11-23T09:30:05.999Z', '2026.1123.93005'],
      ['2027-01-02T00:00:07Z', '2027.102.7'],
      ['2026-12-31T23:59:59Z', '2026.1231.235959'],
    ] as const) {
      assert.equal(createMediatorVersions(() => Date.parse(time))(), version)
    }
  })

  test('grow whatever the clock does, and from one start of the service to the next', () => {
    const times = fc.integer({ min: Date.parse('2000-01-01'), max: Date.parse('2100-01-01') })
    fc.assert(
      fc.property(fc.array(times, { minLength: 2 }), (clocked) => {
        let at = 0
        const next = createMediatorVersions(() => clocked[at++] as number)
        const versions = clocked.map(next)
        for (const [index, version] of versions.entries()) {
          assert.match(version, /^\d{4}\.[1-9]\d*\.(0|[1-9]\d*)$/)
          if (index > 0) assert.ok(isGreater(version, versions[index - 1] as string), versions.join())
        }
      }),
    )
    fc.assert(
      fc.property(times, fc.integer({ min: 1_000, max: 1e10 }), (time, later) => {
        const [before, after] = [time, time + later].map((ms) => createMediatorVersions(() => ms)())
        assert.ok(isGreater(after as string, before as string), `${after} after ${before}`)
      }),
    )
  })
})

describe('the pattern of a channel', () => {
  const cases = [
    { pattern: '/', takes: ['/'], leaves: ['', '/a', '//'] },
    { pattern: '/patients', takes: ['/patients', '/patients/'], leaves: ['/patients/1', '/patientsx', '/x/patients'] },
    {
      pattern: '/patients/:id/notes',
      takes: ['/patients/7/notes', '/patients/%2F/notes/'],
      leaves: ['/patients//notes'],
    },
    { pattern: '/files/:a/*rest', takes: ['/files/1/2', '/files/1/2/3%2F/'], leaves: ['/files/1', '/files/1/'] },
    { pattern: '/a.b/$c+', takes: ['/a.b/$c+'], leaves: ['/axb/$c+', '/a.b/$cc'] },
  ]
  for (const { pattern, takes, leaves } of cases) {
    test(pattern, () => {
      const compiled = new RegExp(toUrlPattern(pattern))
      assert.deepEqual(
        [takes.filter((path) => !compiled.test(path)), leaves.filter((path) => compiled.test(path))],
        [[], []],
      )
    })
  }

  test('matches every path of the pattern', () => {
    const characters = fc.constantFrom(..."abcXYZ019-._~!$&'+,;=@".split(''))
    const literal = fc.string({ unit: characters, minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(fc.array(fc.tuple(literal, fc.boolean()), { maxLength: 6 }), (segments) => {
        const pattern = `/${segments.map(([name, isParameter]) => (isParameter ? ':id' : name)).join('/')}`
        const path = `/${segments.map(([name]) => name).join('/')}`
        assert.match(path, new RegExp(toUrlPattern(pattern)))
      }),
    )
  })
})
