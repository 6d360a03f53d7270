/** One JSONata expression as a text of its own, with its result on the loaded message. */
import { useMemo, useRef, useState } from 'react'
import type { RunReport } from '../../../api/run-calls.ts'
import type { Draft, Edit } from '../../../draft/draft.ts'
import { listMembers, memberNamed, readTree } from '../../../draft/json-places.ts'
import { CodeEditor } from '../../../ui/code/code-editor.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../../ui/controls/fields.tsx'
import { TextViewer } from '../../../ui/data/text-viewer.tsx'
import { Empty } from '../../../ui/states/states.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'
import { expressionAssist, type Knowledge } from '../assist/editor-assist.ts'

type ExpressionPaneProps = Readonly<{
  draft: Draft
  text: string
  report: RunReport | undefined
  readOnly: boolean
  knowledge: () => Knowledge
}>

export function ExpressionPane({ draft, text, report, readOnly, knowledge }: ExpressionPaneProps) {
  const expressions = useMemo(() => findExpressions(text), [text])
  const [chosen, setChosen] = useState<string>()
  const latest = useRef(knowledge)
  latest.current = knowledge
  const extensions = useMemo(() => [expressionAssist(() => latest.current())], [])
  const expression = expressions.find(({ name }) => name === chosen) ?? expressions[0]
  const write = (next: string) => {
    if (expression === undefined) return
    const { from, to, insert } = expressionEdit(expression, next)
    draft.dispatch({ changes: { from, to: to ?? from, insert: insert ?? '' }, userEvent: 'input.type' })
  }
  return (
    <div className="expression-pane">
      {expression === undefined ? (
        <Empty title="There are no expressions">
          A JSONata expression computes a value from the message, before the mapping reads it as transforms.name.
        </Empty>
      ) : (
        <>
          <SelectField
            label="Expression"
            value={expression.name}
            choices={expressions.map(({ name }) => ({ value: name, label: name }))}
            onChange={setChosen}
          />
          <CodeEditor
            key={expression.name}
            label={`Expression ${expression.name}`}
            language="text"
            value={expression.text}
            readOnly={readOnly}
            onChange={write}
            extensions={extensions}
          />
          <Result name={expression.name} result={expressionResult(report, expression.name)} />
        </>
      )}
      {!readOnly && (
        <AddExpression
          names={expressions.map(({ name }) => name)}
          onAdd={(name) => {
            const edit = newExpression(text, name)
            if (edit === undefined) return
            draft.applyEdits([edit])
            setChosen(name)
          }}
        />
      )}
    </div>
  )
}

function Result({ name, result }: Readonly<{ name: string; result: ExpressionResult }>) {
  return (
    <section aria-label={`Result of ${name}`}>
      <h2>Result</h2>
      {result.kind === 'value' && (
        <TextViewer
          text={JSON.stringify(result.value, null, 2) ?? ''}
          label={`Result of ${name}`}
          fileName="expression-result.json"
        />
      )}
      {result.kind === 'failed' && <VisibleText as="p" className="bad-text" text={result.message} />}
      {result.kind === 'unknown' && <p className="quiet">{result.why}</p>}
    </section>
  )
}

function AddExpression({ names, onAdd }: Readonly<{ names: readonly string[]; onAdd(name: string): void }>) {
  const [name, setName] = useState('')
  const fault = names.includes(name) ? 'There is an expression of this name.' : undefined
  return (
    <form
      className="field-row"
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim() === '' || fault !== undefined) return
        onAdd(name.trim())
        setName('')
      }}
    >
      <TextField label="New expression" placeholder="Its name" value={name} fault={fault} onChange={setName} />
      <Button text="Add" type="submit" />
    </form>
  )
}

export type Expression = Readonly<{ name: string; text: string; from: number; to: number }>

/** The members of inputTransforms that are texts. */
const findExpressions = (text: string): readonly Expression[] =>
  listMembers(memberNamed(readTree(text), 'inputTransforms')).flatMap(({ name, value }) =>
    value.type === 'string'
      ? [{ name, text: String(value.value), from: value.offset, to: value.offset + value.length }]
      : [],
  )

/** The edit that writes an expression as JSON. */
const expressionEdit = ({ from, to }: Expression, text: string): Edit => ({
  from,
  to,
  insert: JSON.stringify(text),
})

/** The edit that adds an expression, last; undefined if the text isn't an object. */
function newExpression(text: string, name: string): Edit | undefined {
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

type ExpressionResult = Readonly<
  { kind: 'value'; value: unknown } | { kind: 'failed'; message: string } | { kind: 'unknown'; why: string }
>

/** What a run made of an expression. */
function expressionResult(report: RunReport | undefined, name: string): ExpressionResult {
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
