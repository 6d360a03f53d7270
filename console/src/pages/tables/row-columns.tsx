/** The columns of the grid: those of the table, each cell to be changed in place, and the choice of rows. */
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { ApiFailure } from '../../api/api-failure.ts'
import { compareRows, type RowsChange, type ShownRow } from '../../api/table-calls.ts'
import { Checkbox, TextField } from '../../ui/controls/fields.tsx'
import type { Column } from '../../ui/data/data-table.tsx'
import { FailureNotice } from '../../ui/states/failure-notice.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

export type RowColumnsOptions = Readonly<{
  /** Of the table. */
  name: string
  columns: readonly string[]
  /** Why the user may not change rows. */
  refused: string | undefined
  selected: ReadonlySet<string>
  onToggle(key: string): void
  /** Fails with an ApiFailure. */
  onChange(change: RowsChange, ifMatch: string | undefined): Promise<void>
}>

const MAX_CHARACTERS = 300

export function rowColumns(options: RowColumnsOptions): readonly Column<ShownRow>[] {
  const { name, columns, refused, selected, onToggle, onChange } = options
  const [keyColumn = ''] = columns
  const cells = columns.map(
    (title, index): Column<ShownRow> => ({
      id: title,
      title,
      isName: index === 0,
      render: ({ cells, etag }) => {
        const [key = ''] = cells
        const value = cells[index] ?? ''
        const save = async (text: string) => {
          if (index > 0) return onChange({ rows: [{ [keyColumn]: key, [title]: text }] }, etag)
          const row = Object.fromEntries(columns.map((column, at) => [column, at === 0 ? text : (cells[at] ?? '')]))
          const change = { rows: [row], remove: [key] }
          if ((await compareRows(name, change)).changed > 0)
            throw new ApiFailure(`There is a row ${text} already.`, { status: 409 })
          return onChange(change, etag)
        }
        return refused === undefined ? (
          <Cell value={value} label={`${title} of ${key}`} isKey={index === 0} onSave={save} />
        ) : (
          <span {...(index === 0 && { 'data-row': true, tabIndex: -1 })}>
            <VisibleText text={value} max={MAX_CHARACTERS} />
          </span>
        )
      },
    }),
  )
  if (refused !== undefined) return cells
  return [
    ...cells,
    {
      title: 'Select',
      render: ({ cells: [key = ''] }) => (
        <Checkbox checked={selected.has(key)} onChange={() => onToggle(key)}>
          <span className="visually-hidden">Select {key}</span>
        </Checkbox>
      ),
    },
  ]
}

type CellProps = Readonly<{ value: string; label: string; isKey: boolean; onSave(text: string): Promise<void> }>

/** What is typed stays until Enter stores it or Esc discards it. */
function Cell({ value, label, isKey, onSave }: CellProps) {
  const [text, setText] = useState<string>()
  /** After a change the cell has the focus again. */
  const isBack = useRef(false)
  const { mutate, isPending, error, reset } = useMutation({ mutationFn: onSave, onSuccess: () => end() })
  const end = () => {
    reset()
    isBack.current = true
    setText(undefined)
  }
  if (text === undefined) {
    return (
      <button
        type="button"
        className="table-cell"
        title={`Change ${label}`}
        ref={(button) => {
          if (isBack.current) button?.focus()
          isBack.current = false
        }}
        onClick={() => setText(value)}
        {...(isKey && { 'data-row': true })}
      >
        <VisibleText text={value} max={MAX_CHARACTERS} />
        <span className="visually-hidden">, change {label}</span>
      </button>
    )
  }
  return (
    <>
      <TextField
        label={label}
        hideLabel
        value={text}
        onChange={setText}
        onKeyDown={(event) => {
          if (event.key === 'Escape') end()
          else if (event.key !== 'Enter' || isPending) return
          else if (text === value) end()
          else mutate(text)
          event.stopPropagation()
        }}
        ref={focusField}
      />
      <FailureNotice failure={error} />
    </>
  )
}

const focusField = (field: HTMLInputElement | null): void => {
  field?.focus()
  field?.select()
}
