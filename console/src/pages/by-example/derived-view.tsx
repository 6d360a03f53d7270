/** What was derived: how much is right, what is left to ask, where each value comes from, and what is stored first. */
import { useRef, useState } from 'react'
import type { Answers, Derived } from '../../api/by-example-calls.ts'
import { compareTable, putTable } from '../../api/table-calls.ts'
import { Button } from '../../ui/controls/button.tsx'
import { type Column, DataTable } from '../../ui/data/data-table.tsx'
import { Figures, share } from '../../ui/data/figures.tsx'
import { StatusChip } from '../../ui/data/status-chip.tsx'
import { TextViewer } from '../../ui/data/text-viewer.tsx'
import { FaultDetails } from '../../ui/states/fault-details.tsx'
import { StoreDialog } from '../../ui/table/store-dialog.tsx'
import { countRows } from '../../ui/table/table-changes.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { nameExample } from './given-examples.ts'

export type DerivedViewProps = Readonly<{
  found: Derived
  /** What the page calls each pair. */
  names: readonly string[]
  /** Pairs were changed since. */
  isStale: boolean
  busy: boolean
  refused: string | undefined
  onAnswers(answers: Answers): void
  onOpen(found: Derived): void
}>

export function DerivedView({ found, names, isStale, busy, refused, onAnswers, onOpen }: DerivedViewProps) {
  const { endpoint, tables, evidence, questions, heldBack, answers, cut, notRead = [] } = found
  const { pairs, leaves, right, asked, wrong } = heldBack
  const [stored, setStored] = useState<readonly string[]>([])
  const missing = Object.keys(tables).find((name) => !stored.includes(name))
  const heading = useRef<HTMLHeadingElement>(null)
  const choose = (target: string, answer: string | undefined) => {
    // The button that was pressed goes with its question.
    heading.current?.focus({ preventScroll: true })
    const { [target]: _before, ...others } = answers
    onAnswers(answer === undefined ? others : { ...others, [target]: answer })
  }
  const rows = toRows(found, names)
  const proof = {
    name: 'Right without seeing the pair',
    value: pairs === 0 ? '–' : share(right, leaves),
    hint: `${right} of ${leaves} values, ${asked} asked, ${leaves - right - asked} wrong; held-back pairs: ${pairs}`,
  }
  const noted = [
    ...wrong.map(({ pair, target, expected, actual }) => ({
      path: `${names[pair]}: ${target}`,
      message: `Derived without this pair, it was ${show(actual)} instead of ${show(expected)}.`,
    })),
    ...notRead.map(({ part, reason }) => ({ path: nameExample(part, names), message: reason })),
    ...(cut ? [{ message: 'The pairs have more than is looked at; places that were not reached are questions.' }] : []),
  ]
  return (
    <section className="derived" aria-label="What was found" aria-busy={busy}>
      <div className="between">
        <h2 ref={heading} tabIndex={-1}>
          What was found {isStale && <StatusChip tone="warn">out of date</StatusChip>}
        </h2>
        <Button
          text="Open in the editor"
          tone="primary"
          refused={
            refused ??
            (isStale ? 'The pairs have changed: derive the document again.' : undefined) ??
            (missing && `Store the table ${missing} first: the document reads it.`)
          }
          busy={busy}
          onPress={() => onOpen(found)}
        />
      </div>
      <Figures
        label="Counts"
        figures={[
          { name: 'Places found', value: evidence.length },
          { name: 'Questions', value: <span role="status">{questions.length}</span>, hint: QUESTIONS_HINT },
          proof,
        ]}
      />
      <FaultDetails details={noted} />
      <Tables tables={tables} stored={stored} onStored={(name) => setStored([...stored, name])} />
      <DataTable
        label="Places"
        columns={columnsFor(choose, busy)}
        rows={rows}
        getRowId={(row) => String(rows.indexOf(row))}
      />
      {evidence.length > MAX_EVIDENCE && <p className="hint">The document has all places; the first are listed.</p>}
      <details>
        <summary>The document</summary>
        <TextViewer text={JSON.stringify(endpoint)} label="The document" fileName="document.json" />
      </details>
    </section>
  )
}

