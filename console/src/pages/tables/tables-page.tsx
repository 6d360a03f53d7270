/** `/tables`: what endpoints translate codes with. */

import { Link } from '@tanstack/react-router'
import { get } from '../../api/client.ts'
import { queryKeys } from '../../api/query-keys.ts'
import { useRefusal } from '../../api/session.ts'
import type { TableRow } from '../../api/table-calls.ts'
import { DialogButton } from '../../ui/controls/dialog.tsx'
import { TextLink } from '../../ui/controls/text-link.tsx'
import { type Column, RowList, useRowPages } from '../../ui/data/data-table.tsx'
import { wholeNumber } from '../../ui/data/figures.tsx'
import { byteCount, Time } from '../../ui/data/time.tsx'
import { Empty, Page } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { UploadDialog } from './upload-dialog.tsx'
import './tables.css'

const COLUMNS: readonly Column<TableRow>[] = [
  {
    title: 'Table',
    isName: true,
    render: ({ name }) => <TextLink to="/tables/$name" params={{ name }} data-row className="row-link" text={name} />,
  },
  { title: 'Rows', align: 'end', render: ({ rows }) => wholeNumber(rows) },
  { title: 'Columns', render: ({ columns }) => <VisibleText text={columns.join(', ')} max={200} /> },
  { title: 'Version', align: 'end', render: ({ version }) => version },
  {
    title: 'Unmapped codes',
    meaning: 'Codes that messages missed in it, and whose messages were not replayed yet.',
    align: 'end',
    render: ({ name, unmapped, filled }) =>
      unmapped + filled === 0 ? (
        0
      ) : (
        <Link to="/unmapped" search={{ table: name }}>
          {wholeNumber(unmapped)}
          {filled === 0 ? '' : ` and ${wholeNumber(filled)} filled`}
        </Link>
      ),
  },
  { title: 'Memory', align: 'end', render: ({ bytes }) => byteCount(bytes) },
  { title: 'Changed', render: ({ updatedAt }) => <Time at={updatedAt} /> },
]

export default function TablesPage() {
  const pages = useRowPages<TableRow>({
    queryKey: queryKeys.tableListRows,
    readPage: async (_cursor, signal) => ({ rows: await get('/tables', {}, signal) }),
  })
  const add = (
    <DialogButton
      text="New table …"
      refused={useRefusal('author')}
      dialog={(close) => <UploadDialog onClose={close} />}
    />
  )
  return (
    <Page title="Tables" actions={add}>
      <RowList
        label="Tables"
        columns={COLUMNS}
        pages={pages}
        getRowId={({ name }) => name}
        of="all"
        empty={
          <Empty title="There are no tables yet">
            A table translates codes, and many endpoints may read it: by the function <code>table</code> in a mapping,
            or <code>$table</code> in an expression. Upload one as CSV, JSON or a FHIR ConceptMap.
          </Empty>
        }
      />
    </Page>
  )
}
