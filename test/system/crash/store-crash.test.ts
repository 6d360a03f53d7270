import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshPath } from '../../support/adapters/sqlite/folder.ts'
import { LONG } from '../../support/form.ts'
import { runCrashRounds } from './crash-rounds.ts'
import { ABSENT, createLedger } from './ledger.ts'
import { compileStoreSubject } from './store-subject.ts'

const rounds = LONG ? 20 : 5

it(`loses nothing that was acknowledged when it is killed, ${rounds} times`, async (test) => {
  const seed = Date.now() % 2 ** 31
  const summary = await runCrashRounds(compileStoreSubject(freshPath(test)), rounds, seed)
  assert.deepEqual(summary.violations, [], `seed ${seed}`)
  assert.equal(summary.rounds, rounds)
  assert.ok(summary.acknowledged >= rounds, `only ${summary.acknowledged} operations were acknowledged`)
})

/** Acknowledges writes to the registers r0 to r4 for ever. */
const WRITER = `const { writeSync } = require('node:fs')
for (let n = 0; ; n++) writeSync(1, \`start \${n} r\${n % 5} v\${n}\\ndone \${n}\\n\`)`

const losses: readonly {
  name: string
  code?: string
  left: [string, string][]
  faults?: string[]
  violation: RegExp
}[] = [
  { name: 'forgot', left: [], violation: /^round 1: r0 holds -, and not one of v\d+/ },
  { name: 'made up', left: [['extra', 'x']], violation: /^round 1: extra holds x, and not one of -$/ },
  { name: 'tore', left: [['r0', 'torn']], violation: /^round 1: r0 holds torn, and not one of v\d+/ },
  { name: 'damaged', left: [], faults: ['integrity_check: bad'], violation: /^round 1: integrity_check: bad$/ },
  { name: 'died of', code: 'process.exit(3)', left: [], violation: /^round 1: the process ended by itself with 3/ },
]
for (const { name, code = WRITER, left, faults = [], violation } of losses) {
  it(`reports what a process ${name}`, async () => {
    const inspect = async () => ({ found: new Map(left), faults })
    const { violations } = await runCrashRounds({ command: () => ['--eval', code], inspect }, 1, 3)
    assert.ok(
      violations.some((text) => violation.test(text)),
      violations.join('\n'),
    )
  })
}

const histories = [
  { name: 'nothing happened', events: [], possible: [ABSENT] },
  { name: 'begun', events: ['start 1 a x'], possible: [ABSENT, 'x'] },
  { name: 'acknowledged', events: ['start 1 a x', 'done 1'], possible: ['x'] },
  { name: 'superseded by one in flight', events: ['start 1 a x', 'done 1', 'start 2 a y'], possible: ['x', 'y'] },
  { name: 'acknowledged out of order', events: ['start 1 a x', 'start 2 a y', 'done 2'], possible: ['y'] },
  { name: 'removed', events: ['start 1 a x', 'done 1', 'start 2 a -', 'done 2'], possible: [ABSENT] },
  {
    name: 'removed from above',
    events: ['start 1 a/b x', 'done 1', 'start 2 a -', 'done 2'],
    register: 'a/b',
    possible: [ABSENT],
  },
  {
    name: 'being removed from above',
    events: ['start 1 a/b x', 'done 1', 'start 2 a -'],
    register: 'a/b',
    possible: ['x', ABSENT],
  },
  {
    name: 'beside what is removed',
    events: ['start 1 ab x', 'done 1', 'start 2 a -', 'done 2'],
    register: 'ab',
    possible: ['x'],
  },
]
for (const { name, events, register = 'a', possible } of histories) {
  it(`knows what may be there: ${name}`, () => {
    const ledger = createLedger()
    for (const event of events) {
      const [kind, operation = '', target = '', value = ''] = event.split(' ')
      if (kind === 'start') ledger.start(operation, target, value)
      else ledger.acknowledge(operation)
    }
    assert.deepEqual(ledger.possible(register), possible)
  })
}
