/** `/tables`: what documents translate codes with. */
import { Readable } from 'node:stream'
import type { Static } from 'typebox'
import { Failure } from '../core/failure.ts'
import { collectInto, type Lint, shown, toFaults } from '../core/lint.ts'
import {
  anything,
  described,
  either,
  enumSchema,
  extend,
  flag,
  id,
  list,
  named,
  object,
  pageLimit,
  record,
  text,
  time,
  whole,
} from '../core/schema.ts'
import { quote, rowObject, TABLE_NAME_PATTERN } from '../core/tables/table.ts'
import { checkSchema } from '../document/checks/check-field.ts'
import { isKnownEtag } from '../endpoints/precondition.ts'
import { tableEtag } from '../endpoints/table-changes.ts'
import type { ChangedTable, RowsChange, TableCall, TableRows } from '../endpoints/table-service.ts'
import { parseMediaType } from '../formats/media-type.ts'
import { TABLE_FORMATS, type TableFormat, writeTable } from '../tables/table-formats.ts'
import { readTable } from '../tables/table-thread.ts'
import { DRY_RUN } from './access/audit-sentence.ts'
import { sendJson, sendUnchanged, setWarnings } from './answers.ts'
import type { Call } from './call.ts'
import { ChangeOrigin, createOrigin } from './origin.ts'
import { answer, body, checkedBody, IfMatch, IfNoneMatch, optionalBody, route } from './route.ts'

export const TableSummary = named('TableSummary', {
  name: text,
  version: described(whole, 'Counts the changes of the table, from 1.'),
  columns: described(list(text), 'The first one is the key.'),
  rows: whole,
  bytes: described(whole, 'Of memory, about.'),
  updatedAt: time,
  unmapped: described(whole, 'Codes that messages missed, and that it still has nothing for.'),
  filled: described(whole, 'Codes that it has something for by now, whose messages were not replayed yet.'),
})

const changes = { name: text, version: whole }
const changedRows = { columns: list(text), rows: whole, bytes: whole }
export const TableChanged = named('TableChanged', changes, changedRows)
export const RowsAdded = named(
  'TableRowsAdded',
  { ...changes, missed: described(whole, 'How often messages missed these codes, of those that are listed.') },
  changedRows,
)

const row = record(text)
const Rows = object(
  {},
  {
    rows: described(list(row), 'Of a row that is there, columns that are not named keep their values.'),
    remove: described(list(text), 'Keys of rows to remove.'),
  },
)
const RowChange = object(
  { kind: enumSchema(['added', 'removed', 'changed']), key: text },
  { from: described(row, 'The row before.'), to: described(row, 'The row afterwards.') },
)
export const TableDiff = named(
  'TableDiff',
  { added: whole, removed: whole, changed: whole, rows: described(list(RowChange), 'The first 1,000 changes.') },
  {
    columns: described(
      object({ added: list(text), removed: list(text) }),
      'Names; absent where the columns are the same.',
    ),
  },
)

export const TableVersion = named(
  'TableVersion',
  { version: whole, at: time, method: text, origin: ChangeOrigin },
  { restored: whole, columns: list(text), rows: whole, bytes: whole },
)

export const UnmappedCodes = named('UnmappedCodes', {
  codes: described(
    list(
      object({
        code: text,
        column: described(text, 'That had nothing for the code.'),
        count: whole,
        firstAt: time,
        lastAt: time,
        filled: described(flag, 'The table has something for it by now, and its messages were not replayed yet.'),
        endpoints: list(object({ id: text, name: text, count: whole })),
        messages: described(list(id), 'The newest first, at most 20.'),
      }),
    ),
    'Those that were missed most often, first.',
  ),
  codesInAll: whole,
  uncounted: described(whole, 'Misses of further codes: 10,000 are kept.'),
})

export const TableEffect = named('TableEffect', {
  before: described(whole, 'The version before it that has rows; 0 without one.'),
  messages: described(whole, 'Of the newest messages, those that read the table.'),
  changed: described(whole, 'Those of them that it maps otherwise.'),
  unknown: described(whole, 'Those of them whose bodies were not kept.'),
  ids: described(list(id), 'The newest ones that it maps otherwise, at most 20.'),
})
const DEFAULT_JUDGED = 100
const MAX_JUDGED = 500

const DEFAULT_UNMAPPED = 100
const MAX_UNMAPPED = 1_000
const MAX_NOTED = 10
const SomeCodes = object({}, { codes: list(text) })

const Translation = named('Translation', {
  code: text,
  version: whole,
  row: described(row, 'By the names of the columns.'),
})

