/** A message that throws if a mapping changes it, and the functions that cases of mappings use. */
import type { Json, JsonObject } from '../../../../src/core/json.ts'

/** Writing to a frozen value throws, so a mapping that changes what it was given fails. */
export function freeze<T extends Json>(value: T): T {
  if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(Object.freeze(value))) freeze(inner)
  return value
}

export type Row = readonly [why: string, mapping: JsonObject, output: JsonObject]

export const source: JsonObject = freeze({
  b: {
    name: 'Jane',
    age: '41',
    nothing: null,
    object: { x: { y: 1, z: 2 }, list: [{ n: 1 }, { n: 2 }] },
    rows: [{ id: 1, code: 'F' }, { id: 2 }, { id: 3, code: 'X' }],
    names: ['p', 'q'],
    nested: [[1, 2], [3]],
    empty: [],
    hostile: JSON.parse('{"__proto__":{"polluted":1},"constructor":1,"a":1}'),
  },
})
export const all = { function: 'oneToAllElements' }
export const append = { function: 'appendArray' }
export const through = { function: 'passThroughObject' }
