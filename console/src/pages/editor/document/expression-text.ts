/** The JSONata expressions of a document as texts of their own, and what a run made of them. */
import type { RunReport } from '../../../api/run-calls.ts'
import type { Edit } from '../../../draft/draft.ts'
import { listMembers, memberNamed, readTree } from '../../../draft/json-places.ts'

export type Expression = Readonly<{ name: string; text: string; from: number; to: number }>

/** The members of inputTransforms that are texts. */
export const findExpressions = (text: string): readonly Expression[] =>
  listMembers(memberNamed(readTree(text), 'inputTransforms')).flatMap(({ name, value }) =>
    value.type === 'string'
      ? [{ name, text: String(value.value), from: value.offset, to: value.offset + value.length }]
      : [],
  )

/** The edit that writes an expression as JSON. */
export const expressionEdit = ({ from, to }: Expression, text: string): Edit => ({
  from,
  to,
  insert: JSON.stringify(text),
})

/** The edit that adds an expression, last; undefined if the text isn't an object. */
export function newExpression(text: string, name: string): Edit | undefined {
  const root = readTree(text)
  if (root?.type !== 'object') return undefined
  const member = `${JSON.stringify(name)}: "$"`
  const transforms = memberNamed(root, 'inputTransforms')
  if (transforms === undefined) {
    const last = root.children?.at(-1)
    const at = last === undefined ? root.offset + 1 : last.offset + last.length
    return { from: at, insert: `${last === undefined ? '' : ','}\n  "inputTransforms": {\n    ${member}\n  }` }
  }
  const last = transforms.children?.at(-1)
  if (last === undefined) return { from: transforms.offset + 1, insert: `\n    ${member}\n  ` }
  return { from: last.offset + last.length, insert: `,\n    ${member}` }
}

export type ExpressionResult = Readonly<
  { kind: 'value'; value: unknown } | { kind: 'failed'; message: string } | { kind: 'unknown'; why: string }
>

/** What a run made of an expression. */
export function expressionResult(report: RunReport | undefined, name: string): ExpressionResult {
  if (report === undefined || !report.ran) return { kind: 'unknown', why: 'It has not run yet.' }
  const { failure } = report
  if (failure?.path === `inputTransforms.${name.replaceAll('.', '\\.')}`) {
    return { kind: 'failed', message: failure.error ?? '' }
  }
  const stage = report.stages?.find((one) => one.stage === 'transform')
  if (stage === undefined) return { kind: 'unknown', why: 'The message did not come to the transforms.' }
  const transforms = (stage.output as Readonly<Record<string, unknown>> | undefined)?.transforms
  if (typeof transforms !== 'object' || transforms === null || !Object.hasOwn(transforms, name)) {
    return { kind: 'unknown', why: 'It gave nothing.' }
  }
  return { kind: 'value', value: (transforms as Readonly<Record<string, unknown>>)[name] }
}
