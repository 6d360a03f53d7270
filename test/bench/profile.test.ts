/** Of which module and group a function in a profile is. */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { groupOf, sampleOf } from '../../bench/profile/profile-groups.ts'
import { freshFolder } from '../spawned-service.ts'

describe('a sample', () => {
  const folder = freshFolder({ after })
  mkdirSync(join(folder, 'dist'))
  const bundle = join(folder, 'dist/service.js')
  const modules = [
    '(function () {',
    '// src/message-log/recorder.ts',
    'one',
    '// node_modules/undici/index.js',
    'two',
    '})',
  ]
  writeFileSync(bundle, modules.join('\n'))

  const account = 'the account of a message'
  const cases = [
    {
      name: 'a function of the bundle',
      symbol: `JS:*record ${bundle}:3:9`,
      is: ['record', 'src/message-log/recorder.ts', account],
    },
    {
      name: 'one without a name',
      symbol: `JS:^ ${bundle}:5:1`,
      is: ['(anonymous)', 'node_modules/undici/index.js', 'calls of others'],
    },
    {
      name: 'a getter',
      symbol: `JS:*get count ${bundle}:3:9`,
      is: ['get count', 'src/message-log/recorder.ts', account],
    },
    {
      name: 'a setter',
      symbol: `JS:*set count ${bundle}:3:9`,
      is: ['set count', 'src/message-log/recorder.ts', account],
    },
    {
      name: 'a function that is called get',
      symbol: `JS:*get ${bundle}:3:9`,
      is: ['get', 'src/message-log/recorder.ts', account],
    },
    {
      name: 'one of Node.js',
      symbol: 'JS:*nextTick node:internal/process/task_queues:3:9',
      is: ['nextTick', 'node:internal/process/task_queues', 'node:http and streams, in JavaScript'],
    },
    {
      name: 'one that the service made',
      symbol: 'JS:*validate :3:9',
      is: ['validate', 'made of the document', 'validation'],
    },
    {
      name: 'what is no JavaScript',
      symbol: 'Builtins_LoadIC',
      is: ['Builtins_LoadIC', 'node', 'built-in functions of V8: calls, fields, texts, maps'],
    },
    {
      name: "the parser of undici's answers",
      symbol: 'JS:wasm-function[20]-20-turbofan',
      is: ['JS:wasm-function[20]-20-turbofan', 'node', 'calls of others'],
    },
  ]
  for (const { name, symbol, is } of cases) {
    test(`of ${name}`, () => {
      const [sample, ...more] = sampleOf(`   7\t/usr/bin/node\t[.] ${symbol}  `)
      assert.ok(sample)
      assert.deepEqual([sample.symbol, sample.place, groupOf(sample)], is)
      assert.deepEqual([sample.count, more], [7, []])
    })
  }

  test('is none where a line has no count', () => assert.deepEqual(sampleOf(''), []))
})
