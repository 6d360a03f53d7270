/** One JSONata expression as a text of its own, with its result on the loaded message. */
import { useMemo, useRef, useState } from 'react'
import type { RunReport } from '../../../api/run-calls.ts'
import type { Draft } from '../../../draft/draft.ts'
import { CodeEditor } from '../../../ui/code/code-editor.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../../ui/controls/fields.tsx'
import { TextViewer } from '../../../ui/data/text-viewer.tsx'
import { Empty } from '../../../ui/states/states.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'
import { expressionAssist, type Knowledge } from '../assist/editor-assist.ts'
import {
  type ExpressionResult,
  expressionEdit,
  expressionResult,
  findExpressions,
  newExpression,
} from './expression-text.ts'

export type ExpressionPaneProps = Readonly<{
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
      {result.kind === 'failed' && (
        <p className="bad-text">
          <VisibleText text={result.message} />
        </p>
      )}
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
      <Button type="submit">Add</Button>
    </form>
  )
}
