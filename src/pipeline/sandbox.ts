/**
 * The sandbox: expressions and schemas of documents run off the thread of messages: all of them if the operator does not
 * trust their authors, else those that take long.
 */

import type { Awaitable, Json, JsonObject } from '../core/json.ts'
import type { Lint, Result } from '../core/lint.ts'
import type { TranslateNow } from '../core/tables/table-reads.ts'
import type { Validator, Verdict } from '../language/json-schema/json-schema.ts'
import type { Ambient } from '../language/jsonata/expression.ts'
import type { FaultReport } from '../language/jsonata/expression-limits.ts'

/** The parts of a document that run in the sandbox. */
export type Program = Readonly<{
  /** The name of the endpoint, for the log. */
  endpoint: string
  /** Of `inputTransforms`, in the order in which they run. */
  expressions: readonly (readonly [name: string, text: string])[]
  /** The other expressions of the document, each once. */
  values?: readonly string[]
  /** The schemas of the document, by their places. */
  schemas?: readonly (readonly [place: string, schema: JsonObject])[]
  /** Each message brings the time and chance of its expressions. */
  isAmbient?: true
}>

/** As `Expression` has it. */
export type Reads = Readonly<{
  roots: readonly string[] | undefined
  references: readonly (readonly string[])[]
}>

/**
 * The values of the expressions of a message, by name, or the expression that failed with its reason and, if the call asked
 * for them, the values of those before it.
 */
export type Transformation =
  | Readonly<{ ok: true; transforms: JsonObject }>
  | Readonly<{ ok: false; name: string; why: 'late'; transforms?: JsonObject }>
  | (Readonly<{ ok: false; name: string; why: 'failed'; transforms?: JsonObject }> & FaultReport)
  /** The process was killed; `name` is undefined if any of several expressions may be the reason. */
  | Readonly<{ ok: false; name: string | undefined; why: 'ended'; message: string; transforms?: never }>

/** The value of one expression; undefined if it found nothing. */
export type Evaluation =
  | Readonly<{ ok: true; value?: Json | undefined }>
  | (Readonly<{ ok: false; why: 'late' | 'failed' | 'ended' }> & FaultReport)

/**
 * A program that is compiled in the sandbox. Its calls reject with DEADLINE_EXCEEDED, and with OVERLOADED if no process is
 * free.
 */
export type SandboxedProgram = Readonly<{
  /** Set if the program is compiled here; `expressions` and `lints` are empty then. Else every call runs in the sandbox. */
  local?: LocalRuns | undefined
  /** By name; a fault is the message of its result. */
  expressions: ReadonlyMap<string, Result<Reads>>
  /** The same of the other expressions, by their text. */
  values: ReadonlyMap<string, Result<Reads>>
  /** Of the schemas, by their places; paths are relative to the schema. */
  lints: ReadonlyMap<string, readonly Lint[]>
  /**
   * `partial`: whether a failure is to have the values of the expressions before it. `ambient`: of a program with
   * `isAmbient`. `translate`: for `$table` in the expression of this name.
   */
  transform(
    message: JsonObject,
    deadlineAt: number,
    options?: Readonly<{ partial?: boolean; ambient?: Ambient; translate?: (name: string) => TranslateNow }>,
  ): Promise<Transformation>
  /** `text`: one of `values`. */
  evaluate(
    text: string,
    message: JsonObject,
    deadlineAt: number,
    options?: Readonly<{ ambient?: Ambient; translate?: TranslateNow }>,
  ): Promise<Evaluation>
  /** `place`: of the schema. */
  validate(place: string, data: Json, deadlineAt: number): Promise<Verdict>
}>

/** The calls of a program on the thread of messages. One that is stopped there, and those after it, run in the sandbox. */
export type LocalRuns = Readonly<{
  /** True if the next call runs here. */
  isQuick(): boolean
  /**
   * Runs evaluations one after the other, with a pause for other work after a long one; an evaluation that reaches its limit
   * may run again. Rejects with ExpressionFault `isTimeout` if it was stopped.
   */
  runExclusive<T>(work: (timeoutMs: number) => Promise<T>): Promise<T>
  /** Runs a validation. Out: undefined if it was stopped. */
  validate(validator: Validator, data: Json): Awaitable<Verdict | undefined>
}>

export interface Sandbox {
  /** Faults of the program are in the result. Rejects with OVERLOADED if neither a process nor a thread is free in time. */
  compile(program: Program): Promise<SandboxedProgram>
  /** True if the program is compiled on the thread of messages, which needs no process; by default none is. */
  compilesHere?(program: Program): boolean
}
