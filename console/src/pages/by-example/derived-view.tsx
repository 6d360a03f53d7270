/** What was derived: how much is right, what is left to ask, where each value comes from, and what is stored first. */
import { useRef, useState } from 'react'
import { type Derived, type Evidence, type Question, toTableFile } from '../../api/by-example-calls.ts'
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

type Answer = (target: string, answer: string | undefined) => void

export type DerivedViewProps = Readonly<{
  found: Derived
  /** What the page calls the pair of this index. */
  nameOf(index: number): string
  busy: boolean
  refused: string | undefined
  onAnswer: Answer
  onOpen(): void
}>

export function DerivedView({ found, nameOf, busy, refused, onAnswer, onOpen }: DerivedViewProps) {
  const { endpoint, tables, evidence, questions, heldBack, answers, cut, notRead = [] } = found
  const [stored, setStored] = useState<ReadonlySet<string>>(new Set())
  const missing = Object.keys(tables).find((name) => !stored.has(name))
  const heading = useRef<HTMLHeadingElement>(null)
  /** The button that was pressed goes with its question. */
  const answer: Answer = (target, chosen) => {
    heading.current?.focus({ preventScroll: true })
    onAnswer(target, chosen)
  }
  return (
    <section className="derived" aria-label="What was found" aria-busy={busy}>
      <div className="page-head">
        <h2>What was found</h2>
        <Button
          tone="primary"
          refused={refused ?? (missing && `Store the table ${missing} first: the document reads it.`)}
          busy={busy}
          onPress={onOpen}
        >
          Open in the editor
        </Button>
      </div>
      <Counts found={found} />
      {cut && (
        <p className="hint">The pairs have more than is looked at; places that were not reached are questions.</p>
      )}
      <FaultDetails details={notRead.map(({ part, reason }) => ({ path: part, message: reason }))} />
      {heldBack.wrong.length > 0 && <Wrong wrong={heldBack.wrong} nameOf={nameOf} />}
      <Tables tables={tables} stored={stored} onStored={(name) => setStored(new Set([...stored, name]))} />
      <section className="panel" aria-label="Questions">
        <h3 ref={heading} tabIndex={-1}>
          Questions
        </h3>
        <p role="status">
          {questions.length === 0
            ? 'The pairs decide everything that they have.'
            : 'The pairs do not decide these. Choose a rule, add a pair that decides, or leave it for the editor.'}
        </p>
        {questions.map((question, index) => (
          <QuestionChoice
            // Two questions may be about one place.
            // biome-ignore lint/suspicious/noArrayIndexKey: the questions of one answer never change
            key={index}
            question={question}
            nameOf={nameOf}
            busy={busy}
            onAnswer={answer}
          />
        ))}
        <Answered answers={answers} busy={busy} onAnswer={answer} />
      </section>
      <EvidenceTable evidence={evidence} busy={busy} onAnswer={answer} />
      <details>
        <summary>The document</summary>
        <TextViewer text={JSON.stringify(endpoint)} label="The document" fileName="document.json" />
      </details>
    </section>
  )
}

const Code = ({ children, max = 300 }: Readonly<{ children: string; max?: number }>) => (
  <code className="wrap">
    <VisibleText text={children} max={max} />
  </code>
)

function Counts({ found: { evidence, questions, heldBack } }: Readonly<{ found: Derived }>) {
  const { pairs, leaves, right, asked, wrong } = heldBack
  const hint = `${right} of ${leaves} values of ${pairs === 1 ? 'the pair' : `the ${pairs} pairs`} that ${pairs === 1 ? 'was' : 'were'} held back`
  return (
    <Figures
      label="Counts"
      figures={[
        { name: 'Places found', value: evidence.length },
        { name: 'Questions', value: questions.length },
        {
          name: 'Right without seeing the pair',
          value: pairs === 0 ? '–' : share(right, leaves),
          hint: pairs === 0 ? 'One pair proves nothing; add another' : `${hint}${asked > 0 ? `, ${asked} asked` : ''}`,
          tone: wrong.length > 0 ? 'bad' : undefined,
        },
      ]}
    />
  )
}

type Named = Readonly<{ nameOf(index: number): string }>

const Wrong = ({ wrong, nameOf }: Named & Readonly<{ wrong: Derived['heldBack']['wrong'] }>) => (
  <section className="panel" aria-label="Wrong without seeing the pair">
    <h3>Wrong without seeing the pair</h3>
    <ul className="failure-details">
      {wrong.map(({ pair, target, expected, actual }) => (
        <li key={`${pair} ${target}`}>
          {nameOf(pair)}: <Code>{target}</Code> expected <Code>{JSON.stringify(expected)}</Code>, got{' '}
          <Code>{JSON.stringify(actual)}</Code>
        </li>
      ))}
    </ul>
  </section>
)

type TablesProps = Readonly<{
  tables: Derived['tables']
  stored: ReadonlySet<string>
  onStored(name: string): void
}>

