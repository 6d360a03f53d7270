/** Adding rows: one that is typed, or many as a spreadsheet copies them. */
import { useState } from 'react'
import { changeRows, compareRows } from '../../api/table-calls.ts'
import { TextField } from '../../ui/controls/fields.tsx'
import { StoreDialog } from '../../ui/table/store-dialog.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { parsePasted, toRows } from './parse-pasted.ts'

type RowsDialogProps = Readonly<{ name: string; columns: readonly string[]; onStored(): void; onClose(): void }>

export function AddRowDialog({ name, columns, onStored, onClose }: RowsDialogProps) {
  const [cells, setCells] = useState<readonly string[]>(columns.map(() => ''))
  const change = { rows: [Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? '']))] }
  return (
    <StoreDialog
      title={`Add a row to ${name}`}
      name={name}
      refused={cells[0] === '' ? `Fill in ${columns[0]} first: it is the key.` : undefined}
      compare={() => compareRows(name, change)}
      store={(how) => changeRows(name, change, how)}
      onStored={onStored}
      onClose={onClose}
    >
      {columns.map((column, index) => (
        <TextField
          key={column}
          label={column}
          value={cells[index] ?? ''}
          onChange={(text) => setCells(cells.with(index, text))}
          isRequired={index === 0}
        />
      ))}
    </StoreDialog>
  )
}

/** `pasted`: on the page, before the dialog was open. */
export function PasteDialog({ pasted, ...props }: RowsDialogProps & Readonly<{ pasted: string }>) {
  const { name, columns, onStored, onClose } = props
  const [text, setText] = useState(pasted)
  const lines = parsePasted(text)
  const change = { rows: toRows(lines, columns) }
  return (
    <StoreDialog
      title={`Paste rows into ${name}`}
      name={name}
      refused={change.rows.length === 0 ? 'Paste rows first.' : undefined}
      isComplete={pasted !== ''}
      compare={() => compareRows(name, change)}
      store={(how) => changeRows(name, change, how)}
      onStored={onStored}
      onClose={onClose}
    >
      <p>
        Copy the rows in the spreadsheet and paste them here. Their cells are{' '}
        <VisibleText text={columns.join(', ')} max={500} />, in this order; or the first line names the columns. A row
        whose key is there already is changed; columns that are not pasted keep their values.
      </p>
      <TextField label="Rows" value={text} onChange={setText} rows={10} />
    </StoreDialog>
  )
}