export const TablePage = named(
  'TablePage',
  {
    version: whole,
    columns: list(text),
    total: described(whole, 'Rows of the table.'),
    matches: described(whole, 'Rows of the table that have the text.'),
    rows: described(list(list(text)), 'Cells in the order of the columns.'),
  },
  { next: described(whole, 'The `from` of the next page; absent on the last one.') },
)

const FORMATS: readonly TableFormat[] = Object.values(TABLE_FORMATS)
const WRONG_TYPE = `Name the format of the table in the header Content-Type, one of ${FORMATS.map(({ mediaType }) => mediaType).join(', ')}; a workbook has to be saved as "CSV UTF-8" first.`
const TableContent = named('TableContent', { columns: list(text), rows: list(list(text)) })
const content = {
  ...Object.fromEntries(FORMATS.map(({ mediaType }) => [mediaType, {}])),
  [TABLE_FORMATS.json.mediaType]: { schema: TableContent },
}
const rowsOf = { 200: { description: 'The rows, in the format that `Accept` asks for.', content } } as const
const STORED = 'The table is stored and active; of a dry run, what it would change.'
const stored = answer(STORED, either([TableChanged, TableDiff]))
const dryRun = { dryRun: described(flag, 'Stores nothing, and says what would change.') }
const findsNoTable = ['TABLE_UNKNOWN'] as const
const findsNoVersion = [...findsNoTable, 'VERSION_UNKNOWN'] as const
export const refusesTable = ['TABLE_INVALID', 'TABLE_IN_USE', 'TABLES_FULL', 'PRECONDITION_FAILED'] as const

