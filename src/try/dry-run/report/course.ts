/** The course of one message: what each stage got and returned. */
import type { Json, JsonObject } from '../../../core/json.ts'
import type { StageName } from '../../../core/tracing/stages.ts'
import { createMappingTrace } from '../../../language/mapping/mapping-trace.ts'
import type { StageObserver } from '../../../pipeline/stage-observer.ts'

/** The message before and after a stage. `after` is undefined if the stage failed. */
export type StageCourse = Readonly<{ before: JsonObject; after: JsonObject | undefined; extracted?: JsonObject }>

export type Course = StageObserver &
  Readonly<{
    stage(name: StageName): StageCourse | undefined
    /** The expressions that ran, with their values. */
    transforms: ReadonlyMap<string, Json | undefined>
  }>

/** It holds the values of the message, not copies; of several messages, the stages of the last and all expressions. */
export function createCourse(): Course {
  const stages = new Map<StageName, StageCourse>()
  const transforms = new Map<string, Json | undefined>()
  return {
    started: (stage, message) => void stages.set(stage, { before: message as JsonObject, after: undefined }),
    finished: (stage, message, { extracted }) => {
      const before = stages.get(stage)?.before ?? {}
      const isExtract = stage === 'extract' && extracted !== undefined
      stages.set(stage, { before, after: message as JsonObject, ...(isExtract ? { extracted } : {}) })
    },
    transformed: (name, value) => void transforms.set(name, value),
    mapping: createMappingTrace(),
    stage: (name) => stages.get(name),
    transforms,
  }
}
