import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import type { StateRecord } from '../../../../src/store/sql/states.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import { EVERYTHING, endpointOf, filterOf, idOf, insertEndpoint, stateOf } from '../../../support/contracts/records.ts'
import { silent } from '../../../support/silent.ts'
import { assertSound, freshPath, lookInto } from '../../../support/store/folder.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

async function openStore(test: TestContext) {
  const path = freshPath(test)
  const store = await openSqliteStore({ path, logger: silent })
  await insertEndpoint(store.endpoints, endpointOf(1))
  await insertEndpoint(store.endpoints, endpointOf(2))
  const end = async () => {
    await store.close()
    assertSound(path)
  }
  return { path, states: store.states, end }
}

/** `state` with a count of how often its values were read. */
function counted(state: StateRecord) {
  const counts = { reads: 0 }
  const record: StateRecord = {
    ...state,
    get values() {
      counts.reads += 1
      return state.values
    },
  }
  return { record, counts }
}

it('of states that wait together and would replace each other, makes and writes the newest only', async (test) => {
  const { path, states, end } = await openStore(test)
  const waiting = Array.from({ length: 60 }, (_, n) => counted(stateOf(`${n}`, 200 + (n % 2))))
  const other = states.append(idOf(2), stateOf('of another endpoint', 200))
  await Promise.all([other, ...waiting.map(({ record }) => states.append(idOf(1), record))])
  assert.deepEqual(
    waiting.flatMap(({ counts }, n) => (counts.reads === 0 ? [] : [[n, counts.reads]])),
    [
      [58, 1],
      [59, 1],
    ],
  )
  assert.deepEqual(await states.newest(idOf(1), EVERYTHING), stateOf('59', 201))
  assert.deepEqual(await states.newest(idOf(1), filterOf([[200, 200]])), stateOf('58', 200))
  assert.deepEqual(await states.newest(idOf(2), EVERYTHING), stateOf('of another endpoint', 200))
  const newest = lookInto(path, (db) => db.prepare('SELECT max(sequence) AS n FROM states').get())
  assert.equal(newest?.n, 2)
  await end()
})

/** A state whose values cannot be made a text. */
const unwritable: StateRecord = {
  ...stateOf('', 200),
  get values(): StateRecord['values'] {
    throw new RangeError('too long')
  },
}

it('writes the state before it where the newest cannot be written', async (test) => {
  const { states, end } = await openStore(test)
  const results = await Promise.allSettled(
    [stateOf('good', 200), unwritable, stateOf('other', 404)].map((record) => states.append(idOf(1), record)),
  )
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(await states.newest(idOf(1), filterOf([[200, 200]])), stateOf('good', 200))
  await end()
})

it('reports no state as written where two that replaced it cannot be', async (test) => {
  const { states, end } = await openStore(test)
  await states.append(idOf(1), stateOf('before', 200))
  const together = [stateOf('good', 200), unwritable, unwritable, stateOf('other', 404)]
  const results = await Promise.allSettled(together.map((record) => states.append(idOf(1), record)))
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected', 'rejected'],
  )
  assert.deepEqual(await states.newest(idOf(1), EVERYTHING), stateOf('before', 200))
  await states.append(idOf(1), stateOf('after', 200))
  assert.deepEqual(await states.newest(idOf(1), EVERYTHING), stateOf('after', 200))
  await end()
})

it('reads once for all that ask in the same turn, each filter and endpoint by itself', async (test) => {
  const { states, end } = await openStore(test)
  await states.append(idOf(1), stateOf('one', 404))
  await states.append(idOf(2), stateOf('two', 200))
  const found = states.newest(idOf(1), EVERYTHING)
  assert.equal(states.newest(idOf(1), EVERYTHING), found)
  assert.deepEqual(await states.newest(idOf(2), EVERYTHING), stateOf('two', 200))
  assert.equal(states.newest(idOf(1), filterOf([[200, 299]])), undefined)
  assert.deepEqual(await states.newest(idOf(1), EVERYTHING), stateOf('one', 404))
  await end()
})

it('gives the new state from the moment in which its writer is answered', async (test) => {
  const { states, end } = await openStore(test)
  await states.append(idOf(1), stateOf('first', 200))
  const written = states.append(idOf(1), stateOf('second', 200))
  await turn()
  assert.deepEqual(states.newest(idOf(1), EVERYTHING), stateOf('first', 200))
  await written
  assert.deepEqual(states.newest(idOf(1), EVERYTHING), stateOf('second', 200))
  await end()
})

it('sees in the next turn what another connection has written', async (test) => {
  const { path, states, end } = await openStore(test)
  await states.append(idOf(1), stateOf('own', 200))
  assert.deepEqual(states.newest(idOf(1), EVERYTHING), stateOf('own', 200))
  lookInto(path, (db) => db.prepare('UPDATE states SET state = ?').run(JSON.stringify(stateOf('theirs', 200).values)))
  await turn()
  assert.deepEqual(states.newest(idOf(1), EVERYTHING), stateOf('theirs', 200))
  await end()
})
