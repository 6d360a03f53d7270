/** A whole table from a file, new or in place of the one with its name. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { compareTable, putTable, TABLE_FORMATS, type TableMediaType } from '../../api/table-calls.ts'
import { SelectField, TextField } from '../../ui/controls/fields.tsx'
import { StoreDialog } from '../../ui/table/store-dialog.tsx'

/** Enough to see whether JSON is a ConceptMap. */
const HEAD_BYTES = 4_096
const NAME_CHARACTERS = 64

/** `name`: of the table that is replaced; undefined asks for one. */
export function UploadDialog({ name, onClose }: Readonly<{ name?: string; onClose(): void }>) {
  const navigate = useNavigate()
  const [file, setFile] = useState<File>()
  const [typed, setTyped] = useState('')
  const [mediaType, setMediaType] = useState<TableMediaType>('text/csv')
  const target = name ?? typed.trim()
  const take = async (chosen: File | undefined) => {
    setFile(chosen)
    if (chosen === undefined) return
    setTyped((before) => (before === '' ? nameFrom(chosen.name) : before))
    setMediaType(await guessFormat(chosen))
  }
  const condition = name === undefined ? { ifNoneMatch: '*' } : {}
  const content = { content: file ?? new Blob(), mediaType }
  return (
    <StoreDialog
      title={name === undefined ? 'New table' : `Upload ${name}`}
      name={target}
      refused={file === undefined ? 'Choose a file first.' : target === '' ? 'Give the table a name first.' : undefined}
      compare={() => compareTable(target, content, condition)}
      store={(change) => putTable(target, content, { ...change, ...condition })}
      onStored={() => void navigate({ to: '/tables/$name', params: { name: target } })}
      onClose={onClose}
    >
      <p>
        The file replaces all rows. In CSV, the first line has the names of the columns; the first column is the key.
        Nothing is stored before you have seen what changes.
      </p>
      <label className="field">
        <span className="label">File</span>
        <input
          type="file"
          accept=".csv,.json,text/csv,application/json,application/fhir+json"
          onChange={({ target }) => void take(target.files?.[0])}
        />
      </label>
      {file !== undefined && <p role="status">{file.name}</p>}
      <SelectField<TableMediaType> label="Format" value={mediaType} choices={TABLE_FORMATS} onChange={setMediaType} />
      {name === undefined && (
        <TextField
          label="Name of the table"
          value={typed}
          onChange={setTyped}
          hint="Letters, digits, - and _; endpoints read the table by it"
        />
      )}
    </StoreDialog>
  )
}

async function guessFormat(file: File): Promise<TableMediaType> {
  if (!/json$/i.test(file.name)) return 'text/csv'
  const head = await file.slice(0, HEAD_BYTES).text()
  return head.includes('"ConceptMap"') ? 'application/fhir+json' : 'application/json'
}

/** The name of a file as that of a table. */
const nameFrom = (file: string): string =>
  file
    .replace(/(\.fhir)?\.\w+$/i, '')
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, NAME_CHARACTERS)
