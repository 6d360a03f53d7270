/**
 * THE ISOLATED PROCESS: the program of a child, whose standard input and output are its only channel; or of a thread, with a
 * message port.
 */
import { Socket } from 'node:net'
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { Failure } from '../core/failure.ts'
import { type JsonObject, jsonLength } from '../core/json.ts'
import { collectInto, found, type Lint, type Result } from '../core/lint.ts'
import type { Translate } from '../core/tables/table-reads.ts'
import { compileJsonSchema, type Validator } from '../language/json-schema/json-schema.ts'
import { type Ambient, type Expression, ExpressionFault, parseExpression } from '../language/jsonata/expression.ts'
import { TOTAL_LIMIT } from '../language/jsonata/expression-limits.ts'
import type { Evaluation, Program, Reads, Transformation } from '../pipeline/sandbox.ts'
import { confine } from './confine.ts'
import { threadCpuMs } from './cpu-quota.ts'
import {
  type Compilation,
  frame,
  type IsolationRequest,
  type IsolationResponse,
  type IsolationTask,
  LOWEST_PRIORITY,
  type Lookup,
  type LookupAnswer,
  type ProgramOptions,
  unframe,
} from './isolation-protocol.ts'

const channel = parentPort === null ? openPipes() : openPort(parentPort)
confine()

let programs: ReturnType<typeof createPrograms> | undefined
channel.read(
  unframe((value) => {
    if (programs === undefined) {
      programs = createPrograms(value as ProgramOptions)
      channel.write(frame('ready'))
      return
    }
    const received = value as IsolationRequest | LookupAnswer
    if ('kind' in received) {
      waiting.shift()?.(received)
      return
    }
    programs.handle(received).then((response) => channel.write(frame(response)))
  }),
)

/** Lookups that are not answered yet. */
const waiting: ((answer: LookupAnswer) => void)[] = []

/** `mayAsk`: false once the task has ended, whose branches may still run: another message runs then. */
const askService =
  (of: string, mayAsk: () => boolean): Translate =>
  async (table, column, code, mustFind) => {
    if (!mayAsk()) throw new TypeError('The task has ended.')
    channel.write(frame({ kind: 'lookup', of, table, column, code, mustFind } satisfies Lookup))
    const { text, failure } = await new Promise<LookupAnswer>((resolve) => void waiting.push(resolve))
    if (failure === undefined) return text
    throw new Failure(failure.code, failure.message, { unquoted: failure.unquoted })
  }

type Channel = Readonly<{ read(take: (chunk: Buffer) => void): void; write(bytes: Buffer): void }>

function openPipes(): Channel {
  const input = new Socket({ fd: 0, readable: true, writable: false })
  const output = new Socket({ fd: 1, readable: false, writable: true })
  // The channel closes when the service ends, even if it was killed.
  for (const event of ['end', 'error', 'close']) input.on(event, () => process.exit(0))
  output.on('error', () => process.exit(0))
  return { read: (take) => input.on('data', take), write: (bytes) => void output.write(bytes) }
}

function openPort(port: NonNullable<typeof parentPort>): Channel {
  lowerPriority()
  return {
    read: (take) =>
      port.on('message', (bytes: Uint8Array) => take(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))),
    write: (bytes) => port.postMessage(bytes, [bytes.buffer as ArrayBuffer]),
  }
}

/** The thread of messages goes first where both want the same processor. */
function lowerPriority(): void {
  // Elsewhere a priority belongs to the whole process.
  if (process.platform !== 'linux') return
  try {
    setPriority(LOWEST_PRIORITY)
  } catch {
    // The system forbids it: then the thread competes with the others.
  }
}

type CompiledProgram = Readonly<{
  expressions: readonly (readonly [name: string, result: Result<Expression>])[]
  values: ReadonlyMap<string, Result<Expression>>
  validators: ReadonlyMap<string, Validator | undefined>
  lints: Compilation['lints']
  /** Of the message that runs, for a program with `isAmbient`. */
  setAmbient(ambient: Ambient): void
}>

/** Each program is compiled when it first arrives, and runs on one message at a time. */
function createPrograms(options: ProgramOptions) {
  const programs = new Map<number, CompiledProgram>()

  const programFor = ({ id, program, forget }: IsolationRequest): CompiledProgram => {
    for (const dropped of forget) programs.delete(dropped)
    const compiled = programs.get(id) ?? (program && compile(program, options))
    if (compiled === undefined) throw new TypeError('The process does not have the program.')
    programs.set(id, compiled)
    return compiled
  }

  return {
    handle: async (request: IsolationRequest): Promise<IsolationResponse> => {
      let before = threadCpuMs()
      const cpuMs = () => threadCpuMs() - before
      try {
        const compiled = programFor(request)
        if (request.task.kind !== 'compile') before = threadCpuMs()
        return { kind: 'done', value: await runTask(request.task, compiled), cpuMs: cpuMs() }
      } catch (thrown) {
        return { kind: 'bug', message: thrown instanceof Error ? (thrown.stack ?? '') : String(thrown), cpuMs: cpuMs() }
      }
    },
  }
}

