/** The work of an isolated process: programs by their keys, compiled when they first come, and run on one message at a time. */
import type { JsonObject } from '../domain/json.ts'
import { collectInto, found, type Lint, type Result } from '../domain/lint.ts'
import { compileJsonSchema, type Validator } from '../language/json-schema/json-schema.ts'
import { type Expression, ExpressionFault, parseExpression } from '../language/jsonata/expression.ts'
import type { Program, Transformation } from '../pipeline/sandbox.ts'
import type { Compilation, IsolationReply, IsolationRequest, Terms } from './isolation-protocol.ts'

type CompiledEndpoint = Readonly<{
  expressions: readonly (readonly [name: string, result: Result<Expression>])[]
  validator: Validator | undefined
  lints: readonly Lint[]
}>

export type Programs = Readonly<{ answer(question: IsolationRequest): Promise<IsolationReply> }>

export function createPrograms(terms: Terms): Programs {
  const programs = new Map<number, CompiledEndpoint>()

  const programOf = ({ id, program, forget }: IsolationRequest): CompiledEndpoint => {
    for (const gone of forget) programs.delete(gone)
    const compiled = programs.get(id) ?? (program && compile(program, terms))
    if (compiled === undefined) throw new TypeError('The program is not known.')
    programs.set(id, compiled)
    return compiled
  }

  return {
    answer: async (question) => {
      let before = threadCpuUsage()
      const cpuMs = () => threadCpuUsage() - before
      try {
        const compiled = programOf(question)
        before = threadCpuUsage()
        return { kind: 'done', value: await run(question, compiled), cpuMs: cpuMs() }
      } catch (thrown) {
        return { kind: 'bug', message: thrown instanceof Error ? (thrown.stack ?? '') : String(thrown), cpuMs: cpuMs() }
      }
    },
  }
}

/** Milliseconds; what compiling and collecting garbage take beside it is not the program's fault. */
function threadCpuUsage(): number {
  // Not yet in the types of Node.js 24.
  const { user, system } = (process as unknown as { threadCpuUsage(): NodeJS.CpuUsage }).threadCpuUsage()
  return (user + system) / 1_000
}

function compile({ expressions, schema }: Program, terms: Terms): CompiledEndpoint {
  const lints: Lint[] = []
  return {
    expressions: expressions.map(([name, text]) => [name, parseExpression(text, terms.limits)]),
    validator: schema && compileJsonSchema(schema, terms.schema, collectInto(lints)),
    lints,
  }
}

function run(question: IsolationRequest, compiled: CompiledEndpoint) {
  if (question.kind === 'transform') return transform(compiled, question.message, question.leftMs)
  if (question.kind === 'compile') return describe(compiled)
  if (compiled.validator === undefined) throw new TypeError('The program has no schema.')
  return compiled.validator(question.data)
}

const describe = ({ expressions, lints }: CompiledEndpoint): Compilation => ({
  expressions: expressions.map(([name, result]) => {
    if (!result.ok) return [name, result]
    const { roots, references } = result.value
    return [name, found({ roots: roots && [...roots], references })]
  }),
  lints,
})

async function transform(
  { expressions }: CompiledEndpoint,
  message: JsonObject,
  leftMs: number,
): Promise<Transformation> {
  const until = performance.now() + leftMs
  let transforms: JsonObject = {}
  for (const [name, expression] of expressions) {
    if (!expression.ok) throw new TypeError('The program has faults.')
    if (performance.now() >= until) return { ok: false, name, why: 'late' }
    try {
      const value = await expression.value.evaluate({ ...message, transforms })
      if (value !== undefined) transforms = { ...transforms, [name]: value }
    } catch (thrown) {
      if (!(thrown instanceof ExpressionFault)) throw thrown
      return { ok: false, name, why: 'failed', message: thrown.message, unquoted: thrown.unquoted }
    }
  }
  return { ok: true, transforms }
}
