/** Import: files or pasted documents, then a plan with every fault, then all of them or none. */
import { type DragEvent, useState } from 'react'
import { ApiFailure } from '../../api/api-failure.ts'
import { type ImportOperation, sendBatch } from '../../api/document-calls.ts'
import { listEndpoints } from '../../api/endpoint-calls.ts'
import { queryParts, reload } from '../../api/query-keys.ts'
import { ChangeDialog } from '../../ui/controls/change-dialog.tsx'
import { TextField } from '../../ui/controls/fields.tsx'
import { type Column, DataTable } from '../../ui/data/data-table.tsx'
import { StatusChip } from '../../ui/data/status-chip.tsx'
import { FaultDetails } from '../../ui/states/failure-notice.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { type FoundDocument, splitDocuments } from './split-documents.ts'

export function ImportDialog({ onClose }: Readonly<{ onClose(): void }>) {
  const [files, setFiles] = useState<readonly File[]>([])
  const [pasted, setPasted] = useState('')
  const takeFiles = (list: FileList | null) => setFiles([...(list ?? [])])
  const isPasted = pasted.trim() !== ''
  const drop = (event: DragEvent) => {
    event.preventDefault()
    takeFiles(event.dataTransfer.files)
  }
  return (
    <ChangeDialog<ImportPlan>
      title="Import endpoints"
      refused={files.length === 0 && !isPasted ? 'Choose files or paste a document first.' : undefined}
      show="Show the plan"
      readPlan={async () => {
        const sources = await Promise.all(files.map(readSource))
        return planImport([...sources, ...(isPasted ? [{ file: 'pasted text', text: pasted }] : [])])
      }}
      renderPlan={(plan) => <ImportPlanView plan={plan} />}
      explainRefusal={explainRefusal}
      confirm={({ documents: { length } }) => (length === 1 ? 'Import 1 endpoint' : `Import ${length} endpoints`)}
      store={async ({ documents }, note) => {
        const operations = documents.map(({ operation }) => operation)
        const { results } = await sendBatch(operations, false, note)
        await reload(queryParts.endpoints)
        notify(results.length === 1 ? 'One endpoint is imported.' : `${results.length} endpoints are imported.`)
      }}
      onClose={onClose}
    >
      <p>
        A file has one document, or an array of documents. One with the id or the name of an endpoint replaces it.
        Nothing is stored before you have seen the plan.
      </p>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the field within does the same by keys */}
      <div className="drop-zone" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
        <label className="field">
          <span className="label">Files</span>
          <input
            type="file"
            multiple
            accept=".json,application/json"
            onChange={({ target }) => takeFiles(target.files)}
          />
        </label>
        {files.length > 0 && <p role="status">{files.map(({ name }) => name).join(', ')}</p>}
      </div>
      <TextField label="Or paste documents" value={pasted} onChange={setPasted} rows={10} />
    </ChangeDialog>
  )
}

const readSource = async (file: File): Promise<ImportSource> => ({ file: file.name, text: await file.text() })

function explainRefusal({ documents, unreadable, faults }: ImportPlan): string | undefined {
  if (unreadable.length > 0) return 'A file cannot be read: fix it, or leave it out.'
  if (faults.length > 0 || documents.some((document) => document.faults.length > 0)) {
    return 'A document has faults: all are imported, or none.'
  }
  return documents.length === 0 ? 'There is nothing to import.' : undefined
}

function ImportPlanView({ plan: { documents, unreadable, faults } }: Readonly<{ plan: ImportPlan }>) {
  const created = documents.filter(({ operation }) => operation.op === 'create').length
  const faulty = documents.filter((document) => document.faults.length > 0).length
  const others = [...unreadable, ...faults]
  return (
    <div className="import-plan flow">
      <p role="status">
        {created} to create, {documents.length - created} to replace
        {faulty === 0 ? '.' : `, ${faulty} with faults.`}
      </p>
      {others.length > 0 && (
        <div className="callout bad">
          <FaultDetails details={others} />
        </div>
      )}
      {documents.length > 0 && (
        <div className="scroll">
          <DataTable
            label="Documents"
            columns={COLUMNS}
            rows={documents}
            getRowId={(document) => String(documents.indexOf(document))}
          />
        </div>
      )}
    </div>
  )
}

