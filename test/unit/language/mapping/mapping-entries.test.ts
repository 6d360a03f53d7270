/** Entries of one mapping that lead to the same objects and lists. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { collectInto } from '../../../../src/core/lint.ts'
import { compileMapping } from '../../../../src/language/mapping/mapping.ts'
import { outcomeOf } from '../../../support/any-mapping.ts'
import { freeze } from './frozen-source.ts'

const codes = { function: 'mapCodes', parameters: { x: 'X', default: ['none'], null: 'N' } }

describe('entries that write beside each other', () => {
  /** `gives`: of each message, its output as text, so that the order of the fields counts, or the entry that ends it. */
  type Case = readonly [why: string, mapping: JsonObject, gives: readonly (readonly [string, string])[]]
  const cases: readonly Case[] = [
    [
      'fields, in the order in which they are found',
      { 'r.a': 'x.a', 'r.b': 'y', 'r.c': 'x.c', 'r.d': 'y' },
      [
        ['{"a":1,"b":2,"c":3,"d":4}', '{"x":{"a":1,"c":3},"y":4}'],
        ['{"b":2,"c":3}', '{"y":2,"x":{"c":3}}'],
        ['{"c":0,"a":"","b":false}', '{"x":{"a":"","c":0},"y":false}'],
        ['{}', '{}'],
        ['null', '{}'],
      ],
    ],
    [
      'fields of arrays, which give one value each',
      { 'r.a.b': 'x.a', 'r.c': 'x.c' },
      [
        ['{"a":[{"b":1},{},{"b":[2]}],"c":2}', '{"x":{"a":[1,null,2],"c":2}}'],
        ['[{"c":1},{"c":2}]', '{"x":{"a":[null,null],"c":[1,2]}}'],
      ],
    ],
    [
      'elements by number, which are fields of objects',
      { 'r.a.1.b': 'x[1].b', 'r.a.0.c': 'x[0]', 'r.rows.0.in[].0': 'out[].b' },
      [
        ['{"a":[{"c":1},{"b":2}],"rows":[{"in":[{"0":5},{}]}]}', '{"x":[1,{"b":2}],"out":[{"b":5},null]}'],
        ['{"a":{"0":{"c":1},"1":{"b":2}},"rows":{"0":{"in":[[7]]}}}', '{"x":[1,{"b":2}],"out":[{"b":7}]}'],
        ['{"a":[[{"c":1}],[{"b":2},{"b":3}]],"rows":[[{"in":[{}]}]]}', '{"x":[[1],{"b":[2,3]}],"out":[null]}'],
      ],
    ],
    [
      'below a place that an entry writes whole, before and after',
      { 'r.d': 'y.d', 'r.e': 'y', 'r.f': 'y.f', 'r.g': 'y.g' },
      [
        ['{"d":4,"e":{"f":5},"f":6,"g":7}', '{"y":{"f":6,"g":7}}'],
        ['{"d":4,"f":6,"g":7}', '{"y":{"d":4,"f":6,"g":7}}'],
        ['{"e":{},"g":7}', '{"y":{"g":7}}'],
      ],
    ],
    [
      'below a place that an entry with a default replaces in another shape',
      {
        'r.a': 'x.p.a',
        'r.b': { key: 'x.p[0].b', default: null },
        'r.c': 'x.p.c',
        'r.d': { key: 'x.p.d', default: null },
        'r.e': 'x.p.e',
      },
      [
        ['{"a":1,"c":3,"e":5}', '{"x":{"p":{"a":1,"c":3,"e":5}}}'],
        ['{"a":1,"b":2}', '{"x":{"p":[{"b":2}]}}'],
        ['{"a":1,"b":2,"c":3}', 'fails at r\\.c'],
        ['{"a":1,"b":2,"d":4,"e":5}', '{"x":{"p":{"d":4,"e":5}}}'],
      ],
    ],
    [
      'one element by its index and by a list',
      { 'r.a': 'x[0].p.a', 'r.rows[].b': 'x[].p.b', 'r.c': 'x[1].p.c', 'r.d': 'x[].p.d' },
      [
        ['{"a":1,"rows":[{"b":2},{"b":3}],"c":4,"d":5}', '{"x":[{"p":{"a":1,"b":2,"d":5}},{"p":{"b":3,"c":4}}]}'],
        ['{"rows":[{},{"b":3}],"c":4,"d":5}', '{"x":[{"p":{"d":5}},{"p":{"b":3,"c":4}}]}'],
        ['{"c":4,"d":5}', '{"x":[{"p":{"d":5}},{"p":{"c":4}}]}'],
      ],
    ],
    [
      'what is appended',
      { 'r.a': 'x.l[]', 'r.b': 'x.l[]+', 'r.c': { key: 'x.l', transform: 'appendArray' }, 'r.d': 'x.l[]' },
      [
        ['{"a":1,"b":[2],"c":[3,4],"d":5}', '{"x":{"l":[1,[2],3,4,5]}}'],
        ['{"b":2,"d":5}', '{"x":{"l":[2,5]}}'],
        ['{}', '{}'],
      ],
    ],
    [
      'one value for all elements, and what comes after it',
      { 'r.a': 'x[0].a', 'r.b': 'x[1].b', 'r.c': { key: 'x[].c', transform: 'oneToAllElements' }, 'r.d': 'x[0].d' },
      [
        ['{"a":1,"b":2,"c":3,"d":4}', '{"x":[{"a":1,"c":3,"d":4},{"b":2,"c":3}]}'],
        ['{"c":3}', '{}'],
        ['{"b":2,"c":3,"d":4}', '{"x":[{"c":3,"d":4},{"b":2,"c":3}]}'],
      ],
    ],
    [
      'fields passed through, and what comes after them',
      { 'r.a': 'x.a', 'r.o': { key: '_', transform: 'passThroughObject' }, 'r.b': 'x.b' },
      [
        ['{"a":1,"b":2}', '{"x":{"a":1,"b":2}}'],
        ['{"a":1,"b":2,"o":{"x":{"z":1},"b":1}}', '{"x":{"z":1,"b":2},"b":1}'],
      ],
    ],
    [
      'arrays spread over one list, and what is no array or holds arrays',
      { 'r.rows[].a': 'out[].a', 'r.rows[].b.c': 'out[].deep.c', 'r.more[].b': 'out[].deep.b', 'r.n': 'n' },
      [
        [
          '{"rows":[{"a":1,"b":{"c":2}},{},null,5],"more":[{},{"b":6},{},{},{"b":7}],"n":1}',
          '{"out":[{"a":1,"deep":{"c":2}},{"deep":{"b":6}},null,null,{"deep":{"b":7}}],"n":1}',
        ],
        ['{"rows":[],"n":1}', '{"out":[],"n":1}'],
        ['{"rows":null}', '{}'],
        ['{"rows":{"b":{"c":2}},"n":1}', '{"out":[{"deep":{"c":2}}],"n":1}'],
        [
          '{"rows":[{"a":1},{"a":[2,3]},{"b":[{"c":1},{"c":2}]}]}',
          '{"out":[{"a":1},{"a":2},{"a":3,"deep":{"c":1}},{"deep":{"c":2}}]}',
        ],
        ['{"rows":[[{"a":1}],{"a":2}]}', '{"out":[{"a":1},{"a":2}]}'],
        ['[{"rows":[{"a":1}]}]', '{"out":[{"a":1}],"n":[null]}'],
      ],
    ],
    [
      'a list whose function makes something of nothing',
      { 'r.rows[].a': { key: 'out[].a', transform: codes }, 'r.rows[].b': 'out[].b' },
      [
        ['{}', '{"out":[{"a":"N"}]}'],
        ['{"rows":[{},{"a":"x","b":1}]}', '{"out":[{"a":"N"},{"a":"X","b":1}]}'],
        ['{"rows":{"a":"x"}}', '{"out":[{"a":"X"}]}'],
      ],
    ],
    [
      'names that every object inherits',
      {
        'r.toString': 'x.toString',
        'r.constructor.name': 'y',
        'r.__proto__.a': 'z',
        'r.rows[].valueOf': 'out[].hasOwnProperty',
        'r.list[].b': 'hasOwnProperty[0].isPrototypeOf[].b',
        'r.c': 'hasOwnProperty[0].toLocaleString.c',
      },
      [
        [
          '{"toString":1,"constructor":{"name":"c"},"__proto__":{"a":5},"rows":[{"valueOf":2},{}],"list":[{"b":3}],"c":4}',
          '{"x":{"toString":1},"y":"c","z":5,"out":[{"hasOwnProperty":2},null],"hasOwnProperty":[{"isPrototypeOf":[{"b":3}],"toLocaleString":{"c":4}}]}',
        ],
        ['{"rows":[{}],"list":{"b":1}}', '{"out":[null],"hasOwnProperty":[{"isPrototypeOf":[{"b":1}]}]}'],
        ['{"c":2}', '{"hasOwnProperty":[{"toLocaleString":{"c":2}}]}'],
        ['{}', '{}'],
      ],
    ],
    [
      'below an inherited name, where earlier entries have no value',
      {
        'r.a[].a': { key: 'toString.a[].a', transform: 'numberify' },
        'r.a': { key: 'toString.toString', transform: codes },
        'r.c': ['a'],
      },
      [
        ['{}', '{"toString":{"toString":"N"}}'],
        ['{"a":"x"}', '{"toString":{"toString":"X"}}'],
        ['{"a":[{"a":"1"}]}', '{"toString":{"a":[{"a":1}],"toString":[["none"]]}}'],
      ],
    ],
    [
      'values that no function converts: the first entry of the document is to blame',
      {
        'r.rows[].a': { key: 'out[].a', transform: 'numberify' },
        'r.n': { key: 'n', transform: 'dateTimeToDate' },
        'r.rows[].b': { key: 'out[].b', transform: 'numberify' },
      },
      [
        ['{"rows":[{"a":1,"b":2}],"n":"xT"}', '{"out":[{"a":1,"b":2}],"n":"x"}'],
        ['{"rows":[{"b":"x"},{"a":"x"}],"n":true}', 'fails at r\\.rows[]\\.a'],
        ['{"rows":[{"b":"x"}],"n":true}', 'fails at r\\.n'],
        ['{"rows":[{"b":"x"}]}', 'fails at r\\.rows[]\\.b'],
      ],
    ],
  ]
  for (const [why, mapping, gives] of cases) {
    it(why, () => {
      const { apply } = compileMapping(freeze(mapping), collectInto([]))
      for (const [message, expected] of gives) {
        const outcome = outcomeOf(() => JSON.stringify(apply(freeze({ r: JSON.parse(message) }))))
        assert.equal('failure' in outcome ? `fails at ${outcome.failure[1]}` : outcome.gives, expected, message)
      }
    })
  }
})
