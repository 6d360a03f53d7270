/** The whole service as what is killed: how to start it under load, and how to look at it when it is started again. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '../../../src/core/json.ts'
import { json, type Service, type StoredEndpoint, startService } from '../../support/service.ts'
import { assertSound } from '../../support/store/folder.ts'
import { sealOf } from './crash-documents.ts'
import type { CrashSubject } from './crash-rounds.ts'
import { type CrashAnswer, keptOf, routeOf, TORN, versionOf } from './service-crash-documents.ts'

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
