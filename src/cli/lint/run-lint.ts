/** What `crosswalk lint` does: reads, fills in, checks as a registration would, and reports. */
import { checkFiles } from '../../endpoints/batch/check-files.ts'
import { createOfflineServices } from '../../wiring/offline-services.ts'
import {
  CommandImpossible,
  type CommandProcess,
  EXIT,
  type ExitCode,
  runCommand,
  settingsOf,
} from '../command-process.ts'
import { demandDocuments, locateProject } from '../open-project.ts'
import { progressOf } from '../progress.ts'
import { type PlacedLint, placeLints } from '../project/placed-lint.ts'
import { type FileDocument, fillDocument, findDocuments, listFiles, readWritten } from '../project/project-documents.ts'
import { chooseTarget, type Project, type ProjectTarget, readProject } from '../project/project-file.ts'
import type { FoundLint, LintOptions, LintReport } from './found-lint.ts'
import { reportText } from './lint-report.ts'

/** Out: the exit code of the command. */
export function runLint(files: readonly string[], options: LintOptions, process: CommandProcess): Promise<ExitCode> {
  return runCommand(process, async () => {
    const report = await lint(files, options, process)
    process.stdout.write(reportText(report, options.format))
    const { documents, errors, warnings } = report
    process.stderr.write(
      `${counted(documents, 'document')}, ${counted(errors, 'error')}, ${counted(warnings, 'warning')}\n`,
    )
    return errors > 0 || (options.strict === true && warnings > 0) ? EXIT.findings : EXIT.fine
  })
}

async function lint(given: readonly string[], options: LintOptions, process: CommandProcess): Promise<LintReport> {
  const { target } = options
  const file = locateProject(given, options)
  const { project, faults } = file === undefined ? { project: undefined, faults: [] } : readProject(file)
  // Nothing is known of the documents of a project that cannot be read.
  if (file !== undefined && project === undefined) return reportOf(0, faults)
  const documents = readAll(given, project)
  const found = new Map<string, { lint: PlacedLint; targets: string[] }>()
  const targets = targetsFor(documents, project, target)
  for (const one of targets) {
    for (const lint of await lintFor(documents, project, one, process)) {
      const { file, line, column, path, message } = lint
      const key = JSON.stringify([file, line, column, path, message])
      const entry = found.get(key) ?? { lint, targets: [] }
      entry.targets.push(one?.name ?? '')
      found.set(key, entry)
    }
  }
  const lints = [...found.values()].map(
    ({ lint, targets: own }): FoundLint => (own.length === targets.length ? lint : { ...lint, targets: own }),
  )
  return reportOf(documents.length, [...faults, ...inOrder(lints, documents)])
}

function readAll(given: readonly string[], project: Project | undefined): readonly FileDocument[] {
  demandDocuments(given, project)
  const named = listFiles(given)
  if (named.faults.length > 0) throw new CommandImpossible(...named.faults)
  const files = given.length === 0 && project !== undefined ? findDocuments(project) : named.files
  if (files.length === 0) throw new CommandImpossible('There are no documents to check.')
  return files.map(readWritten)
}

/** Documents without values are the same for every target. */
function targetsFor(
  documents: readonly FileDocument[],
  project: Project | undefined,
  name: string | undefined,
): readonly (ProjectTarget | undefined)[] {
  const chosen = chooseTarget(project, name)
  if (!chosen.ok) throw new CommandImpossible(chosen.message)
  if (chosen.value !== undefined) return [chosen.value]
  const all = project?.targets ?? []
  const differ = documents.some(({ written }) => JSON.stringify(written)?.includes('${value:'))
  return all.length === 0 || !differ ? [undefined] : all
}

async function lintFor(
  documents: readonly FileDocument[],
  project: Project | undefined,
  target: ProjectTarget | undefined,
  { env, stderr }: CommandProcess,
): Promise<readonly PlacedLint[]> {
  const settings = settingsOf(env)
  const filled = documents.map((document) => fillDocument(document, project, target))
  const readable = filled.flatMap(({ document, ...file }) => (document === undefined ? [] : [{ ...file, document }]))
  const services = createOfflineServices(settings)
  const progress = progressOf('documents', stderr)
  const checks = await checkFiles(readable, { services, settings, progress })
  const lints = new Map(readable.map(({ path }, index) => [path, checks[index]?.lints ?? []]))
  return filled.flatMap(({ file, path, positions, lints: own }) => placeLints(file, lints.get(path) ?? own, positions))
}

function inOrder(lints: readonly FoundLint[], documents: readonly FileDocument[]): readonly FoundLint[] {
  const order = new Map(documents.map(({ file }, index) => [file, index]))
  const place = ({ file }: FoundLint): number => order.get(file) ?? -1
  return lints.toSorted((one, other) => place(one) - place(other) || one.line - other.line || one.column - other.column)
}

function reportOf(documents: number, findings: readonly FoundLint[]): LintReport {
  const errors = findings.filter(({ severity }) => severity === 'error').length
  return { documents, errors, warnings: findings.length - errors, findings }
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
