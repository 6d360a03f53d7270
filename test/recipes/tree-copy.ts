/** A copy of the tree, in which files are changed, compiled and tested. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** This folder has the texts of all edits, so no edit finds its file here. */
const OWN_FOLDER = 'test/recipes/'

/** `insert` goes before or after `anchor`, which exactly one file below `folder` has; it may use what the file then `imports`. */
export type Edit = Readonly<{
  folder: 'src' | 'test' | 'docs'
  anchor: string
  insert: string
  where: 'before' | 'after'
  imports?: string | readonly string[]
}>

/** A new file beside the one that has `beside`, or at a path relative to it. `text` may import what other files export, by `from('name')`. */
export type NewFile = Readonly<{
  folder: 'src' | 'test'
  beside: string
  name: string
  text: (from: (exported: string) => string) => string
}>

const LEFT: readonly string[] = ['.git', 'data', 'dist', 'node_modules']

/** A copy of the tree, without what is installed, built or stored. Paths are relative to the root of the tree. */
export class TreeCopy {
  readonly folder = mkdtempSync(join(tmpdir(), 'crosswalk-recipes-'))

  constructor() {
    for (const name of readdirSync(root)) {
      if (!LEFT.includes(name)) cpSync(join(root, name), join(this.folder, name), { recursive: true })
    }
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'))
  }

  /** Out: the path of the file that has been edited. */
  edit({ folder, anchor, insert, where, imports }: Edit): string {
    const path = this.#fileWith(folder, anchor)
    const edited = this.#read(path).replace(anchor, () => (where === 'before' ? insert + anchor : anchor + insert))
    const line = (name: string) => `import { ${name} } from '${this.#specifier(path, name)}'\n`
    const lines = [imports ?? []].flat().map(line).join('')
    this.#write(
      path,
      edited.replace(/^import /m, (first) => lines + first),
    )
    return path
  }

  /** Out: the path of the new file. */
  add({ folder, beside, name, text }: NewFile): string {
    const path = posix.join(posix.dirname(this.#fileWith(folder, beside)), name)
    this.#write(
      path,
      text((exported) => this.#specifier(path, exported)),
    )
    return path
  }

  /** Files in `folders`, not below them, that differ from those of the checkout. */
  changedIn(folders: readonly string[]): readonly string[] {
    const filesIn = (folder: string) => readdirSync(join(root, folder), { withFileTypes: true })
    return folders
      .flatMap((folder) =>
        filesIn(folder).flatMap((entry) =>
          entry.isFile() && !LEFT.includes(entry.name) ? [posix.join(folder, entry.name)] : [],
        ),
      )
      .filter((path) => readFileSync(join(root, path), 'utf8') !== this.#read(path))
  }

  check(tests: readonly string[]): void {
    this.#write('tsconfig.recipes.json', JSON.stringify({ extends: './tsconfig.json', include: ['src', ...tests] }))
    this.run(['node_modules/typescript/bin/tsc', '-p', 'tsconfig.recipes.json'])
  }

  /** Out: the standard output of the program. Fails if the program fails. */
  run(args: readonly string[]): string {
    // With it, a test runner that this one starts would run nothing.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    try {
      return execFileSync(process.execPath, args, { cwd: this.folder, env, encoding: 'utf8', stdio: 'pipe' })
    } catch (thrown) {
      const { stdout = '', stderr = '' } = thrown as { stdout?: string; stderr?: string }
      return assert.fail(`node ${args.join(' ')} failed:\n${stdout}${stderr}`)
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true })
  }

  #read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8')
  }

  #write(path: string, text: string): void {
    const file = join(this.folder, path)
    mkdirSync(posix.dirname(file), { recursive: true })
    writeFileSync(file, text)
  }

  /** How the file at `path` imports what a file of `src/` exports. */
  #specifier(path: string, exported: string): string {
    const target = this.#fileWith(
      'src',
      new RegExp(`^export (?:async )?(?:function|class|const|interface|type) ${exported}\\b`, 'm'),
    )
    const specifier = posix.relative(posix.dirname(path), target)
    return specifier.startsWith('.') ? specifier : `./${specifier}`
  }

  #fileWith(folder: string, text: string | RegExp): string {
    const has = (content: string) => (typeof text === 'string' ? content.includes(text) : text.test(content))
    const kind = folder === 'docs' ? /\.md$/ : /\.(?:ts|json)$/
    const found = readdirSync(join(this.folder, folder), { recursive: true, encoding: 'utf8' })
      .map((path) => posix.join(folder, path))
      .filter((path) => kind.test(path) && !path.startsWith(OWN_FOLDER) && has(this.#read(path)))
    assert.equal(found.length, 1, `one file of ${folder}/ has ${text}: ${found}`)
    return found[0] as string
  }
}
