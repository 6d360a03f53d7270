/** The plan of an import as a table: faults first seen at their documents, with their places. */
import { type Column, DataTable } from '../../ui/data/data-table.tsx'
import { StatusChip } from '../../ui/data/status-chip.tsx'
import { FaultDetails } from '../../ui/states/fault-details.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import type { ImportPlan, PlannedDocument } from './import-plan.ts'

export function ImportPlanView({ plan: { documents, unreadable, faults } }: Readonly<{ plan: ImportPlan }>) {
  const created = documents.filter(({ operation }) => operation.op === 'create').length
  const faulty = documents.filter((document) => document.faults.length > 0).length
  return (
    <div className="import-plan flow">
      <p role="status">
        {created} to create, {documents.length - created} to replace
        {faulty === 0 ? '.' : `, ${faulty} with faults.`}
      </p>
      {(unreadable.length > 0 || faults.length > 0) && (
        <ul className="failure-details callout bad">
          {unreadable.map(({ file, why }) => (
            <li key={`${file} ${why}`}>
              <VisibleText text={file} max={200} />: <VisibleText text={why} />
            </li>
          ))}
          {faults.map((fault) => (
            <li key={fault}>
              <VisibleText text={fault} />
            </li>
          ))}
        </ul>
      )}
      {documents.length > 0 && (
        <div className="scroll">
          <DataTable
            label="Documents"
            columns={COLUMNS}
            rows={numbered(documents)}
            getRowId={({ index }) => String(index)}
          />
        </div>
      )}
    </div>
  )
}

type Row = PlannedDocument & Readonly<{ index: number }>

const numbered = (documents: readonly PlannedDocument[]): readonly Row[] =>
  documents.map((document, index) => ({ ...document, index }))

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Document',
    isName: true,
    render: ({ name, file }) => (
      <>
        <strong>
          <VisibleText text={name} max={200} />
        </strong>
        <div className="quiet">
          <VisibleText text={file} max={200} />
        </div>
      </>
    ),
  },
  {
    title: 'What',
    render: ({ operation: { op }, version }) =>
      op === 'create' ? 'creates an endpoint' : `replaces${version === undefined ? '' : `: version ${version}`}`,
  },
  {
    title: 'Check',
    render: ({ faults, warnings }) => (
      <>
        {faults.length === 0 ? (
          <StatusChip tone={warnings.length === 0 ? 'good' : 'warn'}>
            {warnings.length === 0 ? 'no faults' : 'can be imported, with warnings'}
          </StatusChip>
        ) : (
          <StatusChip tone="bad">{faults.length === 1 ? '1 fault' : `${faults.length} faults`}</StatusChip>
        )}
        <FaultDetails details={[...faults, ...warnings]} />
      </>
    ),
  },
]
