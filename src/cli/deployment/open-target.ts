/** The service that a command calls, and the project whose documents it should have. */
import { checkDocument } from '../../config/checks/check-document.ts'
import type { DesiredDocument } from '../../deployment/deployment-plan.ts'
import { missingScheme } from '../../domain/http.ts'
import { isObject } from '../../domain/json.ts'
import {
  createManagementClient,
  fetchDocuments,
  type ManagementClient,
  type ManagementClientOptions,
} from '../../service-client/management-client.ts'
import type { Environment } from '../../settings/settings.ts'
import { readApiKey } from '../api-key.ts'
import { CommandImpossible, type ProjectArguments } from '../command-process.ts'
import { openProject } from '../open-project.ts'
import { lineOf, placeLints } from '../project/placed-lint.ts'
import { type ProjectDocument, readDocuments } from '../project/project-documents.ts'
import { chooseTarget, PROJECT_FILE, type Project, type ProjectTarget } from '../project/project-file.ts'
import { DocumentsRefused } from './service-command.ts'

export type TargetArguments = ProjectArguments & Readonly<{ target?: string; keyFile?: string }>

export type OpenTarget = Readonly<{ project: Project; target: ProjectTarget; client: ManagementClient }>

type ClientNeeds = Pick<ManagementClientOptions, 'role' | 'unanswered'>

/** A batch of a thousand documents is compiled before it is answered. */
const TIMEOUT_MS = 300_000

/** Throws CommandImpossible. */
export function openTarget(given: TargetArguments, needs: ClientNeeds, env: Environment): OpenTarget {
  const project = openProject([], given)
  if (project === undefined) throw new CommandImpossible(`There is no ${PROJECT_FILE} here or above; give --project.`)
  const reading = chooseTarget(project, given.target)
  if (!reading.ok) throw new CommandImpossible(reading.message)
  const target = reading.value
  if (target === undefined) {
    const names = project.targets.map(({ name }) => name).join(', ')
    const advice = names === '' ? `Give ${PROJECT_FILE} a target, under "targets".` : `Name a target: ${names}.`
    throw new CommandImpossible(advice)
  }
  return { project, target, client: openClient(target.url, given, needs, env) }
}

/** In: a target of the project, or the URL of a service. Throws CommandImpossible. */
export function openService(given: TargetArguments, needs: ClientNeeds, env: Environment): ManagementClient {
  const { target } = given
  if (target !== undefined && (/^[a-z]+:\/\//i.test(target) || missingScheme(target) !== undefined))
    return openClient(target, given, needs, env)
  return openTarget(given, needs, env).client
}

function openClient(url: string, { keyFile }: TargetArguments, needs: ClientNeeds, env: Environment): ManagementClient {
  const reading = readApiKey(keyFile, env)
  if (reading.fault !== undefined) throw new CommandImpossible(reading.fault)
  return createManagementClient({ url, key: reading.key, timeoutMs: TIMEOUT_MS, ...needs })
}

/** A document of the project with the file that it comes from. */
export type ProjectDesire = DesiredDocument & Readonly<{ source: ProjectDocument }>

/** Throws DocumentsRefused with every fault of the files. */
export function readDesired({ project, target }: OpenTarget): readonly ProjectDesire[] {
  const sources = readDocuments({ project, target })
  const faults = sources.flatMap(({ file, document, lints, positions }) => {
    // Without its form, a document cannot be compared; the service checks the rest of it.
    const all = [...lints, ...(document === undefined ? [] : checkDocument(document).lints)]
    const errors = all.filter(({ severity }) => severity === 'error')
    return placeLints(file, errors, positions)
  })
  if (faults.length > 0) throw new DocumentsRefused(faults.map(lineOf))
  return sources.map((source): ProjectDesire => {
    const { file, name, renamedFrom, document } = source
    if (name === undefined || !isObject(document)) {
      throw new DocumentsRefused([`${file}: A document of a project needs a "name", which is its identity.`])
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
