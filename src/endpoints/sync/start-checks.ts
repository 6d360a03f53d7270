/**
 * The checks of stored documents at a start. Those that fit into a few seconds are complete before the ports open, and the
 * rest follows in pieces beside the messages, so that ten thousand endpoints do not hold up a start for minutes.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { isOverload } from '../../core/failure.ts'
import type { Lint } from '../../core/lint.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { StoredDocument } from '../../core/stored-document.ts'
import type { CompiledEndpoint } from '../compiled-endpoint.ts'
import type { Registry } from '../endpoint-registry.ts'
import type { LoadStoredEndpoint, RefusedEndpoint } from './load-stored-endpoint.ts'

export interface StartChecks {
  /** Before the store is read. */
  begin(): void
  /** Loads a document before the ports open. */
  readonly load: LoadStoredEndpoint
  /** How many documents are active and not checked yet. */
  readonly left: number
  /** Checks the document of an active endpoint now, if it was not checked yet. */
  check(id: string): Promise<void>
  /** Takes an endpoint out of the active ones, if its document is still this one. */
  refuse(document: StoredDocument, faults: readonly Lint[]): Promise<void>
  /** Checks the rest; resolves when that is done, or after `stop`. */
  run(): Promise<void>
  stop(): void
}

export type StartChecksOptions = Readonly<{
  loadStoredEndpoint: LoadStoredEndpoint
  registry: Registry
  refused: Map<string, RefusedEndpoint>
  /** Runs changes of the registry one after the other. */
  enqueue: <T>(work: () => Promise<T>) => Promise<T>
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

const ALONE = { rivalsOf: () => [] }

export function createStartChecks({
  loadStoredEndpoint,
  registry,
  refused,
  enqueue,
  logger,
  beforeOpenMs = BEFORE_OPEN_MS,
}: StartChecksOptions): StartChecks {
  /** By id, with the version of the document. */
  const unchecked = new Map<string, number>()
  let startedAt = 0
  const stopping = new AbortController()

  /** An endpoint that consumes a topic needs no caller, so its faults would become failures of records. */
  const mustBeChecked = ({ kafkaConsumerTopic }: StoredDocument): boolean => kafkaConsumerTopic !== undefined

  const load: StartChecks['load'] = async (document, version, active, options) => {
    const isLate = performance.now() - startedAt >= beforeOpenMs && !mustBeChecked(document)
    const pipeline = isLate ? 'later' : 'checked'
    const loaded = await loadStoredEndpoint(document, version, active, { ...options, pipeline })
    if (isLate && 'compiled' in loaded) unchecked.set(document._id, version)
    return loaded
  }

  const replace = (document: StoredDocument, change: (active: CompiledEndpoint) => void): Promise<void> =>
    enqueue(async () => {
      const active = registry.get(document._id)
      if (active?.document === document) change(active)
    })

  const refuse = (document: StoredDocument, faults: readonly Lint[]): Promise<void> =>
    replace(document, ({ version }) => {
      unchecked.delete(document._id)
      refused.set(document._id, { document, version, faults, clashes: [] })
      registry.remove(document._id)
    })

  const check = async (id: string): Promise<void> => {
    const version = unchecked.get(id)
    const active = registry.get(id)
    if (version === undefined) return
    if (active === undefined || active.version !== version) return void unchecked.delete(id)
    const { document } = active
    const loaded = await loadStoredEndpoint(document, version, ALONE, { pipeline: 'checked' })
    if ('refused' in loaded) await refuse(document, loaded.refused.faults)
    else if (loaded.compiled.toleratedFaults !== undefined) {
      const { toleratedFaults } = loaded.compiled
      await replace(document, (compiled) => registry.update([], [{ ...compiled, toleratedFaults }]))
    }
    unchecked.delete(id)
  }

  const rest = (ms: number): Promise<void> => pause(ms, undefined, { ref: false, signal: stopping.signal })

  const checkInTime = async (id: string): Promise<void> => {
    const checkedFrom = performance.now()
    while (unchecked.has(id)) {
      try {
        await check(id)
      } catch (thrown) {
        if (!isOverload(thrown)) throw thrown
        await rest(RETRY_MS)
      }
    }
    await rest((performance.now() - checkedFrom) * (1 / SHARE - 1))
  }

  const checkRest = async (): Promise<void> => {
    const endpoints = unchecked.size
    if (endpoints === 0) return
    logger.info({ endpoints }, 'Stored endpoints are active before they are checked; the checks run beside messages')
    for (const id of unchecked.keys()) await checkInTime(id)
    logger.info({ endpoints }, 'All stored endpoints are checked')
  }

  return {
    begin: () => {
      startedAt = performance.now()
      growHeapBy(CHECKING_PERCENT)
    },
    load,
    get left() {
      return unchecked.size
    },
    check,
    refuse,
    run: async () => {
      try {
        await checkRest()
      } catch (err) {
        if (!stopping.signal.aborted) logger.error({ err }, 'The checks of stored endpoints ended early')
      } finally {
        growHeapBy(0)
      }
    },
    stop: () => stopping.abort(),
  }
}
