/** What `crosswalk new` does: writes a document that lints clean beside the others. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { JsonObject } from '../../domain/json.ts'
import type { Lint } from '../../domain/lint.ts'
import { checkFiles } from '../../endpoints/batch/check-files.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import { codecOfFormat } from '../../formats/codecs.ts'
import { nameFiles } from '../../import/output/file-names.ts'
import type { Settings } from '../../settings/settings.ts'
import { createOfflineServices } from '../../wiring/offline-services.ts'
import {
  CommandImpossible,
  type CommandProcess,
  EXIT,
  type ExitCode,
  runCommand,
  settingsOf,
} from '../command-process.ts'
import { lineOf, shownPath } from '../project/placed-lint.ts'
import { readDocuments } from '../project/project-documents.ts'
import { findProject, type Project, readProject } from '../project/project-file.ts'
import { type NewArguments, newDocument, type SampleMessage, withoutFaulty } from './new-document.ts'

/** Out: the exit code of the command. */
export function runNew(name: string, { sample }: NewArguments, process: CommandProcess): Promise<ExitCode> {
  return runCommand(process, async () => {
    const settings = settingsOf(process.env)
    const project = readOwnProject()
    const [slug = ''] = nameFiles([{ name, earlier: undefined }])
    const first = newDocument(name, slug, sample === undefined ? undefined : readSample(sample, settings))
    const document = await soundDocument(first, project, settings)
    const path = join(folderFor(project), `${slug}.json`)
    write(path, `${JSON.stringify(document, null, 2)}\n`)
    process.stdout.write(`${shownPath(path)}\n`)
    return EXIT.fine
  })
}

function readOwnProject(): Project | undefined {
  const folder = findProject(globalThis.process.cwd())
  if (folder === undefined) return undefined
  const { project, faults } = readProject(folder)
  if (project === undefined) throw new CommandImpossible(...faults.map(lineOf))
  return project
}

/** The part of the first pattern before anything that stands for several names. */
function folderFor(project: Project | undefined): string {
  if (project === undefined) return globalThis.process.cwd()
  const pattern = project.endpoints.find((one) => !one.startsWith('!')) ?? ''
  const fixed = dirname(`${pattern.split(/[*?[{(]/)[0]}x`)
  return join(project.folder, fixed)
}

function readSample(file: string, settings: Settings): SampleMessage {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (thrown) {
    throw new CommandImpossible(`${file} cannot be read (${(thrown as NodeJS.ErrnoException).code ?? 'unreadable'}).`)
  }
  const format = /^(?:\ufeff)?\s*</.test(bytes.toString()) ? 'XML' : 'JSON'
  try {
    return { value: codecOfFormat(format).read(bytes, undefined, settings), format }
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    throw new CommandImpossible(`${file}: ${thrown.message}`)
  }
}

/** Throws CommandImpossible if the name or the route is taken. */
async function soundDocument(first: JsonObject, project: Project | undefined, settings: Settings): Promise<JsonObject> {
  const others = readDocuments({ project, target: project?.targets[0] })
  const known = others.flatMap(({ file, document }) => (document === undefined ? [] : [{ file, document }]))
  const lintsOf = async (document: JsonObject): Promise<readonly Lint[]> => {
    const checks = await checkFiles([...known, { file: 'new', document }], {
      services: createOfflineServices(settings),
      settings,
    })
    return checks.at(-1)?.lints ?? []
  }
  const lints = await lintsOf(first)
  const document =
    lints.length === 0
      ? first
      : withoutFaulty(
          first,
          lints.map(({ path }) => path),
        )
  const left = lints.length === 0 ? [] : await lintsOf(document)
  if (left.length > 0) throw new CommandImpossible(...left.map(({ path, message }) => `${path}: ${message}`))
  return document
}

function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { flag: 'wx' })
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    const reason = code === 'EEXIST' ? 'is there already, and is not replaced' : `cannot be written (${code})`
    throw new CommandImpossible(`${shownPath(path)} ${reason}.`)
  }
}
