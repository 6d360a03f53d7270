/** The files that documents and tests name: `{ "$file": "total.jsonata" }`. */
import { realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import type { Json } from '../../core/json.ts'
import { fault, found, type Result } from '../../core/lint.ts'
import { MAX_TEST_BYTES } from '../../try/tests/test-file.ts'
import { readJsonText } from './project-file.ts'

/** Of one file, as UTF-8. */
const MAX_BYTES = MAX_TEST_BYTES

/** `path`: absolute. */
export type NamedFile = Readonly<{ path: string; text: string }>

/**
 * In: what `$file` has, in the file at `path`, which people call `whole`. Out: the file, or why it cannot be used: it must be in the
 * folder of the project, also if it is a link. `folder`: undefined for files outside of a project.
 */
export function readNamedFile(
  name: Json,
  path: string,
  folder: string | undefined,
  whole: 'document' | 'tests',
): Result<NamedFile> {
  if (typeof name !== 'string') return fault('"$file" takes the path of a file.')
  if (name === '' || isAbsolute(name) || name.includes('\0')) {
    return fault(`"$file" takes a path relative to the ${whole}, not ${JSON.stringify(name)}.`)
  }
  try {
    const target = resolve(dirname(path), name)
    const real = realpathSync(target)
    const inside = relative(realpathSync(findRootFolder(path, folder)), real)
    if (inside.startsWith('..') || isAbsolute(inside))
      return fault(`The file ${name} is outside of the project folder.`)
    const stats = statSync(real)
    // Reading a pipe would wait for ever.
    if (stats.isFIFO()) return fault(`The file ${name} cannot be used: it is a pipe.`)
    if (stats.size > MAX_BYTES) {
      return fault(`The file ${name} has more than ${MAX_BYTES.toLocaleString('en')} bytes.`)
    }
    const text = readJsonText(real)
    return text.ok
      ? found({ path: target, text: text.value })
      : fault(`The file ${name} cannot be used: ${text.message}`)
  } catch {
    return fault(`There is no file ${name} beside the ${whole}.`)
  }
}

/** The folder that a file must not leave. */
function findRootFolder(path: string, folder: string | undefined): string {
  const folders = [...(folder === undefined ? [] : [folder]), process.cwd()]
  return folders.find((one) => !relative(one, path).startsWith('..')) ?? dirname(path)
}
