/** The whole service as what is killed: how to start it under load, and how to look at it when it is started again. */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { json, type Service, type StoredEndpoint, startService } from '../../support/service.ts'
import { assertSound } from '../../support/store/folder.ts'
import { sealed, sealOf } from './crash-documents.ts'
import type { CrashSubject } from './crash-rounds.ts'

export const TORN = 'torn'

/** What an endpoint answers to any message. */
export type CrashAnswer = Readonly<{ number: number; kept?: JsonObject }>

export const routeOf = (number: Json | undefined): string => `/crash/${number}`

/** A version of the endpoint of that name: its route and its constants report the number. */
export function crashEndpoint(name: string, content: Readonly<{ number: number; stream: number; payload: string }>) {
  const constants = sealed(content)
  const document = {
    name,
    endpoint: { pattern: routeOf(content.number) },
    transformation: { input: 'JSON', output: 'JSON' },
    constants,
    inputMapping: { 'constants.number': 'number', 'state.requestBody.kept': 'kept' },
    state: { extract: { requestBody: { kept: 'kept' } } },
  }
  return { document, value: constants.checksum }
}

/** The version of a stored document: TORN where its parts are not of one version. */
export function versionOf({ endpoint, constants }: JsonObject): string {
  const { pattern } = endpoint as JsonObject
  const content = constants as JsonObject
  return pattern === routeOf(content.number) ? (sealOf(content) ?? TORN) : TORN
}

/** Where the state of an endpoint is accounted: removing the endpoint takes it along. */
export const keptOf = (name: string): string => `${name}/kept`

const CHILD = fileURLToPath(new URL('./service-crash-child.ts', import.meta.url))

/** A service whose database is in the folder; registers are the names of endpoints and their states. */
export function compileServiceSubject(folder: string): CrashSubject {
  return {
    command: (seed) => [CHILD, folder, `${seed}`],
    async inspect() {
      const faults: string[] = []
      const found = new Map<string, string>()
      try {
        assertSound(join(folder, 'test.db'))
      } catch (thrown) {
        faults.push(String(thrown))
      }
      const service = await startService({}, folder)
      const documents = (await service.fetch('/endpoints')).json<StoredEndpoint[]>()
      const { status, endpoints } = (await (await fetch(`${service.adminUrl}/health/ready`)).json()) as JsonObject
      if (status !== 'ready' || endpoints !== documents.length)
        faults.push(`the service is ${status} with ${endpoints} of ${documents.length} endpoints in force`)
      for (const document of documents) {
        found.set(document.name, versionOf(document))
        const { number, kept } = await ask(service, document)
        if (number !== (document.constants as JsonObject).number)
          faults.push(`${document.name} is stored with another version than ${number}, which is in force`)
        if (kept !== undefined) found.set(keptOf(document.name), sealOf(kept) ?? TORN)
      }
      await service.stop()
      return { found, faults }
    },
  }
}

/** What the endpoint answers. Asking is a message too, so the state that it found is put back. */
async function ask(service: Service, { constants }: StoredEndpoint): Promise<CrashAnswer> {
  const path = routeOf((constants as JsonObject).number)
  const answer = (await service.fetch(path, json('POST', {}))).json<CrashAnswer>()
  if (answer.kept !== undefined) await service.fetch(path, json('POST', { kept: answer.kept }))
  return answer
}
