/** A capture that is replaced or ended keeps the messages that were answered before. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMessageCaptures } from '../../../../src/records/message-log/captures.ts'

for (const [name, change] of [
  ['start', (captures) => captures.start('e', { messages: 2 }, 'tester')],
  ['end', (captures) => captures.end('e')],
] satisfies [string, (captures: ReturnType<typeof createMessageCaptures>) => Promise<unknown>][]) {
  test(`${name} changes the store after the messages before have their places`, async () => {
    const steps: string[] = []
    const step = <T>(what: string, value: T) => {
      steps.push(what)
      return Promise.resolve(value)
    }
    const captures = createMessageCaptures({
      store: {
        active: () => step('active', []),
        claim: () => step('claim', { claimed: 0, remaining: 0 }),
        get: () => step('get', undefined),
        put: () => step('changed', true),
        remove: () => step('changed', true),
      },
      endpointService: { get: () => Promise.resolve({} as never) },
      reload: () => step('reloaded', undefined),
      caughtUp: () => step('caught up', undefined),
      clock: Date.now,
      newId: () => 'one',
    })
    await change(captures)
    assert.deepEqual(steps, ['caught up', 'changed', 'reloaded'])
  })
}
