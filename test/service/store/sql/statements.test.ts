import assert from 'node:assert/strict'
import { it } from 'node:test'
import { among, anyCondition, join, render, sql, where } from '../../../../src/store/sql/sql.ts'
import { compileNewest } from '../../../../src/store/sql/states.ts'
import { filterOf } from '../../../support/contracts/records.ts'

it('binds values by name, in the order of the text, beside those between the texts', () => {
  const hostile = "' OR 1=1 --"
  const statement = sql<{ id: string; name: string }>`
    select id::text from endpoints ${where([sql`name = :name`, among('id', ['x', hostile]), sql`id <> :id`])}
    limit ${join([1])}`
  const { text, bind } = render(statement, 'postgres')
  assert.equal(
    text.replaceAll(/\s+/g, ' ').trim(),
    'select id::text from endpoints where name = $1 and id in ($2, $3) and id <> $4 limit $5',
  )
  assert.deepEqual(bind({ id: 'an id', name: 'a name' }), ['a name', 'x', hostile, 'an id', 1])
  assert.equal(render(statement, 'sqlite').text.match(/\?/g)?.length, 5)
})

it('finds nothing among no values, and demands nothing of no conditions', () => {
  assert.equal(
    render(sql`select 1 ${where([among('id', []), anyCondition([])])}`, 'sqlite').text,
    'select 1 where 1 = 0 and 1 = 0',
  )
  assert.equal(render(sql`select 1 ${where([])}`, 'sqlite').text, 'select 1 ')
})

it('reads nothing where no state can pass', () => {
  assert.equal(compileNewest(filterOf([], 'include')), undefined)
  const newest = compileNewest(filterOf('any', 'exclude'))
  assert.deepEqual(newest && render(newest, 'sqlite').bind({ endpointId: 'a' }), ['a', 0])
})
