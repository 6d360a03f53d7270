/** What a browser loads for each part of the console, against its budget. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The entries of Vite's manifest, by source file or chunk. */
type Manifest = Readonly<
  Record<
    string,
    Readonly<{
      file: string
      isEntry?: boolean
      isDynamicEntry?: boolean
      imports?: readonly string[]
      dynamicImports?: readonly string[]
      css?: readonly string[]
    }>
  >
>

export type ConsolePart = Readonly<{ name: string; bytes: number; limitBytes: number }>

const KB = 1000

/** Parts that load with the first view that needs them: the module that starts each, and its limit. */
const LAZY: readonly Readonly<{ name: string; entry: string; limitBytes: number }>[] = [
  { name: 'editor', entry: 'src/ui/code/code-editor.tsx', limitBytes: 150 * KB },
  { name: 'editor page', entry: 'src/pages/editor/editor-page.tsx', limitBytes: 150 * KB },
  { name: 'charts', entry: 'src/ui/charts/line-chart.tsx', limitBytes: 25 * KB },
]
const SHELL_LIMIT = 200 * KB
const CSS_LIMIT = 20 * KB

/** In: the folder of a build. Out: bytes of each part as gzip sends them, without what the shell has loaded before. */
export function sizesOf(folder: string): readonly ConsolePart[] {
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry)
  if (entry === undefined) throw new Error('The build of the console has no entry.')
  const shell = closureOf(manifest, entry)
  const size = (files: Iterable<string>) =>
    Array.from(files, (file) => statSync(join(folder, `${file}.gz`)).size).reduce((sum, one) => sum + one, 0)
  const scripts = (names: ReadonlySet<string>) => new Set(Array.from(names, (name) => manifest[name]?.file ?? name))
  const css = new Set(Object.values(manifest).flatMap(({ file, css = [] }) => (file.endsWith('.css') ? [file] : css)))
  return [
    { name: 'shell', bytes: size(scripts(shell)), limitBytes: SHELL_LIMIT },
    ...LAZY.filter(({ entry: lazy }) => manifest[lazy] !== undefined).map(({ name, entry: lazy, limitBytes }) => ({
      name,
      bytes: size(scripts(closureOf(manifest, lazy).difference(shell))),
      limitBytes,
    })),
    { name: 'css', bytes: size(css), limitBytes: CSS_LIMIT },
  ]
}

/** An entry with everything that it imports at once. */
function closureOf(manifest: Manifest, name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  for (const imported of manifest[name]?.imports ?? []) closureOf(manifest, imported, found)
  return found
}

export const describeSize = ({ name, bytes, limitBytes }: ConsolePart): string =>
  `console ${name}: ${(bytes / KB).toFixed(1)} KB of at most ${limitBytes / KB} KB (gzip)`