function Tables({ tables, stored, onStored }: TablesProps) {
  const [open, setOpen] = useState<string>()
  if (Object.keys(tables).length === 0) return null
  const file = toTableFile(tables[open ?? ''] ?? [])
  return (
    <section className="panel" aria-label="Tables">
      <h3>Tables</h3>
      <p className="hint">The document reads these code lists as tables. Store them before you open it.</p>
      <ul className="rows">
        {Object.entries(tables).map(([name, rows]) => (
          <li key={name}>
            <Code>{name}</Code> {countRows(rows.length)}
            {stored.has(name) ? (
              <StatusChip tone="good">stored</StatusChip>
            ) : (
              <Button onPress={() => setOpen(name)}>Store the table {name} …</Button>
            )}
          </li>
        ))}
      </ul>
      {open !== undefined && (
        <StoreDialog
          title={`Store the table ${open}`}
          name={open}
          compare={() => compareTable(open, file, {})}
          store={(change) => putTable(open, file, change)}
          onStored={() => onStored(open)}
          onClose={() => setOpen(undefined)}
        />
      )}
    </section>
  )
}

type QuestionChoiceProps = Named & Readonly<{ question: Question; busy: boolean; onAnswer: Answer }>

function QuestionChoice({ question, nameOf, busy, onAnswer }: QuestionChoiceProps) {
  const { target, message, source, candidates, examples } = question
  return (
    <div className="question" role="group" aria-label={`Question about ${target}`}>
      <p>
        <Code>{target}</Code> {message}
      </p>
      {examples.length > 0 && (
        <p className="quiet">
          {examples.map(({ pair, value }, index) => (
            <span key={pair}>
              {index > 0 && ', '}
              {nameOf(pair)}: <Code max={80}>{JSON.stringify(value)}</Code>
            </span>
          ))}
        </p>
      )}
      <div className="choices">
        {[...new Set(candidates)].map((candidate) => (
          <Button key={candidate} busy={busy} onPress={() => onAnswer(target, candidate)}>
            <CandidateText candidate={candidate} />
          </Button>
        ))}
        {source === undefined ? (
          <p className="hint">The document has nothing here: add a pair, or write the entry in the editor.</p>
        ) : (
          <p className="hint">
            For now, the document has <Code max={200}>{source}</Code>.
          </p>
        )}
      </div>
    </div>
  )
}

const CONSTANT = 'the constant '

const CandidateText = ({ candidate }: Readonly<{ candidate: string }>) => (
  <span>
    {candidate.startsWith(CONSTANT) ? 'It is always' : 'It is'} <Code>{candidate.replace(CONSTANT, '')}</Code>
  </span>
)

function Answered({
  answers,
  busy,
  onAnswer,
}: Readonly<{ answers: Derived['answers']; busy: boolean; onAnswer: Answer }>) {
  if (Object.keys(answers).length === 0) return null
  return (
    <section aria-label="Your answers">
      <h4>Your answers</h4>
      <ul className="rows">
        {Object.entries(answers).map(([target, answer]) => (
          <li key={target}>
            <span>
              <Code>{target}</Code> is <Code>{answer}</Code>
            </span>
            <Button
              tone="quiet"
              busy={busy}
              label={`Take the answer about ${target} back`}
              onPress={() => onAnswer(target, undefined)}
            >
              Take back
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}

const SHOWN_AT_FIRST = 200

type EvidenceTableProps = Readonly<{ evidence: readonly Evidence[]; busy: boolean; onAnswer: Answer }>

function EvidenceTable({ evidence, busy, onAnswer }: EvidenceTableProps) {
  const [isWhole, setWhole] = useState(false)
  const rows = (isWhole ? evidence : evidence.slice(0, SHOWN_AT_FIRST)).map((row, index) => ({ ...row, index }))
  const columns: readonly Column<Evidence & { index: number }>[] = [
    { id: 'target', title: 'Place', isName: true, render: ({ target }) => <Code>{target}</Code> },
    { id: 'source', title: 'Made by', render: ({ source }) => <Code>{source}</Code> },
    {
      id: 'pairs',
      title: 'Pairs',
      meaning: 'How many pairs have the place',
      align: 'end',
      render: ({ pairs, codes }) => `${pairs}${codes === undefined ? '' : `, ${codes} codes`}`,
    },
    {
      id: 'alternatives',
      title: 'Would explain every pair as well',
      render: ({ target, alternatives }) =>
        [...new Set(alternatives)].map((one) => (
          <Button
            key={one}
            tone="quiet"
            busy={busy}
            label={`Use ${one} for ${target}`}
            onPress={() => onAnswer(target, one)}
          >
            <Code>{one}</Code>
          </Button>
        )),
    },
  ]
  return (
    <section className="panel" aria-label="Where each value comes from">
      <h3>Where each value comes from</h3>
      <DataTable label="Evidence" columns={columns} rows={rows} getRowId={({ index }) => String(index)} />
      {rows.length < evidence.length && (
        <div>
          <Button onPress={() => setWhole(true)}>Show all {evidence.length.toLocaleString('en')}</Button>
        </div>
      )}
    </section>
  )
}
