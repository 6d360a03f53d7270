/** Runs the programs of an isolated process: each is compiled when it first arrives, and runs on one message at a time. */
import type { JsonObject } from '../core/json.ts'
import { jsonLength } from '../core/json-size.ts'
import { collectInto, found, type Lint, type Result } from '../core/lint.ts'
import { compileJsonSchema, type Validator } from '../language/json-schema/json-schema.ts'
import { type Ambient, type Expression, ExpressionFault, parseExpression } from '../language/jsonata/expression.ts'
import { TOTAL_LIMIT } from '../language/jsonata/expression-limits.ts'
import type { Program, Transformation } from '../pipeline/sandbox.ts'
import { threadCpuMs } from './cpu-quota.ts'
import type {
  Compilation,
  IsolationRequest,
  IsolationResponse,
  IsolationTask,
  ProgramOptions,
} from './isolation-protocol.ts'

type CompiledProgram = Readonly<{
  expressions: readonly (readonly [name: string, result: Result<Expression>])[]
  validator: Validator | undefined
  lints: readonly Lint[]
  /** Of the message that runs, for a program with `isAmbient`. */
  setAmbient(ambient: Ambient): void
}>

export type Programs = Readonly<{ handle(request: IsolationRequest): Promise<IsolationResponse> }>

export function createPrograms(options: ProgramOptions): Programs {
  const programs = new Map<number, CompiledProgram>()

  const programOf = ({ id, program, forget }: IsolationRequest): CompiledProgram => {
    for (const dropped of forget) programs.delete(dropped)
    const compiled = programs.get(id) ?? (program && compile(program, options))
    if (compiled === undefined) throw new TypeError('The process does not have the program.')
    programs.set(id, compiled)
    return compiled
  }

  return {
    handle: async (request) => {
      let before = threadCpuMs()
      const cpuMs = () => threadCpuMs() - before
      try {
        const compiled = programOf(request)
        if (request.task.kind !== 'compile') before = threadCpuMs()
        return { kind: 'done', value: await run(request.task, compiled), cpuMs: cpuMs() }
      } catch (thrown) {
        return { kind: 'bug', message: thrown instanceof Error ? (thrown.stack ?? '') : String(thrown), cpuMs: cpuMs() }
      }
    },
  }
}

function compile({ expressions, schema, isAmbient }: Program, options: ProgramOptions): CompiledProgram {
  const lints: Lint[] = []
  let current: Ambient = { nowMs: 0, seed: '' }
  const ambient = isAmbient && (() => current)
  return {
    expressions: expressions.map(([name, text]) => [name, parseExpression(text, options.limits, ambient)]),
    setAmbient: (next) => {
      current = next
    },
    validator: schema && compileJsonSchema(schema, options.schema, collectInto(lints)),
    lints,
  }
}

function run(task: IsolationTask, compiled: CompiledProgram) {
  if (task.kind === 'transform') {
    if (task.ambient !== undefined) compiled.setAmbient(task.ambient)
    return transform(compiled, task)
  }
  if (task.kind === 'compile') return describe(compiled)
  if (compiled.validator === undefined) throw new TypeError('The program has no schema.')
  return compiled.validator(task.data)
}

const describe = ({ expressions, lints }: CompiledProgram): Compilation => ({
  expressions: expressions.map(([name, result]) => {
    if (!result.ok) return [name, result]
    const { roots, references } = result.value
    return [name, found({ roots: roots && [...roots], references })]
  }),
  lints,
})

const TOO_LARGE = `The expressions of this message give more than ${TOTAL_LIMIT.toLocaleString('en')} characters together.`

async function transform(
  { expressions }: CompiledProgram,
  { message, leftMs, partial = false }: Extract<IsolationTask, { kind: 'transform' }>,
): Promise<Transformation> {
  const until = performance.now() + leftMs
  let transforms: JsonObject = {}
  let characters = 0
  const soFar = (values: JsonObject) => (partial ? { transforms: values } : {})
  for (const [name, expression] of expressions) {
    if (!expression.ok) throw new TypeError('The program has faults.')
    if (performance.now() >= until) return { ok: false, name, why: 'late', ...soFar(transforms) }
    try {
      const value = await expression.value.evaluate({ ...message, transforms })
      if (value === undefined) continue
      characters += jsonLength(value, TOTAL_LIMIT)
      if (characters > TOTAL_LIMIT) {
        return { ok: false, name, why: 'failed', message: TOO_LARGE, unquoted: TOO_LARGE, ...soFar(transforms) }
      }
      transforms = { ...transforms, [name]: value }
    } catch (thrown) {
      if (!(thrown instanceof ExpressionFault)) throw thrown
      return {
        ok: false,
        name,
        why: 'failed',
        message: thrown.message,
        unquoted: thrown.unquoted,
        ...soFar(transforms),
      }
    }
  }
  return { ok: true, transforms }
}
