/**
 * The steps of one message, for the report of a dry run. An observer wraps the stages of an endpoint when it is compiled,
 * so that an endpoint without one pays nothing.
 */
import type { Json } from '../core/json.ts'
import type { Run } from '../core/run.ts'
import type { StageName } from '../core/tracing/stages.ts'
import type { Expression } from '../language/jsonata/expression.ts'
import type { MappingTrace } from '../language/mapping/mapping-trace.ts'

/** Gets the messages themselves, not copies; must not change them and must not throw. */
export interface StageObserver {
  /** `message`: the message as the stage gets it. */
  started(stage: StageName, message: object, run: Run): void
  /** `message`: what the stage returned; not called for a stage that failed. */
  finished(stage: StageName, message: object, run: Run): void
  /** An expression of `inputTransforms` has run; undefined if it found nothing. */
  transformed(name: string, value: Json | undefined): void
  readonly mapping: MappingTrace
}

type AnyStage = (message: object, run: Run) => object | Promise<object>

/** The same stage, reported to `observer`. */
export function observeStage(name: StageName, stage: AnyStage, observer: StageObserver): AnyStage {
  return (message, run) => {
    observer.started(name, message, run)
    const finish = (next: object): object => {
      observer.finished(name, next, run)
      return next
    }
    const next = stage(message, run)
    return next instanceof Promise ? next.then(finish) : finish(next)
  }
}

/** The same expression, reported to `observer`. */
export function observeExpression(name: string, expression: Expression, observer: StageObserver): Expression {
  const report = (value: Json | undefined): Json | undefined => {
    observer.transformed(name, value)
    return value
  }
  return {
    ...expression,
    evaluate: (...given) => {
      const value = expression.evaluate(...given)
      return value instanceof Promise ? value.then(report) : report(value)
    },
  }
}
