/** The service that a command calls, and the project whose documents it should have. */

import { missingScheme } from '../../core/http.ts'
import { isObject } from '../../core/json.ts'
import { isError } from '../../core/lint.ts'
import { checkDocument } from '../../document/checks/check-document.ts'
import type { Environment } from '../../settings/settings.ts'
import { CommandFault, readApiKey } from '../command.ts'
import type { Given } from '../commands.ts'
import { formatLint, locateLints } from '../project/located-lint.ts'
import { type ProjectDocument, readDocuments } from '../project/project-documents.ts'
import { chooseTarget, openProject, PROJECT_FILE, type Project, type ProjectTarget } from '../project/project-file.ts'
import {
  createManagementClient,
  fetchDocuments,
  type ManagementClient,
  type ManagementClientOptions,
} from '../service-client/management-client.ts'
import type { DesiredDocument } from './plan.ts'

/** What names a target on the command line. */
type TargetGiven = Pick<Given<'diff'>, 'namedTarget' | 'target' | 'project'>
/** What names a service on the command line. */
export type ServiceGiven = TargetGiven & Pick<Given<'diff'>, 'keyFile'>

type NamedTarget = Readonly<{ project: Project; target: ProjectTarget }>
export type OpenTarget = NamedTarget & Readonly<{ client: ManagementClient }>

type ClientNeeds = Readonly<{ role: ManagementClientOptions['role']; unanswered?: string }>

/** A batch of a thousand documents is compiled before it is answered. */
const TIMEOUT_MS = 300_000

/** Throws CommandFault if the target is named twice, differently. */
function chooseTargetName({ namedTarget, target }: TargetGiven): string | undefined {
  if (namedTarget === undefined || target === undefined || target === namedTarget) return namedTarget ?? target
  throw new CommandFault(`Two targets are named, ${namedTarget} and --target ${target}; name one.`)
}

/** Throws CommandFault. */
export function readTarget(given: TargetGiven): NamedTarget {
  const project = openProject([], given)
  if (project === undefined) throw new CommandFault(`There is no ${PROJECT_FILE} here or above; give --project.`)
  const target = chooseTarget(project, chooseTargetName(given))
  if (target === undefined) {
    const names = project.targets.map(({ name }) => name).join(', ')
    const advice = names === '' ? `Give ${PROJECT_FILE} a target, under "targets".` : `Name a target: ${names}.`
    throw new CommandFault(advice)
  }
  return { project, target }
}

/** Throws CommandFault. */
export function openTarget(given: ServiceGiven, needs: ClientNeeds, env: Environment): OpenTarget {
  const named = readTarget(given)
  return { ...named, client: openClient(named.target.url, given, needs, env) }
}

/** In: a target of the project, or the URL of a service. Throws CommandFault. */
export function openService(given: ServiceGiven, needs: ClientNeeds, env: Environment): ManagementClient {
  const target = chooseTargetName(given)
  if (target !== undefined && (/^[a-z]+:\/\//i.test(target) || missingScheme(target) !== undefined))
    return openClient(target, given, needs, env)
  return openTarget(given, needs, env).client
}

function openClient(url: string, { keyFile }: ServiceGiven, needs: ClientNeeds, env: Environment): ManagementClient {
  return createManagementClient({ url, key: readApiKey(keyFile, env), timeoutMs: TIMEOUT_MS, unanswered: '', ...needs })
}

/** A document of the project with the file that it comes from. */
export type ProjectDesire = DesiredDocument & Readonly<{ source: ProjectDocument }>

/** Throws CommandFault with every fault of the files. */
export function readDesired({ project, target }: NamedTarget): readonly ProjectDesire[] {
  const sources = readDocuments({ project, target })
  const faults = sources.flatMap(({ file, document, lints, positions }) => {
    // Without its form, a document cannot be compared; the service checks the rest of it.
    const all = [...lints, ...(document === undefined ? [] : checkDocument(document).lints)]
    const errors = all.filter(isError)
    return locateLints(file, errors, positions)
  })
  if (faults.length > 0) throw new CommandFault(faults.map(formatLint), 'findings')
  return sources.map((source): ProjectDesire => {
    const { file, name, renamedFrom, document } = source
    if (name === undefined || !isObject(document)) {
      throw new CommandFault(`${file}: A document of a project needs a "name", which is its identity.`, 'findings')
    }
    return { file, name, renamedFrom, document, source }
  })
}

/** All documents of the service, and whether one of its endpoints had a name before. */
export async function readStored(client: ManagementClient) {
  return { stored: await fetchDocuments(client), hadName: (id: string, name: string) => hadName(client, id, name) }
}

async function hadName(client: ManagementClient, id: string, name: string): Promise<boolean> {
  const versions = await client.call('GET', `/endpoints/${id}/versions`)
  for (const summary of Array.isArray(versions) ? versions.filter(isObject) : []) {
    const version = await client.call('GET', `/endpoints/${id}/versions/${Number(summary.version)}`)
    if (isObject(version) && isObject(version.document) && version.document.name === name) return true
  }
  return false
}
