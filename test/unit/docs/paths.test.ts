/** The files and folders that the pages and the comments of the sources name are there. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const ownFolders = readdirSync(`${root}src`).filter((name) => !name.includes('.'))

/**
 * A file, or a folder; without `src/` a file only, since two words may stand so. Of a path with `<stage>` or `*`, the folder
 * before it.
 */
const PATHS = new RegExp(
  `(?<![\\w./-])(?:(?:src|test|scripts|bench|docs)/[\\w./-]*[\\w/]|(?:${ownFolders.join('|')})/[\\w./-]*\\.[a-z]{2,4}\\b)`,
  'g',
)
const COMMENTS = /\/\*[\s\S]*?\*\/|\/\/.*/g

const pathsIn = (text: string): readonly string[] => text.match(PATHS) ?? []

const missingIn = (file: string, text: string): readonly string[] =>
  pathsIn(text)
    .filter((path) => !existsSync(root + path) && !existsSync(`${root}src/${path}`))
    .map((path) => `${file} names ${path}`)

test('every file and folder that a page names is there', () => {
  const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root })]
  assert.ok(pages.length > 20)
  assert.deepEqual(
    pages.flatMap((page) => missingIn(page, readFileSync(root + page, 'utf8'))),
    [],
  )
})

test('every file and folder that a comment of the sources names is there', () => {
  const sources = globSync('src/**/*.ts', { cwd: root })
  const comments = sources.map((file) => {
    const text = (readFileSync(root + file, 'utf8').match(COMMENTS) ?? []).join('\n')
    return { file, text }
  })
  assert.ok(comments.some(({ text }) => pathsIn(text).length > 0))
  assert.deepEqual(
    comments.flatMap(({ file, text }) => missingIn(file, text)),
    [],
  )
})