export const tableRoutes = [
  route({
    method: 'GET',
    path: '/tables',
    role: 'viewer',
    summary: 'All tables, by name, without their rows.',
    answers: { 200: answer('The tables.', list(TableSummary)) },
    handle: async (_call, { tables, unmapped }) => {
      const countOf = await unmapped.counts()
      return (await tables.list()).map(({ content: _, ...one }) => ({ ...one, ...countOf(one.name) }))
    },
  }),
  route({
    method: 'PUT',
    path: '/tables/:name',
    did: 'stored table {target}',
    role: 'author',
    summary: 'Stores a table, in place of the one with this name: CSV, JSON rows or a FHIR ConceptMap.',
    query: dryRun,
    headers: { ...IfMatch, ...IfNoneMatch },
    body: { required: true, content },
    takesMessage: true,
    wrongType: WRONG_TYPE,
    bodyLimit: { setting: 'TABLES_MAX_BYTES', bytes: ({ tablesMaxBytes }) => tablesMaxBytes },
    answers: { 200: stored, 201: stored },
    fails: refusesTable,
    handle: async (call, { tables }) => {
      const name = checkName(call.params.name)
      const bytes = call.request.body as Uint8Array<ArrayBuffer> | undefined
      const reading = await readTable(formatOfBody(call), bytes ?? new Uint8Array())
      const { ifNoneMatch } = call
      if (call.query.dryRun) return noteDryRun(call, name, tables.comparePut(name, reading, ifNoneMatch))
      const toAuditEntry = call.changeEntryOf(() => (tables.current.has(name) ? 200 : 201))
      const made = await tables.put(name, reading, { ...toTableCall(call), toAuditEntry, ifNoneMatch })
      if (made.isNew) call.reply.header('location', `/tables/${name}`)
      return sendJson(call.reply, made.isNew ? 201 : 200, changed(call, made))
    },
  }),
  route({
    method: 'GET',
    path: '/tables/:name',
    role: 'viewer',
    summary: 'The rows of a table as CSV, JSON or a FHIR ConceptMap.',
    answers: rowsOf,
    fails: findsNoTable,
    handle: async (call, { tables }) => sendRows(call, tables.get(call.params.name)),
  }),
  route({
    method: 'DELETE',
    path: '/tables/:name',
    did: 'deleted table {target}',
    role: 'author',
    summary: 'Deletes a table that no endpoint reads.',
    headers: IfMatch,
    answers: { 200: answer('It is deleted.', TableChanged) },
    fails: [...findsNoTable, 'TABLE_IN_USE', 'PRECONDITION_FAILED'],
    handle: async (call, { tables }) => changed(call, await tables.remove(call.params.name, toTableCall(call))),
  }),
  route({
    method: 'GET',
    path: '/tables/:name/rows',
    role: 'viewer',
    summary: 'A page of the rows of a table, or of those that have a text.',
    query: {
      search: described(text, 'A part of any cell, in whatever case.'),
      from: extend(described(whole, 'Index of the first row of the page, by default 0.'), { minimum: 0 }),
      limit: pageLimit(1_000, 100, 'Rows of a page.'),
    },
    answers: { 200: answer('The rows.', TablePage) },
    fails: findsNoTable,
    handle: async (call, { tables }) => {
      const { search = '', from = 0, limit = 100 } = call.query
      const page = await tables.find(call.params.name, { search, from, limit }, () => call.reply.raw.destroyed)
      if (page === undefined) return call.reply.hijack()
      call.reply.header('etag', tableEtag(page.version, TABLE_FORMATS.json))
      return page
    },
  }),
  route({
    method: 'POST',
    path: '/tables/:name/rows',
    did: 'changed rows of table {target}',
    role: 'author',
    summary: 'Adds, replaces and removes rows of a table by their keys.',
    query: dryRun,
    headers: IfMatch,
    body: body(Rows),
    answers: { 200: answer(STORED, either([RowsAdded, TableDiff])) },
    fails: [...findsNoTable, ...refusesTable],
    handle: async (call, { tables, unmapped }) => {
      const { name } = call.params
      const change = readRows(call)
      if (call.query.dryRun) return noteDryRun(call, name, tables.compareRows(name, change))
      const [key = ''] = tables.get(name).table.columns
      const codes = change.rows.flatMap((row) => row[key] ?? [])
      // Before the change: a call that fails has changed nothing.
      const missed = await unmapped.missesOf(name, codes)
      return { ...changed(call, await tables.changeRows(name, change, toTableCall(call))), missed }
    },
  }),
  route({
    method: 'GET',
    path: '/tables/:name/unmapped',
    role: 'viewer',
    summary: 'The codes that messages missed in a table.',
    query: {
      from: extend(described(whole, 'Index of the first code in the answer, by default 0.'), { minimum: 0 }),
      limit: pageLimit(MAX_UNMAPPED, DEFAULT_UNMAPPED, 'Codes in the answer'),
    },
    answers: { 200: answer('The codes of all instances.', UnmappedCodes) },
    fails: findsNoTable,
    handle: async ({ params, query }, { tables, unmapped }) =>
      unmapped.list(tables.get(params.name).name, query.limit ?? DEFAULT_UNMAPPED, query.from),
  }),
  route({
    method: 'DELETE',
    path: '/tables/:name/unmapped',
    did: 'removed codes from those that messages missed in table {target}',
    role: 'author',
    summary: 'Takes codes from the list of those that messages missed; without `codes`, all.',
    body: { ...checkedBody(SomeCodes, { code: 'TABLE_INVALID', mayBeEmpty: true }), required: false },
    answers: { 200: answer('They are no longer listed.', object({ message: text })) },
    fails: [...findsNoTable, 'TABLE_INVALID'],
    handle: async (call, { tables, unmapped }) => {
      const { name } = tables.get(call.params.name)
      const { codes } = (call.body ?? {}) as Readonly<{ codes?: readonly string[] }>
      await unmapped.remove(name, codes)
      const what = codes === undefined ? 'all unmapped codes' : `unmapped codes: ${listSome(codes)}`
      call.noteEffects({ target: name, note: what })
      return { message: `The table ${quote(name)} lists ${codes === undefined ? 'no code' : 'these codes no longer'}` }
    },
  }),
  route({
    method: 'GET',
    path: '/tables/:name/versions',
    role: 'viewer',
    summary: 'The versions of a table, newest first, also of one that was deleted.',
    answers: { 200: answer('Without rows.', list(TableVersion)) },
    fails: findsNoTable,
    handle: async ({ params }, { tables }) =>
      (await tables.versions(params.name)).map(({ head, content: _, ...version }) => ({ ...version, ...head })),
  }),
  route({
    method: 'GET',
    path: '/tables/:name/versions/:version',
    role: 'viewer',
    summary: 'The rows of one version.',
    answers: rowsOf,
    fails: findsNoVersion,
    handle: async (call, { tables }) =>
      sendRows(call, await tables.version(call.params.name, versionNumber(call.params.version))),
  }),
  route({
    method: 'GET',
    path: '/tables/:name/versions/:version/diff/:other',
    role: 'viewer',
    summary: 'Which rows differ from one version to another.',
    answers: { 200: answer('How many, and the first of them.', TableDiff) },
    fails: findsNoVersion,
    handle: async ({ params: { name, version, other } }, { tables }) =>
      tables.diff(name, versionNumber(version), versionNumber(other)),
  }),
  route({
    method: 'GET',
    path: '/tables/:name/versions/:version/effect',
    role: 'viewer',
    summary: 'How many of the newest messages a version maps otherwise than the one before it.',
    query: { limit: pageLimit(MAX_JUDGED, DEFAULT_JUDGED, 'Messages that are looked at.') },
    answers: { 200: answer('What became of them, as far as their bodies were kept.', TableEffect) },
    fails: [...findsNoVersion, 'OVERLOADED', 'SHUTTING_DOWN'],
    handle: async ({ params, query }, { tableEffect }) =>
      tableEffect(params.name, versionNumber(params.version), query.limit ?? DEFAULT_JUDGED),
  }),
  route({
    method: 'POST',
    path: '/tables/:name/versions/:version/restore',
    did: 'restored a version of table {target}',
    role: 'author',
    summary: 'Makes the rows of an earlier version the table again, as a new version.',
    headers: IfMatch,
    body: optionalBody(anything),
    answers: { 200: answer('It is stored and active.', TableChanged) },
    fails: [...findsNoVersion, 'TABLE_IN_USE', 'TABLES_FULL', 'PRECONDITION_FAILED'],
    handle: async (call, { tables }) => {
      const { name, version } = call.params
      return changed(call, await tables.restore(name, versionNumber(version), toTableCall(call)))
    },
  }),
  route({
    method: 'GET',
    path: '/tables/:name/$translate',
    role: 'viewer',
    summary: 'The row of a code.',
    query: { code: described(text, 'As the key column has it.') },
    answers: { 200: answer('The row.', Translation) },
    fails: [...findsNoTable, 'CODE_UNKNOWN'],
    handle: async ({ params, query }, { tables }) => {
      const { name, version, table } = tables.get(params.name)
      const { code = '' } = query
      if (code === '') throw new Failure('FILTER_INVALID', 'Give "code", as the key column has it.')
      const index = table.find(code)
      if (index === -1) throw new Failure('CODE_UNKNOWN', `The table ${quote(name)} has no code ${quote(code)}.`)
      return { code, version, row: rowObject(table, index) }
    },
  }),
]

