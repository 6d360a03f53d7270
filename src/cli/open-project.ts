/** Which project a command works with: one rule for every command. */
import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { CommandImpossible, type ProjectArguments } from './command-process.ts'
import { lineOf, shownPath } from './project/placed-lint.ts'
import { findProject, PROJECT_FILE, type Project, readProject } from './project/project-file.ts'

/**
 * In: the files and folders that the command names. Out: the absolute path of the project's file; undefined if there is none.
 * Throws CommandImpossible if files belong to different projects, or there is no such project.
 */
export function locateProject(given: readonly string[], { project }: ProjectArguments): string | undefined {
  if (project !== undefined) return namedProject(project)
  const here = findProject(resolve(''))
  const found = given.map((name) => ({ name, file: findProject(folderOf(resolve(name))) ?? here }))
  const [first] = found
  if (first === undefined) return here
  const other = found.find(({ file }) => file !== first.file)
  if (other === undefined) return first.file
  const projectOf = ({ file }: typeof first) => (file === undefined ? 'no project' : shownPath(file))
  throw new CommandImpossible(
    `${first.name} belongs to ${projectOf(first)}, and ${other.name} to ${projectOf(other)}; name them in separate commands, or give --project.`,
  )
}

/** Throws CommandImpossible as locateProject does, and with every fault of the project's file. */
export function openProject(given: readonly string[], options: ProjectArguments): Project | undefined {
  const file = locateProject(given, options)
  if (file === undefined) return undefined
  const { project, faults } = readProject(file)
  if (project === undefined) throw new CommandImpossible(...faults.map(lineOf))
  return project
}

/** For a command that needs documents: those that it names, or those of a project. */
export function demandDocuments(given: readonly string[], project: Project | undefined): void {
  if (given.length > 0 || project !== undefined) return
  throw new CommandImpossible(`There is no ${PROJECT_FILE} here or above; name files or folders, or give --project.`)
}

function namedProject(name: string): string {
  const path = resolve(name)
  const inFolder = isFolder(path)
  const file = inFolder ? join(path, PROJECT_FILE) : path
  if (existsSync(file)) return file
  const what = inFolder ? `${PROJECT_FILE} in ${name}` : `file or folder ${name}`
  throw new CommandImpossible(`--project is wrong: There is no ${what}.`)
}

const folderOf = (path: string): string => (isFolder(path) ? path : dirname(path))

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
