/** The calls of a run: what was sent, what answered, and where that answer is from. Answers can be edited. */
import { useState } from 'react'
import type { CannedAnswer, RunCall, RunReport } from '../../../api/run-calls.ts'
import { Button } from '../../../ui/controls/button.tsx'
import { TextField } from '../../../ui/controls/fields.tsx'
import { CallNotes, NotMade } from '../../../ui/data/call-notes.tsx'
import { StatusChip, type Tone } from '../../../ui/data/status-chip.tsx'
import { TextViewer } from '../../../ui/data/text-viewer.tsx'
import { duration } from '../../../ui/data/time.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'
import { cannedFrom, statusFault, type TypedAnswer, typedAnswer, withAnswer } from '../run/canned-answers.ts'
import type { EditedAnswers } from '../run/run-request.ts'
import { WholeValue } from './stage-values.tsx'

export type CallListProps = Readonly<{
  report: RunReport
  request: string
  answers: EditedAnswers
  onAnswers(answers: EditedAnswers): void
  title?: string
}>

/** The word for where an answer is from. */
function describeSource({ answered, kind, id }: RunCall, answers: EditedAnswers): readonly [Tone, string] {
  if (answered === 'canned') {
    return Object.hasOwn(answersByKind(answers, kind), id) ? ['busy', 'edited'] : ['good', 'of the test']
  }
  if (answered === 'recorded') return ['good', 'recorded']
  if (answered === 'missing') return ['bad', 'missing']
  if (answered === 'live') return ['warn', 'live']
  return ['quiet', answered]
}

const answersByKind = (answers: EditedAnswers, kind: RunCall['kind']) =>
  kind === 'lookup' ? answers.lookups : answers.responses

const withKind = (answers: EditedAnswers, kind: RunCall['kind'], of: EditedAnswers['lookups']): EditedAnswers =>
  kind === 'lookup' ? { ...answers, lookups: of } : { ...answers, responses: of }

export function CallList({ report, request, answers, onAnswers, title = 'Calls' }: CallListProps) {
  const calls = report.calls ?? []
  if (calls.length === 0 && report.notMade === undefined) return null
  return (
    <section aria-label={title} className="calls">
      <h2>{title}</h2>
      <ul>
        {calls.map((call, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a call has no other name than its place
          <li key={`${call.kind} ${call.id} ${index}`}>
            <Call
              call={call}
              request={request}
              answers={answers}
              onAnswer={(given) =>
                onAnswers(
                  withKind(answers, call.kind, withAnswer(answersByKind(answers, call.kind), call, given, report)),
                )
              }
              onReset={() => {
                const { [call.id]: _gone, ...rest } = answersByKind(answers, call.kind)
                onAnswers(withKind(answers, call.kind, rest))
              }}
            />
          </li>
        ))}
      </ul>
      {report.callsNotShown === undefined ? null : <p className="quiet">And {report.callsNotShown} more.</p>}
      <NotMade requests={report.notMade} />
    </section>
  )
}

type CallProps = Readonly<{
  call: RunCall
  request: string
  answers: EditedAnswers
  onAnswer(given: CannedAnswer): void
  onReset(): void
}>

function Call({ call, request, answers, onAnswer, onReset }: CallProps) {
  const [tone, source] = describeSource(call, answers)
  const { kind, id, item, method, url, topic, body, at, answer, ms, remark, fault } = call
  const name = `${kind} ${id}${item === undefined ? '' : `[${item}]`}`
  const [typed, setTyped] = useState<TypedAnswer>()
  return (
    <details className="call" open={call.answered === 'missing' || undefined}>
      <summary>
        <VisibleText as="strong" text={name} max={200} /> <StatusChip tone={tone}>{source}</StatusChip>{' '}
        <code>
          {method} <VisibleText text={url ?? `topic ${topic ?? ''}`} max={300} />
        </code>{' '}
        {answer === undefined ? null : <code>{answer.status}</code>}{' '}
        <span className="quiet">{ms === null ? '' : duration(ms)}</span>
      </summary>
      {remark === undefined ? null : <VisibleText as="p" text={remark} />}
      <CallNotes call={call} />
      {fault === undefined ? null : <VisibleText as="p" className="bad-text" text={fault} />}
      {body === undefined || body === '' ? null : (
        <>
          <h3>Sent</h3>
          <TextViewer text={body} label={`Body sent to ${name}`} fileName="call-body.txt" />
          {at === undefined ? null : (
            <WholeValue at={at} label={`Body sent to ${name}`} fileName="call-body.txt" request={request} />
          )}
        </>
      )}
      {typed === undefined ? (
        <>
          {answer === undefined ? <p>No answer is known.</p> : <h3>Answer</h3>}
          {answer === undefined || answer.body === '' ? null : (
            <TextViewer text={answer.body} label={`Answer of ${name}`} fileName="call-answer.txt" />
          )}
          {answer?.at === undefined ? null : (
            <WholeValue at={answer.at} label={`Answer of ${name}`} fileName="call-answer.txt" request={request} />
          )}
          <div className="button-row">
            <Button onPress={() => setTyped(typedAnswer(call))}>
              {answer === undefined ? 'Write an answer' : 'Edit the answer'}
            </Button>
            {source === 'edited' && <Button text="Back to the answer before" onPress={onReset} />}
          </div>
        </>
      ) : (
        <AnswerForm
          name={name}
          typed={typed}
          onChange={setTyped}
          onCancel={() => setTyped(undefined)}
          onUse={() => {
            onAnswer(cannedFrom(typed))
            setTyped(undefined)
          }}
        />
      )}
    </details>
  )
}

type AnswerFormProps = Readonly<{
  name: string
  typed: TypedAnswer
  onChange(typed: TypedAnswer): void
  onCancel(): void
  onUse(): void
}>

function AnswerForm({ name, typed, onChange, onCancel, onUse }: AnswerFormProps) {
  const fault = statusFault(typed.status)
  return (
    <fieldset className="answer-form">
      <legend>Answer of {name}</legend>
      <div className="field-row">
        <TextField
          label="Status"
          value={typed.status}
          fault={fault}
          onChange={(status) => onChange({ ...typed, status })}
        />
        <TextField
          label="Content type"
          value={typed.contentType}
          onChange={(contentType) => onChange({ ...typed, contentType })}
        />
      </div>
      <TextField label="Body" rows={8} value={typed.body} onChange={(body) => onChange({ ...typed, body })} />
      <div className="button-row">
        <Button text="Run with this answer" tone="primary" refused={fault} onPress={onUse} />
        <Button text="Cancel" onPress={onCancel} />
      </div>
    </fieldset>
  )
}
