/** `{ "$file": "order.xml" }` in a file of tests: the content of a file beside it, in place of a body. */
import { realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import { MOST_TEST_BYTES } from '../../document-tests/test-file.ts'
import { isObject, type Json } from '../../domain/json.ts'
import { collectInto, fault, found, type Lint, type LintSink, type Result } from '../../domain/lint.ts'
import { parseText, readJsonText } from '../project/project-file.ts'

export type FilledTests = Readonly<{
  raw: Json
  lints: readonly Lint[]
  /** Absolute paths of the files that were read. */
  files: readonly string[]
}>

/** The members that a file may stand for. */
const BODIES = new Set(['body', 'state', 'mapped'])

/**
 * In: tests as they are in the file at `path`. Out: the same with contents in place of `$file`, and a lint for each that is not
 * there or leads out of `root`, also by a symbolic link. The body of a message is the text of the file, any other one the value
 * if the name ends in `.json`.
 */
export function fillFiles(raw: Json, path: string, root: string): FilledTests {
  const lints: Lint[] = []
  const files: string[] = []

  const contentOf = (name: Json, asText: boolean, lint: LintSink): Json => {
    const text = typeof name === 'string' ? readInside(name, path, root) : fault('"$file" takes the path of a file.')
    if (!text.ok) {
      lint.error(text.message)
      return ''
    }
    files.push(resolve(dirname(path), String(name)))
    if (asText || !/\.json$/i.test(String(name))) return text.value
    const parsed = parseText(text.value)
    for (const { message } of parsed.lints) lint.error(`The file ${name} cannot be used: ${message}`)
    return parsed.raw ?? ''
  }

  const fill = (value: Json, within: string, lint: LintSink): Json => {
    if (Array.isArray(value)) return value.map((item: Json, index) => fill(item, within, lint.at(index)))
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        const at = lint.at(name)
        if (!BODIES.has(name)) return [name, fill(member, name, at)]
        return [name, isReference(member) ? contentOf(member.$file, within === 'message', at) : member]
      }),
    )
  }

  const filled = isObject(raw) && Array.isArray(raw.tests)
  const sink = collectInto(lints)
  return filled
    ? { raw: { ...raw, tests: fill(raw.tests as Json, '', sink.at('tests')) }, lints, files }
    : { raw, lints, files }
}

const isReference = (value: Json): value is { readonly $file: Json } =>
  isObject(value) && Object.keys(value).length === 1 && Object.hasOwn(value, '$file')

function readInside(name: string, path: string, root: string): Result<string> {
  if (name === '' || isAbsolute(name) || name.includes('\0')) {
    return fault(`"$file" takes a path relative to the tests, not ${JSON.stringify(name)}.`)
  }
  try {
    const real = realpathSync(resolve(dirname(path), name))
    const inside = relative(realpathSync(root), real)
    if (inside.startsWith('..') || isAbsolute(inside))
      return fault(`The file ${name} is outside of the project folder.`)
    const { size } = statSync(real)
    if (size > MOST_TEST_BYTES) {
      return fault(`The file ${name} has more than ${MOST_TEST_BYTES.toLocaleString('en')} bytes.`)
    }
    const text = readJsonText(real)
    return text.ok ? found(text.value) : fault(`The file ${name} cannot be used: ${text.message}`)
  } catch {
    return fault(`There is no file ${name} beside the tests.`)
  }
}
