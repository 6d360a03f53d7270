/** `crosswalk import` in this process, on folders of its own. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ImportReport } from '../../../migrate/import/import-report.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { type CommandOptions, type CommandOutcome, runCommand } from '../cli/run-command.ts'

/** A text or bytes as they are, any other value as JSON. */
export type Files = Readonly<Record<string, Json | Uint8Array>>

/** A new folder with these files; it goes when the test does. */
export function folderWith(files: Files, test?: { after(work: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-import-'))
  test?.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    const isRaw = typeof content === 'string' || content instanceof Uint8Array
    writeFileSync(join(folder, name), isRaw ? content : JSON.stringify(content))
  }
  return folder
}

export type Imported = CommandOutcome

/** Paths of sources and of `output` are as given. */
export const importAs = (
  sources: readonly string[],
  given: CommandOptions,
  env: Readonly<Record<string, string>> = {},
): Promise<Imported> => runCommand('import', sources, given, { env })

export const readReport = (folder: string): ImportReport =>
  jsonAt(folder, 'import-report.json') as unknown as ImportReport

export const jsonAt = (folder: string, name: string): JsonObject => JSON.parse(readFileSync(join(folder, name), 'utf8'))

/** Every file below the folder with its text, hidden ones too. */
export function textsIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  return Object.fromEntries(names.map((name) => [name.slice(folder.length + 1), readFileSync(name, 'utf8')]))
}

/** The files of documents that the import wrote into the folder. */
export const documentFiles = (folder: string): readonly string[] => readReport(folder).documents.map(({ file }) => file)

let serial = 0

/** A document as the peer takes it, with a name and route of its own. */
export function peerDocument(changes: JsonObject = {}): JsonObject {
  serial += 1
  return {
    name: `Orders ${serial}`,
    endpoint: { pattern: `/orders-${serial}`, method: 'POST' },
    transformation: { input: 'JSON', output: 'JSON' },
    inputMapping: { 'requestBody.nr': 'number' },
    ...changes,
  }
}
