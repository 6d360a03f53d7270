/** Changes that break the rules, each made on a copy of the files of src/. */
import assert from 'node:assert/strict'
import { posix } from 'node:path'
import { type Arrows, folderOf, isAllowed, type Source } from './rules.ts'

type Files = readonly Source[]

export const importing = (path: string, ...targets: readonly string[]): Source => ({
  path,
  text: targets.map((target) => `import type { A } from '${target}'\n`).join(''),
})

/** With the file changed; the path must be one of src/, so that the case breaks the real tree. */
export function changed(files: Files, path: string, change: (text: string) => string): Files {
  assert.ok(
    files.some((source) => source.path === path),
    `src/${path} is gone: break another file`,
  )
  return files.map((source) => (source.path === path ? { path, text: change(source.text) } : source))
}

const specifier = (from: string, to: string): string => {
  const relative = posix.relative(posix.dirname(from), to)
  return relative.startsWith('.') ? relative : `./${relative}`
}

export const withImport = (files: Files, from: string, to: string): Files =>
  changed(files, from, (text) => `import type { A } from '${specifier(from, to)}'\n${text}`)

const firstOf = (files: Files): readonly (readonly [folder: string, path: string])[] =>
  [...Map.groupBy(files, ({ path }) => folderOf(path))].map(([folder, [first]]) => [folder, first?.path ?? ''])

/** Each import from folder to folder that the table does not allow: a file with it, and the file that it imports. */
export function wrongArrows(files: Files, arrows: Arrows): readonly Readonly<{ broken: Source; to: string }>[] {
  const folders = firstOf(files)
  return folders.flatMap(([from, path]) =>
    folders
      .filter(([to]) => !isAllowed(from, to, arrows))
      .map(([, to]) => ({ broken: importing(path, specifier(path, to)), to })),
  )
}
