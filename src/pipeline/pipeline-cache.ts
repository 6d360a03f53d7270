/**
 * Which compiled pipelines stay in memory. A compiled endpoint takes some fifty times the memory of its document, and most
 * of many endpoints get few messages: what no message has used for a while is dropped, and compiled again by the next one.
 */
import type { Received } from '../core/message.ts'
import type { Run } from '../core/run.ts'
import type { Handle, Outcome } from './outcome.ts'

export type CachedPipeline = Readonly<{
  /** About the memory that it takes. */
  bytes(): number
  compile(): Promise<Handle>
  /** The outcome of a message for which it could not be compiled. */
  fail(thrown: unknown, run: Run): Outcome
}>

export interface PipelineCache {
  /** Runs the pipeline; compiles it first if it is not in memory. `compiled`: what is in memory at first. */
  add(pipeline: CachedPipeline, compiled?: Handle): Handle
  stop(): void
}

type PipelineCacheOptions = Readonly<{
  /** Above it, pipelines are dropped, but none that a message has used in the last `restMs`. */
  maxBytes: number
  /** 60,000 by default. */
  restMs?: number
}>

type Slot = {
  compiled: Handle | undefined
  compiling: Promise<Handle> | undefined
  isUsed: boolean
}

const REST_MS = 60_000

export function createPipelineCache({ maxBytes, restMs = REST_MS }: PipelineCacheOptions): PipelineCache {
  /** By age, with their bytes. The slots of endpoints that are gone are collected. */
  const kept = new Map<WeakRef<Slot>, number>()
  let keptBytes = 0

  const forget = (ref: WeakRef<Slot>): void => {
    keptBytes -= kept.get(ref) ?? 0
    kept.delete(ref)
  }

  const makeRoom = (): void => {
    if (keptBytes <= maxBytes) return
    for (const ref of kept.keys()) {
      const slot = ref.deref()
      if (slot?.isUsed) continue
      if (slot !== undefined) slot.compiled = undefined
      forget(ref)
      if (keptBytes <= maxBytes) return
    }
  }

  const keep = (slot: Slot, compiled: Handle, bytes: number): void => {
    slot.compiled = compiled
    kept.set(new WeakRef(slot), bytes)
    keptBytes += bytes
    makeRoom()
  }

  const rest = setInterval(() => {
    makeRoom()
    for (const ref of kept.keys()) {
      const slot = ref.deref()
      if (slot === undefined) forget(ref)
      else slot.isUsed = false
    }
  }, restMs)
  rest.unref()

  return {
    add: ({ bytes, compile, fail }, compiled) => {
      const slot: Slot = { compiled: undefined, compiling: undefined, isUsed: false }
      if (compiled !== undefined) keep(slot, compiled, bytes())

      const compileOnce = async (): Promise<Handle> => {
        try {
          const done = await compile()
          slot.isUsed = true
          keep(slot, done, bytes())
          return done
        } finally {
          slot.compiling = undefined
        }
      }
      const compileThenRun = (message: Received, run: Run) => {
        slot.compiling ??= compileOnce()
        return slot.compiling.then(
          (handle) => handle(message, run),
          (thrown) => fail(thrown, run),
        )
      }
      return (message, run) => {
        if (slot.compiled === undefined) return compileThenRun(message, run)
        slot.isUsed = true
        return slot.compiled(message, run)
      }
    },
    stop: () => clearInterval(rest),
  }
}
