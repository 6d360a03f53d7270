/**
 * Follows the recipes of CONTRIBUTING.md on a copy of the tree: a recipe must name every file that its change touches, and the
 * result must compile and pass the tests that it names.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { RECIPES } from './recipes.ts'
import { TreeCopy } from './tree-copy.ts'

/** The sections of CONTRIBUTING.md below "Recipes", with the files that the first column of their table names. */
function sections(): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8')
  const recipes = text.slice(text.indexOf('\n## Recipes\n'), text.indexOf('\n## Commits\n'))
  const found = recipes.split('\n### ').slice(1)
  const rows = (section: string) => section.split('\n').filter((line) => line.startsWith('| `'))
  const paths = (row: string) => [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, path]) => path ?? '')
  return new Map(found.map((section) => [section.split('\n')[0] ?? '', rows(section).flatMap(paths)]))
}

/** Whether `path` is what a recipe calls `named`; `<…>` stands for what the author chooses. */
function isNamed(path: string, named: string): boolean {
  const pattern = named.split(/<[^>]+>/).map((part) => part.replaceAll('.', '\\.'))
  return new RegExp(`^${pattern.join('[a-z0-9/-]+')}$`).test(path)
}

describe('the recipes of CONTRIBUTING.md', () => {
  let copy: TreeCopy
  const touched = new Map<string, readonly string[]>()
  before(() => {
    copy = new TreeCopy()
    for (const [title, { edits, files, generated }] of Object.entries(RECIPES)) {
      const paths = [...files.map((file) => copy.add(file)), ...edits.map((edit) => copy.edit(edit))]
      touched.set(title, [...new Set([...paths, ...generated])])
    }
  })
  after(() => copy.remove())

  test('are all followed here', () => {
    assert.deepEqual([...sections().keys()].toSorted(), Object.keys(RECIPES).toSorted())
  })

  for (const title of Object.keys(RECIPES)) {
    test(`"${title}" names the files that it touches, and no other`, () => {
      const named = sections().get(title) ?? []
      const paths = touched.get(title) ?? []
      assert.equal(paths.length, named.length, `${paths} are touched, ${named} are named`)
      for (const path of paths)
        assert.ok(
          named.some((name) => isNamed(path, name)),
          `${path} is not named`,
        )
      for (const name of named)
        assert.ok(
          paths.some((path) => isNamed(path, name)),
          `${name} is not touched`,
        )
    })
  }

  test('change at most 4 source files for a stage', () => {
    assert.ok((touched.get('Add a stage') ?? []).filter((path) => path.startsWith('src/')).length <= 4)
  })

  test('give code that compiles', () => {
    copy.check([...touched.values()].flat().filter((path) => path.endsWith('.test.ts')))
  })

  test('change the generated files that they name', () => {
    for (const name of ['settings', 'failures', 'endpoint']) copy.run([`scripts/docs-${name}.ts`])
    const generated = Object.values(RECIPES).flatMap((recipe) => recipe.generated)
    const written = [...touched.values()].flat().filter((path) => path.startsWith('docs/'))
    assert.deepEqual(copy.changedIn(['docs', '.']).toSorted(), [...new Set([...generated, ...written])].toSorted())
  })

  for (const [title, { shownBy }] of Object.entries(RECIPES)) {
    test(`"${title}" passes its test`, () => {
      const path = touched.get(title)?.find((one) => basename(one) === shownBy.file)
      const file = path ?? assert.fail(`no ${shownBy.file} is touched`)
      const output = copy.run(['--test', '--test-reporter', 'tap', '--test-name-pattern', shownBy.name, file])
      assert.match(output, /^# pass [1-9]/m)
    })
  }
})
