/** Compiles stored documents, each beside the endpoints that are active already. */
import type { Failure } from '../../domain/failure.ts'
import { keepsOut } from '../../domain/lint.ts'
import type { Logger } from '../../domain/ports/logger-port.ts'
import type { StoredDocument } from '../../domain/stored-document.ts'
import type { PipelineSettings, Services } from '../../pipeline/services.ts'
import type { ActiveEndpoints } from '../active-endpoints.ts'
import { findClashes } from '../clash.ts'
import { compileDocument } from '../compile-document.ts'
import type { CompiledEndpoint } from '../compiled-endpoint.ts'

/** The stored documents that are not active. */
export type InactiveDocuments = Readonly<{
  /** Ids of documents that have faults or clash with an active endpoint. */
  refused: Set<string>
  /** Pending compilations: by id, the reason why no isolated process compiled the document. An earlier one may be active. */
  pending: Map<string, Failure>
}>

/**
 * Resolves to undefined, and logs the faults, if the document cannot become active beside `active`. Fails with
 * OVERLOADED if no isolated process could compile it in time, or with `overload` instead of waiting for a process.
 */
export type LoadStoredEndpoint = (
  document: StoredDocument,
  version: number,
  active: Pick<ActiveEndpoints, 'rivalsOf'>,
  overload?: Failure,
) => Promise<CompiledEndpoint | undefined>

export function createLoadStoredEndpoint({
  services,
  settings,
  logger,
}: Readonly<{ services: Services; settings: PipelineSettings; logger: Logger }>): LoadStoredEndpoint {
  return async (document, version, active, overload) => {
    const { lints, compiled } = await compileDocument(document, { ...document, version }, services, settings, {
      overload,
    })
    const { _id, name } = document
    const errors = lints.filter(({ severity }) => severity === 'error')
    const faults = [...errors.filter(keepsOut), ...findClashes(compiled, active)]
    if (faults.length > 0) {
      logger.error({ endpointId: _id, endpoint: name, faults }, 'A stored endpoint is not active: it has faults')
      return undefined
    }
    if (errors.length > 0) {
      logger.warn(
        { endpointId: _id, endpoint: name, faults: errors },
        'A stored endpoint is active with faults that a new document is refused for: its next change must correct them',
      )
    }
    return { ...compiled, document }
  }
}
