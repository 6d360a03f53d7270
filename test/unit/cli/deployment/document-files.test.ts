import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { nameFiles } from '../../../../src/cli/deployment/document-files.ts'
import fc from '../../../support/fast-check.ts'

describe('names of files', () => {
  const named = (...names: string[]) => nameFiles(names.map((name) => ({ name, earlier: undefined })))
  const CASES: Readonly<Record<string, Readonly<{ names: string[]; files: (string | RegExp)[] }>>> = {
    'a name': { names: ['Lab orders (v2)'], files: ['lab-orders-v2'] },
    accents: { names: ['Médecins à Genève'], files: ['medecins-a-geneve'] },
    'a path': { names: ['../../etc/passwd'], files: ['etc-passwd'] },
    'an absolute path': { names: ['/etc/passwd'], files: ['etc-passwd'] },
    'dots alone': { names: ['..'], files: [/^endpoint-[0-9a-f]{8}$/] },
    'another script': { names: ['患者'], files: [/^endpoint-[0-9a-f]{8}$/] },
    'no name': { names: [''], files: [/^endpoint-[0-9a-f]{8}$/] },
    'a device of Windows': { names: ['CON'], files: ['endpoint-con'] },
    'a name of the import': { names: ['Import report'], files: ['endpoint-import-report'] },
    '64 KB': { names: ['long '.repeat(13_000)], files: [/^(?:long-){11}long$/] },
    'control characters': { names: ['a\u0000b\nc'], files: ['a-b-c'] },
    'two of one name': { names: ['A', 'A'], files: ['a', 'a-2'] },
    'names of one file': { names: ['A b', 'a-b', 'c'], files: [/^a-b-[0-9a-f]{8}$/, /^a-b-[0-9a-f]{8}$/, 'c'] },
  }
  for (const [title, { names, files }] of Object.entries(CASES)) {
    test(title, () => {
      const found = named(...names)
      assert.equal(found.length, files.length)
      for (const [index, file] of files.entries()) {
        if (typeof file === 'string') assert.equal(found[index], file)
        else assert.match(found[index] ?? '', file)
      }
    })
  }

  test('a document keeps the file that it had', () => {
    const files = nameFiles([
      { name: 'a', earlier: undefined },
      { name: 'A!', earlier: 'a' },
      { name: 'b', earlier: 'mine' },
      { name: 'c', earlier: 'mine' },
    ])
    assert.deepEqual(files.slice(1, 3), ['a', 'mine'])
    assert.equal(new Set(files).size, 4)
  })

  test('are safe, unique and independent of the order, for any names', () => {
    const names = fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 30 }))
    fc.assert(
      fc.property(names, (all) => {
        const files = named(...all)
        assert.equal(new Set(files).size, all.length)
        for (const file of files) assert.match(file, /^[a-z0-9]+(?:-[a-z0-9]+)*$/)
        const turned = named(...all.toReversed())
        assert.deepEqual(turned.toReversed(), files)
      }),
    )
  })
})