const COLUMNS: readonly Column<PlannedDocument>[] = [
  {
    title: 'Document',
    isName: true,
    render: ({ name, file }) => (
      <>
        <VisibleText as="strong" text={name} max={200} />
        <VisibleText as="div" className="quiet" text={file} max={200} />
      </>
    ),
  },
  {
    title: 'What',
    render: ({ operation: { op }, version }) => (
      <span className="wrap">
        {op === 'create' ? 'creates an endpoint' : `replaces${version === undefined ? '' : `: version ${version}`}`}
      </span>
    ),
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

/** `file`: for people. */
type ImportSource = Readonly<{ file: string; text: string }>

type PlannedFault = Readonly<{ path: string; message: string }>
type PlannedDocument = Readonly<{
  file: string
  name: string
  operation: ImportOperation
  /** The version that it would have. */
  version?: number
  warnings: readonly PlannedFault[]
  faults: readonly PlannedFault[]
}>

type ImportPlan = Readonly<{
  documents: readonly PlannedDocument[]
  /** By file. */
  unreadable: readonly PlannedFault[]
  /** Faults of the whole import. */
  faults: readonly PlannedFault[]
}>

type Named = FoundDocument & Readonly<{ file: string }>

/** Endpoints that are looked up by one call. */
const LOOKED_UP = 50

/** Nothing is stored. Fails with an ApiFailure, but not for faults of documents: these are in the plan. */
async function planImport(sources: readonly ImportSource[]): Promise<ImportPlan> {
  const read = sources.map(({ file, text }) => ({ file, found: splitDocuments(text) }))
  const unreadable = read.flatMap(({ file, found }) =>
    typeof found === 'string' ? [{ path: file, message: found }] : [],
  )
  const found = read.flatMap(({ file, found }): Named[] =>
    typeof found === 'string' ? [] : found.map((document) => ({ ...document, file })),
  )
  if (found.length === 0) return { documents: [], unreadable, faults: [] }
  const findId = await knownEndpoints(found)
  const documents = found.map(({ file, text, name, id }, index): PlannedDocument => {
    const known = findId(id, name)
    const operation: ImportOperation =
      known === undefined ? { op: 'create', document: text } : { op: 'replace', id: known, document: text }
    return { file, name: name ?? id ?? `document ${index + 1}`, operation, warnings: [], faults: [] }
  })
  return { ...(await check(documents)), unreadable }
}

async function check(documents: readonly PlannedDocument[]): Promise<Omit<ImportPlan, 'unreadable'>> {
  try {
    const operations = documents.map(({ operation }) => operation)
    const { results } = await sendBatch(operations, true)
    return {
      documents: documents.map((document, index) => {
        const result = results.find(({ operation }) => operation === index)
        if (result === undefined) return document
        const { version, warnings, ifMatch } = result
        return { ...document, operation: { ...document.operation, ...(ifMatch && { ifMatch }) }, version, warnings }
      }),
      faults: [],
    }
  } catch (thrown) {
    if (!(thrown instanceof ApiFailure) || thrown.details.length === 0) throw thrown
    const faultsFor = (operation: number | undefined): readonly PlannedFault[] =>
      thrown.details
        .filter((detail) => detail.operation === operation)
        .map(({ path = '', message = '' }) => ({ path, message }))
    return {
      documents: documents.map((document, index) => ({ ...document, faults: faultsFor(index) })),
      faults: faultsFor(undefined).map(({ message }) => ({ path: '', message })),
    }
  }
}

/** Out: the id of the endpoint that a document replaces: that with its id, else that with its name. */
async function knownEndpoints(
  found: readonly Named[],
): Promise<(id: string | undefined, name: string | undefined) => string | undefined> {
  const ids = await lookUp('_id', [...new Set(found.flatMap(({ id }) => id ?? []))])
  const names = await lookUp('name', [...new Set(found.flatMap(({ name }) => name ?? []))])
  const byId = new Set(ids.map(({ id }) => id))
  const byName = new Map(names.map(({ id, name }) => [name, id]))
  return (id, name) => (id !== undefined && byId.has(id) ? id : name === undefined ? undefined : byName.get(name))
}

async function lookUp(field: string, values: readonly string[]) {
  const rows = []
  for (let from = 0; from < values.length; from += LOOKED_UP) {
    const { endpoints } = await listEndpoints({ fields: { [field]: values.slice(from, from + LOOKED_UP) }, limit: 200 })
    rows.push(...endpoints)
  }
  return rows
}
