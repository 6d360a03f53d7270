import type { Edit, NewFile } from './tree-copy.ts'

export type Recipe = Readonly<{
  edits: readonly Edit[]
  files: readonly NewFile[]
  /** Files that `npm run docs` changes. */
  generated: readonly string[]
  /** The test that shows the change: a base name among the touched files, and the tests in it to run. */
  shownBy: Readonly<{ file: string; name: string }>
}>
