/** Folders with files for tests of commands that read them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Json } from '../../../../src/core/json.ts'

/** Texts are written as they are, other values as JSON. Out: the absolute path of the folder, removed after the test. */
export function folderOf(context: { after(work: () => void): void }, files: Readonly<Record<string, Json>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-project-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  }
  return folder
}

export const DOCUMENT = {
  name: 'Greeting',
  endpoint: { pattern: '/greet' },
  transformation: { input: 'JSON', output: 'JSON' },
  inputMapping: { 'requestBody.name': 'hello' },
} satisfies Json
