/**
 * Joins stages to one pipeline: the only place that runs them, awaits them and wraps what they throw.
 * The types say what must have run before a stage, so a wrong order does not compile.
 */
import { asFailure, type Failure } from '../core/failure.ts'
import type { Awaitable } from '../core/json.ts'
import type { Run } from '../core/run.ts'
import type { StageName } from '../core/tracing/stages.ts'
import { endStage } from '../core/tracing/trace.ts'
import { observeStage, type StageObserver } from './stage-observer.ts'

/** Takes a read-only message and returns a wider one. Shares nothing mutable with other messages. */
export type Stage<In, Out> = (message: In, run: Run) => Awaitable<Out>

/** A stage that an endpoint does not use: the compiler knows what it would add, so nothing runs. */
type Unused<Out> = Readonly<{ adds: Partial<Out> }>

export type Step<In, Out> = Stage<In, Out> | Unused<Out>

type Pipeline<In, Result> = (message: In, run: Run) => Awaitable<Result>

/** What a pipeline makes of how its message ended. `failure`: names its stage, whatever the stage threw. */
export type Ending<Out, Result> = Readonly<{
  succeed(message: Out): Result
  fail(failure: Failure, run: Run): Result
}>

export interface Chain<In extends object, Out extends object> {
  /** Appends a step; the compiler rejects one whose input the steps before it do not supply. */
  add<Next extends object>(name: StageName, step: Step<Out, Next>): Chain<In, Next>
  /**
   * The pipeline: runs without a promise as long as its stages do. Throws and rejects only where `ending` does.
   * Fills the trace of the run: its stages, and how far the message got.
   */
  build<Result>(ending: Ending<Out, Result>): Pipeline<In, Result>
}

type AnyStage = Stage<object, object>
type Link = Readonly<{ name: StageName; stage: AnyStage }>
type LinkedStages<Result> = Readonly<{ links: readonly Link[]; ending: Ending<object, Result> }>

/** `observer`: gets what happens to the one message that the pipeline is to run. */
export function startChain<In extends object>(observer?: StageObserver): Chain<In, In> {
  const wrap = (name: StageName, stage: AnyStage): AnyStage =>
    observer === undefined ? stage : observeStage(name, stage, observer)
  return extend<In, In>([], {}, wrap)
}

function extend<In extends object, Out extends object>(
  links: readonly Link[],
  constants: object,
  wrap: (name: StageName, stage: AnyStage) => AnyStage,
): Chain<In, Out> {
  return {
    add: <Next extends object>(name: StageName, step: Step<Out, Next>) =>
      typeof step === 'function'
        ? extend<In, Next>(links.concat({ name, stage: wrap(name, step as unknown as AnyStage) }), constants, wrap)
        : extend<In, Next>(links, { ...constants, ...step.adds }, wrap),
    build: (ending) => {
      const linked = { links, ending: ending as Ending<object, never> }
      return (message, run) => runFrom(linked, 0, { ...message, ...constants }, run)
    },
  }
}

/** Runs the stages from an index on. Not a promise as long as none of them returns one: an await takes time for any value. */
function runFrom<Result>(linked: LinkedStages<Result>, from: number, message: object, run: Run): Awaitable<Result> {
  const { links, ending } = linked
  let current = message
  for (let index = from; index < links.length; index += 1) {
    const { name, stage } = links[index] as Link
    let next: Awaitable<object>
    try {
      next = stage(current, run)
    } catch (thrown) {
      return ending.fail(blame(thrown, name, current, run), run)
    }
    if (next instanceof Promise) return resume(linked, index, current, next, run)
    endStage(run.trace, name)
    current = next
  }
  run.trace.reached = current
  return ending.succeed(current)
}

/** Runs the rest of the pipeline behind a stage that returned a promise. */
function resume<Result>(
  linked: LinkedStages<Result>,
  index: number,
  before: object,
  pending: Promise<object>,
  run: Run,
): Promise<Result> {
  const { name } = linked.links[index] as Link
  // Not an async function, whose frame takes more memory while it waits.
  return pending.then(
    (next) => {
      endStage(run.trace, name)
      return runFrom(linked, index + 1, next, run)
    },
    (thrown: unknown) => linked.ending.fail(blame(thrown, name, before, run), run),
  )
}

function blame(thrown: unknown, stage: StageName, reached: object, { trace }: Run): Failure {
  const failure = asFailure(thrown)
  failure.stage ??= stage
  endStage(trace, stage)
  trace.reached = reached
  return failure
}
