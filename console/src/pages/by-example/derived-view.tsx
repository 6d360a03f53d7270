/** What was derived: how much is right, what is left to ask, where each value comes from, and what is stored first. */
import { useRef, useState } from 'react'
import type { Answers, Derived } from '../../api/by-example-calls.ts'
import { compareTable, putTable } from '../../api/table-calls.ts'
import { Button } from '../../ui/controls/button.tsx'
import { DialogButton } from '../../ui/controls/dialog.tsx'
import { type Column, DataTable } from '../../ui/data/data-table.tsx'
import { Figures, share } from '../../ui/data/figures.tsx'
import { StatusChip } from '../../ui/data/status-chip.tsx'
import { TextViewer } from '../../ui/data/text-viewer.tsx'
import { FaultDetails } from '../../ui/states/failure-notice.tsx'
import { StoreDialog } from '../../ui/table/store-dialog.tsx'
import { countRows } from '../../ui/table/table-changes.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

type DerivedViewProps = Readonly<{
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
      {Object.entries(tables).map(([name, rows]) => (
        <div key={name} className="banner">
          <p>
            The document reads the table <VisibleText code text={name} max={200} /> of {countRows(rows.length)}.
          </p>
          {stored.includes(name) ? (
            <StatusChip tone="good">stored</StatusChip>
          ) : (
            <DialogButton
              text="Store the table …"
              dialog={(close) => (
                <StoreDialog
                  title={`Store the table ${name}`}
                  name={name}
                  compare={() => compareTable(name, asFile(rows), {})}
                  store={(change) => putTable(name, asFile(rows), change)}
                  onStored={() => setStored([...stored, name])}
                  onClose={close}
                />
              )}
            />
          )}
        </div>
      ))}
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

const asFile = (rows: unknown) => ({ content: new Blob([JSON.stringify(rows)]), mediaType: 'application/json' })

const QUESTIONS_HINT = 'Choose a rule, add a pair that decides, or leave it for the editor'
const MAX_EVIDENCE = 500
const MAX_SHOWN = 60

/** Long values come cut, as texts. */
const show = (value: unknown): string => {
  const text = typeof value === 'string' && value.endsWith('…') ? value : JSON.stringify(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}

type State = 'question' | 'your answer' | 'found'
type Row = Readonly<{
  target: string
  source: string | undefined
  state: State
  note: string
  choices: readonly string[]
}>

/** Questions first, then the answers to others, then what was found. */
const toRows = ({ questions, answers, evidence }: Derived, names: readonly string[]): readonly Row[] => [
  ...questions.map(({ target, source, message, examples, candidates }): Row => {
    const values = examples.map(({ pair, value }) => `${names[pair]}: ${show(value)}`)
    return { state: 'question', target, source, note: `${message} ${values.join(', ')}`, choices: candidates }
  }),
  ...Object.entries(answers).map(
    ([target, source]): Row => ({ state: 'your answer', target, source, note: '', choices: [] }),
  ),
  ...evidence.slice(0, MAX_EVIDENCE).map(({ target, source, pairs, codes, alternatives }): Row => {
    const note = `Pairs: ${pairs}${codes === undefined ? '' : `, codes: ${codes}`}`
    return { state: 'found', target, source, note, choices: alternatives.filter((one) => one !== source) }
  }),
]

type Choose = (target: string, answer: string | undefined) => void

const columnsFor = (choose: Choose, busy: boolean): readonly Column<Row>[] => [
  { title: 'Place', isName: true, render: ({ target }) => <VisibleText code text={target} max={200} /> },
  {
    title: 'Made by',
    render: ({ source }) => (
      <span className="wrap">
        <VisibleText code={source !== undefined} text={source} max={200} />
      </span>
    ),
  },
  {
    title: 'Why',
    render: ({ state, note }) => (
      <>
        {state !== 'found' && <StatusChip tone={state === 'question' ? 'warn' : 'good'}>{state}</StatusChip>}{' '}
        <VisibleText text={note} max={500} />
      </>
    ),
  },
  {
    title: 'Choose a rule',
    meaning: 'Rules that explain every pair as well',
    render: ({ target, source, state, choices }) => (
      <div className="place-choices row">
        {[...new Set(choices)].map((one) => (
          <Button
            key={one}
            label={one === source ? `Keep it for ${target}` : `Use ${one} for ${target}`}
            busy={busy}
            onPress={() => choose(target, one)}
          >
            {one === source ? 'Keep it' : <VisibleText code text={one} max={200} />}
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

/** In: a place of the request. Out: as the page calls it, such as `Pair 2: message`. */
export const nameExample = (path: string, names: readonly string[]): string =>
  path.replace(/^examples\[(\d+)\]\.?(.*)$/, (all, index: string, rest: string) => {
    const name = names[Number(index)]
    return name === undefined ? all : [name, rest].filter(Boolean).join(': ')
  })