function compile(
  { expressions, values = [], schemas = [], isAmbient }: Program,
  options: ProgramOptions,
): CompiledProgram {
  const checked = schemas.map(([place, schema]) => {
    const lints: Lint[] = []
    return { place, validator: compileJsonSchema(schema, options.schema, collectInto(lints)), lints }
  })
  let current: Ambient = { nowMs: 0, seed: '' }
  const ambient = isAmbient && (() => current)
  const parse = (text: string) => parseExpression(text, options.limits, ambient)
  return {
    expressions: expressions.map(([name, text]) => [name, parse(text)]),
    values: new Map(values.map((text) => [text, parse(text)])),
    setAmbient: (next) => {
      current = next
    },
    validators: new Map(checked.map(({ place, validator }) => [place, validator])),
    lints: checked.map(({ place, lints }) => [place, lints]),
  }
}

async function runTask(task: IsolationTask, compiled: CompiledProgram) {
  let isRunning = true
  const translateFor = (of: string) => askService(of, () => isRunning)
  try {
    return await run(task, compiled, translateFor)
  } finally {
    isRunning = false
  }
}

function run(task: IsolationTask, compiled: CompiledProgram, translateFor: (of: string) => Translate) {
  if ('ambient' in task && task.ambient !== undefined) compiled.setAmbient(task.ambient)
  if (task.kind === 'transform') return transform(compiled, task, translateFor)
  if (task.kind === 'evaluate') return evaluate(compiled, task, translateFor)
  if (task.kind === 'compile') return describe(compiled)
  const validator = compiled.validators.get(task.place)
  if (validator === undefined) throw new TypeError('The program does not have the schema.')
  return validator(task.data)
}

const describe = ({ expressions, values, lints }: CompiledProgram): Compilation => ({
  expressions: expressions.map(describeReads),
  values: [...values].map(describeReads),
  lints,
})

function describeReads([key, result]: readonly [string, Result<Expression>]): readonly [string, Result<Reads>] {
  if (!result.ok) return [key, result]
  const { roots, references } = result.value
  return [key, found({ roots: roots && [...roots], references })]
}

const TOO_LARGE = `The expressions of this message give more than ${TOTAL_LIMIT.toLocaleString('en')} characters together.`

async function transform(
  { expressions }: CompiledProgram,
  { message, leftMs, partial = false }: Extract<IsolationTask, { kind: 'transform' }>,
  translateFor: (of: string) => Translate,
): Promise<Transformation> {
  const until = performance.now() + leftMs
  let transforms: JsonObject = {}
  let characters = 0
  const soFar = (values: JsonObject) => (partial ? { transforms: values } : {})
  for (const [name, expression] of expressions) {
    if (!expression.ok) throw new TypeError('The program has faults.')
    if (performance.now() >= until) return { ok: false, name, why: 'late', ...soFar(transforms) }
    try {
      const value = await expression.value.evaluate({ ...message, transforms }, translateFor(name))
      if (value === undefined) continue
      characters += jsonLength(value, TOTAL_LIMIT)
      if (characters > TOTAL_LIMIT) {
        return { ok: false, name, why: 'failed', message: TOO_LARGE, unquoted: TOO_LARGE, ...soFar(transforms) }
      }
      transforms = { ...transforms, [name]: value }
    } catch (thrown) {
      if (!(thrown instanceof ExpressionFault)) throw thrown
      return { ok: false, name, why: 'failed', ...thrown.report(), ...soFar(transforms) }
    }
  }
  return { ok: true, transforms }
}

async function evaluate(
  { values }: CompiledProgram,
  { text, message }: Extract<IsolationTask, { kind: 'evaluate' }>,
  translateFor: (of: string) => Translate,
): Promise<Evaluation> {
  const expression = values.get(text)
  if (!expression?.ok) throw new TypeError('The program has faults.')
  try {
    return { ok: true, value: await expression.value.evaluate(message, translateFor(text)) }
  } catch (thrown) {
    if (!(thrown instanceof ExpressionFault)) throw thrown
    return { ok: false, why: 'failed', ...thrown.report() }
  }
}
