import assert from 'node:assert/strict'
import { it } from 'node:test'
import { compileStatement } from '../../../../src/adapters/sql/statement.ts'
import { clashOf } from '../../../../src/adapters/sql/stores/endpoint-writes.ts'
import { compileAppend, compileNewest } from '../../../../src/adapters/sql/stores/state-statements.ts'
import { compileQueryBuilder } from '../../../../src/adapters/sqlite/dialect.ts'
import { filterOf } from '../../../support/contracts/records.ts'

const queries = compileQueryBuilder()

it('reports the name before the route in a clash', () => {
  const [mine, other] = [{ name: 'mine' }, { name: 'other' }]
  assert.deepEqual(
    [[], [mine], [other], [other, mine]].map((rows) => clashOf(rows, mine)),
    [undefined, 'name', 'route', 'name'],
  )
})

it('binds values by name, in the order of the text, beside those written into the query', () => {
  const statement = compileStatement<{ id: string; name: string }>((value) =>
    queries
      .selectFrom('endpoints')
      .select('id')
      .where('name', '=', value('name'))
      .where('id', 'in', ['x', value('id')]),
  )
  assert.equal(statement.sql.match(/\?/g)?.length, 3)
  assert.deepEqual(statement.bind({ id: 'an id', name: 'a name' }), ['a name', 'x', 'an id'])
  assert.deepEqual(statement.bind({ id: 'another', name: 'a name' }), ['a name', 'x', 'another'])
})

it('never writes a value into the text of a query', () => {
  const hostile = "' OR 1=1 --"
  const append = compileAppend(queries)
  const bound = append.bind({ endpointId: hostile, lookupStatus: 200, networkError: 0, state: hostile })
  assert.deepEqual(bound.toSorted(), [0, 200, hostile, hostile].toSorted())
  assert.ok(!append.sql.includes(hostile))
})

it('reads nothing where no state can pass', () => {
  assert.equal(compileNewest(queries, filterOf([], 'include')), undefined)
  assert.deepEqual(compileNewest(queries, filterOf('any', 'exclude'))?.bind({ endpointId: 'a' }), ['a', 0])
})