const QUESTIONS_HINT = 'Choose a rule, add a pair that decides, or leave it for the editor'
const MAX_EVIDENCE = 500
const MAX_SHOWN = 60

/** Long values come cut, as texts. */
const show = (value: unknown): string => {
  const text = typeof value === 'string' && value.endsWith('…') ? value : JSON.stringify(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}

const Code = ({ children, className }: Readonly<{ children: string; className?: string }>) => (
  <code className={className}>
    <VisibleText text={children} max={200} />
  </code>
)

type State = 'question' | 'your answer' | 'found'
type Row = Readonly<{ target: string; source: string | undefined; state: State; note: string; choices: string[] }>

/** Questions first, then the answers to others, then what was found. */
function toRows({ questions, answers, evidence }: Derived, names: readonly string[]): readonly Row[] {
  const row = (state: State, target: string, source?: string, note = '', choices: readonly string[] = []): Row => ({
    state,
    target,
    source,
    note,
    choices: [...new Set(choices)],
  })
  return [
    ...questions.map(({ target, source, message, examples, candidates }) => {
      const values = examples.map(({ pair, value }) => `${names[pair]}: ${show(value)}`)
      return row('question', target, source, `${message} ${values.join(', ')}`, candidates)
    }),
    ...Object.entries(answers).map(([target, answer]) => row('your answer', target, answer)),
    ...evidence.slice(0, MAX_EVIDENCE).map(({ target, source, pairs, codes, alternatives }) => {
      const note = `Pairs: ${pairs}${codes === undefined ? '' : `, codes: ${codes}`}`
      return row(
        'found',
        target,
        source,
        note,
        alternatives.filter((one) => one !== source),
      )
    }),
  ]
}

type Choose = (target: string, answer: string | undefined) => void

const columnsFor = (choose: Choose, busy: boolean): readonly Column<Row>[] => [
  { id: 'target', title: 'Place', isName: true, render: ({ target }) => <Code>{target}</Code> },
  {
    id: 'source',
    title: 'Made by',
    render: ({ source }) => (source === undefined ? '–' : <Code className="wrap">{source}</Code>),
  },
  {
    id: 'note',
    title: 'Why',
    render: ({ state, note }) => (
      <>
        {state !== 'found' && <StatusChip tone={state === 'question' ? 'warn' : 'good'}>{state}</StatusChip>}{' '}
        <VisibleText text={note} max={500} />
      </>
    ),
  },
  {
    id: 'choices',
    title: 'Choose a rule',
    meaning: 'Rules that explain every pair as well',
    render: ({ target, source, state, choices }) => (
      <div className="place-choices row">
        {choices.map((one) => (
          <Button
            key={one}
            label={one === source ? `Keep it for ${target}` : `Use ${one} for ${target}`}
            busy={busy}
            onPress={() => choose(target, one)}
          >
            {one === source ? 'Keep it' : <Code>{one}</Code>}
          </Button>
        ))}
        {state === 'your answer' && (
          <Button
            text="Ask again"
            label={`Ask about ${target} again`}
            busy={busy}
            onPress={() => choose(target, undefined)}
          />
        )}
      </div>
    ),
  },
]

type TablesProps = Readonly<{
  tables: Derived['tables']
  stored: readonly string[]
  onStored(name: string): void
}>

function Tables({ tables, stored, onStored }: TablesProps) {
  const [open, setOpen] = useState('')
  const file = { content: new Blob([JSON.stringify(tables[open])]), mediaType: 'application/json' }
  return (
    <>
      {Object.entries(tables).map(([name, rows]) => (
        <div key={name} className="banner">
          <p>
            The document reads the table <Code>{name}</Code> of {countRows(rows.length)}.
          </p>
          {stored.includes(name) ? (
            <StatusChip tone="good">stored</StatusChip>
          ) : (
            <Button text="Store the table …" onPress={() => setOpen(name)} />
          )}
        </div>
      ))}
      {open !== '' && (
        <StoreDialog
          title={`Store the table ${open}`}
          name={open}
          compare={() => compareTable(open, file, {})}
          store={(change) => putTable(open, file, change)}
          onStored={() => onStored(open)}
          onClose={() => setOpen('')}
        />
      )}
    </>
  )
}
