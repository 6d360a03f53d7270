/** Stored documents become endpoints again, each beside what is in force already. */
import type { Failure } from '../../domain/failure.ts'
import { keepsOut } from '../../domain/lint.ts'
import type { Logger } from '../../domain/ports/logger-port.ts'
import type { StoredDocument } from '../../domain/stored-document.ts'
import type { PipelineSettings, Services } from '../../pipeline/services.ts'
import type { ActiveEndpoints } from '../active-endpoints.ts'
import { findClashes } from '../clash.ts'
import { compileDocument } from '../compile-document.ts'
import type { CompiledEndpoint } from '../compiled-endpoint.ts'
import { isolate } from '../isolate.ts'

export type LoadMeans = Readonly<{ services: Services; settings: PipelineSettings; logger: Logger }>

/** What a stored document compiles to; undefined where this version refuses it, or to have it beside `inForce`. */
export async function loadStoredEndpoint(
  { services, settings, logger }: LoadMeans,
  document: StoredDocument,
  version: number,
  inForce: Pick<ActiveEndpoints, 'rivalsOf'>,
  starved?: Failure,
): Promise<CompiledEndpoint | undefined> {
  const isolated = await isolate(document, services, starved)
  const { lints, compiled } = compileDocument(document, { ...document, version }, isolated, settings)
  const { _id, name } = document
  const errors = lints.filter(({ severity }) => severity === 'error')
  const faults = [...errors.filter(keepsOut), ...findClashes(compiled, inForce)]
  if (faults.length === 0) {
    if (errors.length > 0) {
      logger.warn(
        { endpointId: _id, endpoint: name, faults: errors },
        'A stored endpoint is active with faults that a new document is refused for: its next change must correct them',
      )
    }
    return { ...compiled, document }
  }
  logger.error({ endpointId: _id, endpoint: name, faults }, 'A stored endpoint is not in force: it has faults')
  return undefined
}
