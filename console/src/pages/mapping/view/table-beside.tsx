/** The table that an entry translates codes with, beside the entry. */

import { keepPreviousData } from '@tanstack/react-query'
import { useState } from 'react'
import { answerKey, keyed } from '../../../api/query-keys.ts'
import { readRows, type TablePage } from '../../../api/table-calls.ts'
import { TextField } from '../../../ui/controls/fields.tsx'
import { TextLink } from '../../../ui/controls/text-link.tsx'
import { Answer } from '../../../ui/states/states.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'

const SHOWN_ROWS = 10
const MAX_CHARACTERS = 100

/** In: the transform of the entry as its text. Nothing for another function. */
export function TableBeside({ text }: Readonly<{ text: string }>) {
  const parameters = readParameters(text)
  return parameters === undefined ? null : <Rows key={parameters.table} {...parameters} />
}

function Rows({ table: name, column }: Readonly<{ table: string; column?: string | undefined }>) {
  const [search, setSearch] = useState('')
  return (
    <section aria-label={`Table ${name}`}>
      <h3>
        Table <TextLink to="/tables/$name" params={{ name }} text={name} />
      </h3>
      <TextField label="Search the table" type="search" value={search} onChange={setSearch} />
      <Answer
        of={{
          ...keyed(answerKey<TablePage>('tables', 'beside', name, search), async ({ signal }) => {
            const { data } = await readRows(name, { search, limit: SHOWN_ROWS }, signal)
            return data
          }),
          placeholderData: keepPreviousData,
        }}
        what="Loading the table"
      >
        {({ columns, rows, matches }) => {
          const shown = [0, Math.max(1, column === undefined ? 1 : columns.indexOf(column))]
          return (
            <>
              <div className="chart-table">
                <table>
                  <thead>
                    <tr>
                      {shown.map((at) => (
                        <th key={at} scope="col">
                          <VisibleText text={columns[at] ?? ''} max={MAX_CHARACTERS} />
                        </th>
                      ))}
                    </tr>
                  </thead>
                  <tbody>
                    {rows.map((cells) => (
                      <tr key={cells[0]}>
                        {shown.map((at) => (
                          <td key={at}>
                            <VisibleText text={cells[at] ?? ''} max={MAX_CHARACTERS} />
                          </td>
                        ))}
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
              <p role="status" className="hint">
                {rows.length.toLocaleString('en')} of {matches.toLocaleString('en')} rows
              </p>
            </>
          )
        }}
      </Answer>
    </section>
  )
}

function readParameters(text: string): Readonly<{ table: string; column?: string | undefined }> | undefined {
  try {
    const { function: name, parameters } = JSON.parse(text) as {
      function?: unknown
      parameters?: { table?: unknown; column?: unknown }
    }
    if (name !== 'table' || typeof parameters?.table !== 'string') return undefined
    return { table: parameters.table, ...(typeof parameters.column === 'string' && { column: parameters.column }) }
  } catch {
    return undefined
  }
}
