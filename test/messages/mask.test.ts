import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../../src/domain/json.ts'
import { compileMask } from '../../src/messages/mask.ts'

describe('numbers in the paths of a mask', () => {
  const cases: readonly { path: string; of: Json; gives: Json }[] = [
    {
      path: 'list.0.ssn',
      of: { list: [{ ssn: '123', a: 1 }, { ssn: '456' }] },
      gives: { list: [{ ssn: '***', a: 1 }, { ssn: '456' }] },
    },
    { path: 'list.1', of: { list: ['a', 'b', 'c'] }, gives: { list: ['a', '***', 'c'] } },
    { path: 'list.1.0', of: { list: [['a'], ['b', 'c']] }, gives: { list: [['a'], ['***', 'c']] } },
    { path: 'list.0.ssn', of: { list: { 0: { ssn: '123' } } }, gives: { list: { 0: { ssn: '***' } } } },
    { path: 'list.1', of: { list: [{ 1: 'a', 2: 'b' }] }, gives: { list: [{ 1: '***', 2: 'b' }] } },
    { path: 'list.01', of: { list: ['a', 'b'] }, gives: { list: ['a', 'b'] } },
    { path: 'list.0', of: { list: 'a' }, gives: { list: 'a' } },
  ]
  for (const { path, of, gives } of cases) {
    it(`${path} in ${JSON.stringify(of)}`, () => assert.deepEqual(compileMask([path])?.apply(of, new Set()), gives))
  }
})
