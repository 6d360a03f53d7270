/** Where expressions and schemas of documents run that their operator does not trust: outside of this process. */
import type { Json, JsonObject } from '../domain/json.ts'
import type { Lint, Result } from '../domain/lint.ts'
import type { Verdict } from '../language/json-schema/json-schema.ts'

/** The parts of a document that run there. */
export type Program = Readonly<{
  /** The name of the endpoint, for the log. */
  endpoint: string
  /** Of `inputTransforms`, in the order in which they run. */
  expressions: readonly (readonly [name: string, text: string])[]
  /** `inputValidation`. */
  schema: JsonObject | undefined
}>

/** What an expression reads, as of `Expression`. */
export type Reads = Readonly<{
  roots: readonly string[] | undefined
  references: readonly (readonly string[])[]
}>

/** How the expressions of a message went: what they found, by name, or the one that failed with its reason. */
export type Transformation =
  | Readonly<{ ok: true; transforms: JsonObject }>
  | Readonly<{ ok: false; name: string; why: 'late' }>
  | Readonly<{ ok: false; name: string; why: 'failed'; message: string; unquoted: string }>
  /** Its process was ended; `name` is undefined where it may be any of several. */
  | Readonly<{ ok: false; name: string | undefined; why: 'ended'; message: string }>

/** A program that was compiled there. Its calls reject with DEADLINE_EXCEEDED or OVERLOADED where there is no room for them. */
export type SandboxedProgram = Readonly<{
  /** By name; what is wrong with one is its message. */
  expressions: ReadonlyMap<string, Result<Reads>>
  /** Of the schema; places are from there. */
  lints: readonly Lint[]
  transform(message: JsonObject, deadlineAt: number): Promise<Transformation>
  validate(data: Json, deadlineAt: number): Promise<Verdict>
}>

export interface Sandbox {
  /** A program that cannot be compiled there has its faults. Rejects with OVERLOADED where there was no process for it. */
  compile(program: Program): Promise<SandboxedProgram>
}
