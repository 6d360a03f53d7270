/** What the service and its isolated processes say to each other: JSON, with its length before it. */
import type { Json, JsonObject } from '../domain/json.ts'
import type { Lint, Result } from '../domain/lint.ts'
import type { SchemaOptions, Verdict } from '../language/json-schema/json-schema.ts'
import type { ExpressionLimits } from '../language/jsonata/expression.ts'
import type { Program, Reads, Transformation } from '../pipeline/sandbox.ts'

/** The first thing that a process is told. */
export type Terms = Readonly<{ limits: ExpressionLimits; schema: SchemaOptions }>

/** `program` where the process may not have it; the key under which it keeps it is `id`. */
type Asked = Readonly<{ id: number; program: Program | undefined; forget: readonly number[] }>

export type IsolationRequest =
  | (Asked & Readonly<{ kind: 'compile' }>)
  | (Asked & Readonly<{ kind: 'transform'; message: JsonObject; leftMs: number }>)
  | (Asked & Readonly<{ kind: 'validate'; data: Json }>)

export type Compilation = Readonly<{
  expressions: readonly (readonly [name: string, result: Result<Reads>])[]
  lints: readonly Lint[]
}>

/** `cpuMs`: what it took of the processor, without compiling. */
export type IsolationReply =
  | Readonly<{ kind: 'ready' }>
  | Readonly<{ kind: 'done'; cpuMs: number; value: Compilation | Transformation | Verdict }>
  /** A fault of the service. */
  | Readonly<{ kind: 'bug'; cpuMs: number; message: string }>

/** Values are JSON and no larger than bodies may be; what is larger did not come from the other side as it should. */
export const FRAME_LIMIT = 256 * 1024 * 1024

const HEAD = 4

export function frame(value: unknown): Buffer {
  const text = JSON.stringify(value)
  const length = Buffer.byteLength(text)
  const bytes = Buffer.allocUnsafe(HEAD + length)
  bytes.writeUInt32LE(length, 0)
  bytes.write(text, HEAD)
  return bytes
}

/** Puts bytes together to frames; `take` gets each as a value. Throws where a frame is longer than FRAME_LIMIT. */
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
