/** The messages between the service and its isolated processes and threads: JSON, each with its length before it. */
import type { Failure } from '../core/failure.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { Lint, Result } from '../core/lint.ts'
import type { SchemaOptions, Verdict } from '../language/json-schema/json-schema.ts'
import type { Ambient, ExpressionLimits } from '../language/jsonata/expression.ts'
import type { Evaluation, Program, Reads, Transformation } from '../pipeline/sandbox.ts'

/** The `nice` value of processes whose programs take long, so that they run only when the processor is idle. */
export const LOWEST_PRIORITY = 19

/** The first message to a process, which says how to compile programs. The process answers `ready`. */
export type ProgramOptions = Readonly<{ limits: ExpressionLimits; schema: SchemaOptions }>

export type IsolationTask =
  | Readonly<{ kind: 'compile' }>
  | Readonly<{
      kind: 'transform'
      message: JsonObject
      leftMs: number
      partial?: boolean
      ambient?: Ambient | undefined
    }>
  | Readonly<{ kind: 'evaluate'; text: string; message: JsonObject; ambient?: Ambient | undefined }>
  | Readonly<{ kind: 'validate'; place: string; data: Json }>

/** `id` identifies the program; `program` is left out if the process has it. The process drops the programs of `forget`. */
export type IsolationRequest = Readonly<{
  id: number
  program: Program | undefined
  forget: readonly number[]
  task: IsolationTask
}>

export type Compilation = Readonly<{
  expressions: readonly (readonly [name: string, result: Result<Reads>])[]
  values: readonly (readonly [text: string, result: Result<Reads>])[]
  lints: readonly (readonly [place: string, lints: readonly Lint[]])[]
}>

/** What `$table` asks while a task runs. `of`: the name of the transform, or the text of the other expression. */
export type Lookup = Readonly<{
  kind: 'lookup'
  of: string
  table: string
  column: string | undefined
  code: string
  mustFind: boolean
}>

/** Lookups are answered in their order. A failure is sent as its parts. */
export type LookupAnswer = Readonly<{
  kind: 'found'
  text?: string | undefined
  failure?: Readonly<Pick<Failure, 'code' | 'message' | 'unquoted'>>
}>

/** `cpuMs`: processor time of the task; without compiling its program, unless that is the task. */
export type IsolationResponse =
  | Readonly<{ kind: 'done'; cpuMs: number; value: Compilation | Transformation | Evaluation | Verdict }>
  /** A fault of the service. */
  | Readonly<{ kind: 'bug'; cpuMs: number; message: string }>

/** Values are no larger than bodies may be; a longer frame did not come from the other side of the protocol. */
export const FRAME_LIMIT = 256 * 1024 * 1024

const HEAD = 4

/** Out: bytes that share no memory with other buffers, so that a thread can take them over. */
export function frame(value: unknown): Buffer {
  const text = JSON.stringify(value)
  const length = Buffer.byteLength(text)
  const bytes = Buffer.allocUnsafeSlow(HEAD + length)
  bytes.writeUInt32LE(length, 0)
  bytes.write(text, HEAD)
  return bytes
}

/** In: chunks, cut anywhere. Calls `take` with the value of each frame. Throws if a frame is longer than FRAME_LIMIT. */
export function unframe(take: (value: unknown) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = []
  let length = 0
  let wanted = HEAD
  return (chunk) => {
    chunks.push(chunk)
    length += chunk.length
    if (length < wanted) return
    let rest = chunks.length === 1 ? chunk : Buffer.concat(chunks)
    while (rest.length >= HEAD) {
      const size = rest.readUInt32LE(0)
      if (size > FRAME_LIMIT) throw new RangeError('A frame is too long.')
      wanted = HEAD + size
      if (rest.length < wanted) break
      const value: unknown = JSON.parse(rest.toString('utf8', HEAD, wanted))
      rest = rest.subarray(wanted)
      wanted = HEAD
      take(value)
    }
    chunks = rest.length === 0 ? [] : [rest]
    length = rest.length
  }
}