/** For the audit log, whose entry of a dry run would look like one of a change. */
function noteDryRun<T>(call: Call, target: string, diff: T): T {
  call.noteEffects({ target, note: DRY_RUN })
  return diff
}

function listSome(codes: readonly string[]): string {
  const some = codes.slice(0, MAX_NOTED).map(shown).join(', ')
  return codes.length > MAX_NOTED ? `${some} and ${codes.length - MAX_NOTED} more` : some
}

/** Fails with TABLE_INVALID. */
function readRows(call: Call): RowsChange {
  const raw = call.json()
  const lints: Lint[] = []
  checkSchema(Rows, raw, collectInto(lints))
  if (lints.length > 0) {
    throw new Failure('TABLE_INVALID', 'The rows have faults; nothing was stored.', { details: toFaults(lints) })
  }
  const { rows, remove } = raw as unknown as Static<typeof Rows>
  if (rows ?? remove) return { rows: rows ?? [], remove }
  throw new Failure('TABLE_INVALID', 'Give "rows" to add or change, "remove" with the keys of rows to remove, or both.')
}

const toTableCall = (call: Call): TableCall => ({
  ifMatch: call.ifMatch,
  origin: createOrigin(call),
  toAuditEntry: call.toChangeEntry,
})

function changed(call: Call, { isNew: _, warnings, ...made }: ChangedTable) {
  setWarnings(
    call,
    warnings.map((one) => ({ ...one, severity: 'warning' })),
  )
  if (made.columns !== undefined) call.reply.header('etag', tableEtag(made.version, TABLE_FORMATS.json))
  return made
}

function checkName(name: string): string {
  if (new RegExp(TABLE_NAME_PATTERN).test(name)) return name
  const message = 'The name of a table has 1 to 64 letters, digits, - and _, and starts with a letter or digit.'
  throw new Failure('TABLE_INVALID', message, { details: [{ path: 'name', message }] })
}

const versionNumber = (text: string): number => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0)

/** By the type of the body. Fails with MEDIA_TYPE_WRONG. */
function formatOfBody({ request }: Call): TableFormat {
  const declared = parseMediaType(request.headers['content-type'] ?? '')
  const type = declared && `${declared.type}/${declared.subtype}`
  const format = FORMATS.find(({ mediaType }) => mediaType === type)
  if (format !== undefined) return format
  throw new Failure('MEDIA_TYPE_WRONG', WRONG_TYPE)
}

/** The first format that `Accept` names; JSON where it names none. */
function formatOfAnswer({ request }: Call): TableFormat {
  const accepted = (request.headers.accept ?? '').split(',').map((one) => one.split(';', 1)[0]?.trim())
  const named = accepted.flatMap((type) => FORMATS.find(({ mediaType }) => mediaType === type) ?? [])
  return named[0] ?? TABLE_FORMATS.json
}

function sendRows(call: Call, { name, version, table }: TableRows) {
  const { request, reply } = call
  const format = formatOfAnswer(call)
  const etag = tableEtag(version, format)
  if (isKnownEtag(request.headers['if-none-match'], etag)) return sendUnchanged(reply, etag)
  reply.headers({ etag, vary: 'accept', 'content-type': format.mediaType })
  return reply.send(Readable.from(writeTable(format, table, name)))
}
