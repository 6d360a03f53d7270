/**
 * Compiles stored documents. At a start, the checks that fit into a few seconds are complete before the ports open, and the
 * rest follows in pieces beside the messages, so that ten thousand endpoints do not hold up a start for minutes.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { type Failure, isOverload } from '../core/failure.ts'
import { isError, type Lint, preventsActivation } from '../core/lint.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { StoredDocument } from '../core/stored-document.ts'
import { needsNoCaller } from '../document/doors.ts'
import type { PipelineCache } from '../pipeline/pipeline-cache.ts'
import type { PipelineSettings, Services } from '../pipeline/services.ts'
import { type CompiledEndpoint, type CompileOptions, compileDocument } from './compiled-endpoint.ts'
import { type ActiveEndpoints, findClashes, type Registry } from './endpoint-registry.ts'
import type { StoreQueue } from './store-queue.ts'

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

type LoadedEndpoint = Readonly<{ compiled: CompiledEndpoint } | { refused: RefusedEndpoint }>

/** What a load decides beside the document. */
type LoadOptions = Readonly<{
  /** Thrown instead of waiting for an isolated process. */
  overload?: Failure | undefined
  /** `later` leaves the faults of the pipeline, and the log, to the check that follows. */
  pipeline?: CompileOptions['pipeline']
}>

export type StoredEndpointsOptions = Readonly<{
  services: Services
  settings: PipelineSettings
  pipelines: PipelineCache
  registry: Registry
  refused: InactiveDocuments['refused']
  /** Runs changes of the registry one after the other. */
  enqueue: StoreQueue
  logger: Logger
  /** How long checks hold up the start; 3,000 by default. */
  beforeOpenMs?: number | undefined
}>

const BEFORE_OPEN_MS = 3_000

/** Checks take at most this share of the thread of messages. */
const SHARE = 1 / 4

/** When no isolated process has time. */
const RETRY_MS = 1_000

/**
 * How much the heap may grow before V8 collects it: checks leave much garbage, and by its own choice, 0, V8 would let ten
 * thousand documents take twice their memory. 40 costs a fifth more processor time of the start.
 */
const growHeapBy = (percent: number): void => setFlagsFromString(`--heap-growing-percent=${percent}`)
const CHECKING_PERCENT = 40

const REFUSED = 'A stored endpoint is not active: it has faults'

const ALONE = { findRivals: () => [] }

export class StoredEndpoints {
  readonly #options: StoredEndpointsOptions
  /** The active endpoints whose documents were not checked, with their versions. */
  readonly #unchecked = new Map<string, number>()
  readonly #stopping = new AbortController()
  #startedAt = 0

  constructor(options: StoredEndpointsOptions) {
    this.#options = options
  }

  /** How many documents are active and not checked yet. */
  get unchecked(): number {
    return this.#unchecked.size
  }

  /**
   * Resolves to `refused`, and logs the faults, if the document cannot become active beside `active`. Fails with
   * OVERLOADED if no isolated process could compile it in time.
   */
  async load(
    document: StoredDocument,
    version: number,
    active: Pick<ActiveEndpoints, 'findRivals'>,
    { overload, pipeline }: LoadOptions = {},
  ): Promise<LoadedEndpoint> {
    const { services, settings, pipelines, logger } = this.#options
    const fields = { endpointId: document._id, endpoint: document.name }
    const onFaults = (faults: readonly Lint[]): void => {
      logger.error({ ...fields, faults }, REFUSED)
      void this.#refuse(document, faults)
    }
    const options = { overload, pipeline, pipelines, onFaults }
    const { lints, compiled } = await compileDocument(document, { ...document, version }, services, settings, options)
    const errors = lints.filter(isError)
    const faults = errors.filter(preventsActivation)
    const clashes = findClashes(compiled, active)
    if (faults.length + clashes.length > 0) {
      logger.error({ ...fields, faults: [...faults, ...clashes] }, REFUSED)
      return { refused: { document, version, faults, clashes } }
    }
    if (errors.length > 0 && pipeline !== 'later') {
      logger.warn(
        { ...fields, faults: errors },
        'A stored endpoint is active with faults that a new document is refused for: its next change must correct them',
      )
    }
    return { compiled: { ...compiled, document, ...(errors.length === 0 ? {} : { toleratedFaults: errors }) } }
  }

