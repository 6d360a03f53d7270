/** Compiles stored documents, each beside the endpoints that are active already. */
import type { Failure } from '../../core/failure.ts'
import { keepsOut, type Lint } from '../../core/lint.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { StoredDocument } from '../../core/stored-document.ts'
import type { PipelineCache } from '../../pipeline/pipeline-cache.ts'
import type { PipelineSettings, Services } from '../../pipeline/services.ts'
import type { ActiveEndpoints } from '../active-endpoints.ts'
import { findClashes } from '../clash.ts'
import { type CompileOptions, compileDocument } from '../compile-document.ts'
import type { CompiledEndpoint } from '../compiled-endpoint.ts'

export const REFUSED = 'A stored endpoint is not active: it has faults'

/** A stored document that cannot be active, with all reasons: its own faults, and its clashes with active endpoints. */
export type RefusedEndpoint = Readonly<{
  document: StoredDocument
  version: number
  faults: readonly Lint[]
  clashes: readonly Lint[]
}>

/** The stored documents that are not active, by id. */
export type InactiveDocuments = Readonly<{
  /** Documents that have faults or clash with an active endpoint. */
  refused: Map<string, RefusedEndpoint>
  /** Pending compilations: by id, the reason why no isolated process compiled the document. An earlier one may be active. */
  pending: Map<string, Failure>
}>

export type LoadedEndpoint = Readonly<{ compiled: CompiledEndpoint } | { refused: RefusedEndpoint }>

/** What a load decides beside the document. */
export type LoadOptions = Readonly<{
  overload?: Failure | undefined
  /** As `CompileOptions` has it; `later` leaves the log to the check that follows. */
  pipeline?: CompileOptions['pipeline']
}>

/**
 * Resolves to `refused`, and logs the faults, if the document cannot become active beside `active`. Fails with
 * OVERLOADED if no isolated process could compile it in time, or with `overload` instead of waiting for a process.
 */
export type LoadStoredEndpoint = (
  document: StoredDocument,
  version: number,
  active: Pick<ActiveEndpoints, 'rivalsOf'>,
  options?: LoadOptions,
) => Promise<LoadedEndpoint>

export type LoadStoredEndpointOptions = Readonly<{
  services: Services
  settings: PipelineSettings
  pipelines: PipelineCache
  /** Gets the faults of a document that is active and that a message found first. */
  onFaults: (document: StoredDocument, faults: readonly Lint[]) => void
  logger: Logger
}>

export function createLoadStoredEndpoint(options: LoadStoredEndpointOptions): LoadStoredEndpoint {
  const { services, settings, pipelines, logger } = options
  return async (document, version, active, { overload, pipeline } = {}) => {
    const onFaults = (faults: readonly Lint[]) => options.onFaults(document, faults)
    const { lints, compiled } = await compileDocument(document, { ...document, version }, services, settings, {
      overload,
      pipeline,
      pipelines,
      onFaults,
    })
    const { _id, name } = document
    const errors = lints.filter(({ severity }) => severity === 'error')
    const faults = errors.filter(keepsOut)
    const clashes = findClashes(compiled, active)
    if (faults.length + clashes.length > 0) {
      logger.error({ endpointId: _id, endpoint: name, faults: [...faults, ...clashes] }, REFUSED)
      return { refused: { document, version, faults, clashes } }
    }
    if (errors.length > 0 && pipeline !== 'later') {
      logger.warn(
        { endpointId: _id, endpoint: name, faults: errors },
        'A stored endpoint is active with faults that a new document is refused for: its next change must correct them',
      )
    }
    return { compiled: { ...compiled, document, ...(errors.length === 0 ? {} : { toleratedFaults: errors }) } }
  }
}
