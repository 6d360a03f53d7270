/** Where this fails, another version of Node.js keeps its ticks otherwise: look again at what is gained. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepTickShape } from '../src/tick-shape.ts'

test('what is kept is what Node.js makes for a tick', async () => {
  const tick = await keepTickShape()
  assert.deepEqual(
    Object.entries(tick).map(([name, value]) => [name, typeof value]),
    [
      ['callback', 'function'],
      ['args', 'undefined'],
    ],
  )
})