  /** Before the store is read for the first time. */
  beginStart(): void {
    this.#startedAt = performance.now()
    growHeapBy(CHECKING_PERCENT)
  }

  /** As `load`, before the ports open. */
  async loadAtStart(
    document: StoredDocument,
    version: number,
    active: Pick<ActiveEndpoints, 'findRivals'>,
    options?: LoadOptions,
  ): Promise<LoadedEndpoint> {
    const { beforeOpenMs = BEFORE_OPEN_MS } = this.#options
    // Its faults would become failures of messages that no one sent for this service alone, such as records of a topic.
    const mustBeChecked = needsNoCaller(document)
    const isLate = performance.now() - this.#startedAt >= beforeOpenMs && !mustBeChecked
    const loaded = await this.load(document, version, active, { ...options, pipeline: isLate ? 'later' : 'checked' })
    if (isLate && 'compiled' in loaded) this.#unchecked.set(document._id, version)
    return loaded
  }

  /** Checks the document of an active endpoint now, if it was not checked yet. */
  async check(id: string): Promise<void> {
    const { registry } = this.#options
    const version = this.#unchecked.get(id)
    const active = registry.get(id)
    if (version === undefined) return
    if (active?.version === version) {
      const { document } = active
      const loaded = await this.load(document, version, ALONE, { pipeline: 'checked' })
      if ('refused' in loaded) await this.#refuse(document, loaded.refused.faults)
      else if (loaded.compiled.toleratedFaults !== undefined) {
        const { toleratedFaults } = loaded.compiled
        await this.#replace(document, (compiled) => registry.update([], [{ ...compiled, toleratedFaults }]))
      }
    }
    this.#unchecked.delete(id)
  }

  /** Checks what the start has left; resolves when that is done, or after `stop`. */
  async checkRest(): Promise<void> {
    const { logger } = this.#options
    const endpoints = this.#unchecked.size
    try {
      if (endpoints === 0) return
      logger.info({ endpoints }, 'Stored endpoints are active before they are checked; the checks run beside messages')
      for (const id of this.#unchecked.keys()) await this.#checkInTime(id)
      logger.info({ endpoints }, 'All stored endpoints are checked')
    } catch (err) {
      if (!this.#stopping.signal.aborted) logger.error({ err }, 'The checks of stored endpoints ended early')
    } finally {
      growHeapBy(0)
    }
  }

  stop(): void {
    this.#stopping.abort()
  }

  async #checkInTime(id: string): Promise<void> {
    const startedAt = performance.now()
    while (this.#unchecked.has(id)) {
      try {
        await this.check(id)
      } catch (thrown) {
        if (!isOverload(thrown)) throw thrown
        await this.#rest(RETRY_MS)
      }
    }
    await this.#rest((performance.now() - startedAt) * (1 / SHARE - 1))
  }

  #rest(ms: number): Promise<void> {
    return pause(ms, undefined, { ref: false, signal: this.#stopping.signal })
  }

  /** Takes an endpoint out of the active ones, if its document is still this one. */
  #refuse(document: StoredDocument, faults: readonly Lint[]): Promise<void> {
    const { registry, refused } = this.#options
    return this.#replace(document, ({ version }) => {
      this.#unchecked.delete(document._id)
      refused.set(document._id, { document, version, faults, clashes: [] })
      registry.remove(document._id)
    })
  }

  #replace(document: StoredDocument, change: (active: CompiledEndpoint) => void): Promise<void> {
    const { registry, enqueue } = this.#options
    return enqueue(async () => {
      const active = registry.get(document._id)
      if (active?.document === document) change(active)
    })
  }
}
