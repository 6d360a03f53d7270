/** The picture of a draft's mapping with everything around it. */

import { getRouteApi } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useEffectEvent, useMemo, useState } from 'react'
import { suggestEntries } from '../../api/mapping-calls.ts'
import { useRefusal } from '../../api/session.ts'
import { useVocabulary } from '../../api/vocabulary.ts'
import { type Draft, smallestEdit } from '../../draft/draft.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Splitter } from '../../ui/controls/splitter.tsx'
import { useKey } from '../../ui/keys/keymap.ts'
import { FailureNotice } from '../../ui/states/failure-notice.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { ConnectDialog } from './dialogs/connect-dialog.tsx'
import { EachDialog } from './dialogs/each-dialog.tsx'
import { MessageDialog } from './dialogs/message-dialog.tsx'
import { SuggestDialog } from './dialogs/suggest-dialog.tsx'
import { ResourceDialog, TargetDialog } from './dialogs/target-dialog.tsx'
import { ValueDialog } from './dialogs/value-dialog.tsx'
import { useMappingData } from './mapping-data.ts'
import { readMappingSearch } from './mapping-search.ts'
import { findScopes, type Place } from './model/each-scopes.ts'
import { addTarget, type Edited, findWriters, type NewEntry, removeTarget } from './model/entry-edits.ts'
import type { FieldNode } from './model/field-tree.ts'
import { findLineFaults } from './model/line-faults.ts'
import { addMadeValue } from './model/made-values.ts'
import { type EachScope, lineId, type MappingText } from './model/mapping-entries.ts'
import { proposalsIn } from './model/proposals.ts'
import type { ConnectedLine } from './model/shown-fields.ts'
import { RunNotes } from './run-notes.tsx'
import { createSuggestRequest, withSuggestions } from './suggestions.ts'
import { useFhirFields, useReadFhirFields } from './use-fhir-fields.ts'
import { useKeptData } from './use-kept-data.ts'
import { createRunRequest, useMappingRuns } from './use-mapping-runs.ts'
import { usePicture } from './use-picture.ts'
import { useSettled, useStable } from './use-stable.ts'
import { DataBar } from './view/data-bar.tsx'
import { EntryList } from './view/entry-list.tsx'
import type { Side } from './view/field-pane.tsx'
import { MappingBoard, type Selection } from './view/mapping-board.tsx'
import { SelectionDetail } from './view/selection-detail.tsx'

const route = getRouteApi('/endpoints/$id/mapping')
const FILTER_IN_URL_AFTER_MS = 400
/** The trees and lines of a large mapping are drawn once for a word, not for each of its letters. */
const FILTER_AFTER_MS = 120
/** Percent of the window. */
const BOARD_HEIGHT = 48

export type MappingEditorProps = Readonly<{
  draft: Draft
  mapping: MappingText
  /** Why nothing may be changed. */
  refused: string | undefined
}>

type Open =
  | 'message'
  | 'target'
  | 'suggest'
  | 'value'
  | Readonly<{ from: FieldNode | undefined; to: FieldNode | undefined }>
  | Readonly<{ of: string | EachScope }>
  | Readonly<{ resource: FieldNode }>

export function MappingEditor({ draft, mapping, refused }: MappingEditorProps) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [words, setWords] = useState(search.q ?? '')
  const [selection, setSelection] = useState<Selection>({})
  const [open, setOpen] = useState<Open>()
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const changeSearch = (changes: Readonly<Record<string, unknown>>) =>
    void navigate({ search: (before) => readMappingSearch({ ...before, ...changes }), replace: true })
  const [kept, keep] = useKeptData(draft, search.message, (message) => {
    if (search.test === undefined) changeSearch({ message })
  })
  const { wanted, height = BOARD_HEIGHT } = kept
  const { data, recent, hasTyped, failure: dataFailure } = useMappingData(draft.id, search, kept)
  const mayRun = useRefusal(search.message === undefined ? 'author' : 'operator')
  const runs = useMappingRuns(draft.id, mapping.text, data)
  const vocabulary = useVocabulary().data
  const shownWords = useSettled(words, FILTER_AFTER_MS) ?? ''
  const picture = usePicture(mapping, runs.coverage, wanted?.fields, vocabulary, {
    words: shownWords,
    show: search.show,
    opened,
  })
  const { lines, source, target, connected } = picture
  const readFhirFields = useReadFhirFields()
  const choose = (resource: FieldNode) => setOpen({ resource })
  const fhir = useFhirFields(picture.all.target, wanted, (next) => keep({ wanted: next }), choose)
  const onOpen = useStable((side: Side, { id }: FieldNode) => {
    if (picture.isFiltered) setOpened(opened.union(new Set([id])))
    const node = side === 'target' ? picture.all.target.nodes.get(id) : undefined
    if (node?.isClosed) fhir.open(node)
  })
  const lint = runs.report?.lint
  const faults = useMemo(() => {
    const isJson = wanted?.kind === 'fhir' || /^\s*[[{]/.test(wanted?.text ?? '')
    const found = [...(lint?.errors ?? []), ...(lint?.warnings ?? [])]
    return findLineFaults(mapping, connected, found, isJson ? (wanted?.fields ?? []) : [])
  }, [mapping, connected, lint, wanted])

  const keepWords = useEffectEvent(() => {
    if (words !== (search.q ?? '')) changeSearch({ q: words })
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter shows what it finds
  useEffect(() => setOpened(new Set()), [shownWords, search.show])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the event reads the words
  useEffect(() => {
    const timer = setTimeout(keepWords, FILTER_IN_URL_AFTER_MS)
    return () => clearTimeout(timer)
  }, [words])

  /** Out: why the change was not made. */
  const change = (edited: Edited, select?: Place): string | undefined => {
    if (!edited.ok) return edited.why
    if (edited.edits.length > 0) draft.applyEdits(edited.edits)
    if (select !== undefined) setSelection({ line: lineId(select.within?.id, select.source, select.key) })
    return undefined
  }
  const add = (entry: NewEntry & Pick<Place, 'within'>) =>
    change(addTarget({ ...mapping, ...entry.within }, entry.source, entry), entry)
  const connect = useStable((from: FieldNode | undefined, to: FieldNode | undefined) => {
    const [first, ...others] = from && to ? proposalsIn(mapping, from, to) : []
    const isAsked =
      first === undefined ||
      others.length > 0 ||
      findWriters({ ...mapping, ...first.within }, first.source, first.key).length > 0
    if (isAsked) return setOpen({ from, to })
    const why = add(first)
    if (why !== undefined) notify(why, 'warn')
  })
  const selectLine = useStable((line: string | undefined) => setSelection({ line }))
  const remove = useStable(({ line }: ConnectedLine) => {
    const why = change(removeTarget(mapping, line))
    if (why === undefined) setSelection({})
    else notify(why, 'warn')
  })
  const connectSelected = () => {
    const from = picture.all.source.nodes.get(selection.source ?? '')
    const to = picture.all.target.nodes.get(selection.target ?? '')
    if (from !== undefined || to !== undefined) setOpen({ from, to })
  }
  const openValue = () => setOpen('value')
  useKey('v', 'Add a constant, joined texts, a date or an expression', refused === undefined ? openValue : undefined)
  useKey('m', 'Connect the selected field', refused === undefined ? connectSelected : undefined)
  // Fields of text have an undo of their own.
  const onKeyDown = (event: KeyboardEvent) => {
    const isText = event.target instanceof Element && event.target.closest('input, textarea, [role="dialog"]') !== null
    if (isText || refused !== undefined || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'z') return
    event.preventDefault()
    if (event.shiftKey) draft.redo()
    else draft.undo()
  }
  const first = data?.given[0]
  const requestFor = first && ((document: string) => createRunRequest(draft.id, document, first))
  const suggestRequest = (part: string | undefined, fields: boolean) =>
    createSuggestRequest({ document: mapping.text, given: first, part, fields })
  const close = () => setOpen(undefined)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: undo works wherever the focus is
    <div className="stack" onKeyDown={onKeyDown}>
      <DataBar
        search={search}
        words={words}
        onWords={setWords}
        recent={recent}
        refused={mayRun}
        hasTyped={hasTyped}
        counts={runs.coverage.mapped === 0 ? undefined : picture.counts}
        required={picture.required}
        onChange={changeSearch}
        onType={() => setOpen('message')}
        onLoad={(message) => {
          keep(message === undefined ? { message, typed: undefined } : { message })
          changeSearch({ message, test: undefined, ...(message === undefined && { more: undefined }) })
        }}
      />
      <FailureNotice failure={dataFailure} />
      <FailureNotice failure={runs.failure} onRetry={runs.failure?.isRefusal ? undefined : runs.retry} />
      <RunNotes runs={runs} data={data} refused={mayRun} />
      <div className="mapping-body stack">
        <div className="mapping-picture stack">
          <MappingBoard
            height={height}
            source={source}
            target={target}
            lines={lines}
            isFiltered={picture.isFiltered}
            selection={selection}
            onSelect={setSelection}
            onConnect={refused === undefined ? connect : undefined}
            onOpen={onOpen}
          />
          <Splitter
            label="Height of the picture"
            value={height}
            min={30}
            max={85}
            onChange={(next) => keep({ height: next })}
          />
          <div className="row">
            <Button onPress={() => setOpen('target')}>
              {wanted === undefined ? 'Fields of the output …' : 'Change the fields of the output …'}
            </Button>
            <Button refused={refused} keys="V" onPress={openValue}>
              Add a value … <kbd className="wide-only">V</kbd>
            </Button>
            <Button text="Suggest entries …" refused={refused} onPress={() => setOpen('suggest')} />
          </div>
        </div>
        <SelectionDetail
          draft={draft}
          mapping={mapping}
          picture={picture}
          selection={selection}
          faults={faults}
          functions={vocabulary?.mappingFunctions ?? NONE}
          refused={refused}
          onChange={change}
          onRemove={remove}
          onEach={(of) => setOpen({ of })}
          onResource={choose}
          onConnect={connectSelected}
          onSelectLine={selectLine}
        />
        <section aria-label="Entries of the mapping" className="mapping-entries stack">
          <h2>
            {lines.length === picture.connected.length
              ? `Entries (${lines.length})`
              : `Entries (${lines.length} of ${picture.connected.length})`}
          </h2>
          {picture.connected.length === 0 && (
            <div className="row">
              <Button
                text="Begin with examples"
                onPress={() => void navigate({ to: '/endpoints/by-example', search: { endpoint: draft.id } })}
              />
              <span className="quiet">Give messages and what each becomes, and the entries are found.</span>
            </div>
          )}
          <EntryList
            lines={lines}
            faults={faults}
            selected={selection.line}
            onSelect={selectLine}
            onRemove={refused === undefined ? remove : undefined}
          />
        </section>
      </div>
      {typeof open === 'object' && 'of' in open && (
        <EachDialog
          of={open.of}
          mapping={mapping}
          sources={picture.all.source}
          targets={picture.all.target}
          onAdd={(from, key, list) => {
            const { of } = open
            const entry = { source: from, key }
            if (typeof of !== 'string') return add({ ...entry, within: of })
            const [around] = findScopes(mapping, of, list)
            return add({ source: of, key: list, ...around, within: around?.scope, each: entry })
          }}
          onClose={close}
        />
      )}
      {typeof open === 'object' && 'from' in open && (
        <ConnectDialog
          {...open}
          sources={picture.all.source}
          targets={picture.all.target}
          mapping={mapping}
          requestFor={requestFor}
          onConnect={add}
          onClose={close}
        />
      )}
      {open === 'value' && (
        <ValueDialog
          forms={vocabulary?.valueForms ?? NONE}
          from={picture.all.source.nodes.get(selection.source ?? '')}
          to={picture.all.target.nodes.get(selection.target ?? '')}
          sources={picture.all.source}
          targets={picture.all.target}
          onAdd={(at, value, key) => {
            const added = addMadeValue(mapping, at, value, key)
            if (typeof added === 'string') return added
            const edit = smallestEdit(mapping.text, added.text)
            return change({ ok: true, edits: edit === undefined ? [] : [edit] }, { source: added.source, key })
          }}
          onClose={close}
        />
      )}
      {open === 'message' && (
        <MessageDialog
          value={kept.typed}
          onUse={(typed) => {
            keep({ typed, message: undefined })
            changeSearch({ message: undefined, test: undefined, more: undefined })
          }}
          onClose={close}
        />
      )}
      {open === 'target' && (
        <TargetDialog
          value={wanted}
          readFields={async ({ kind, text, part }) =>
            kind === 'fhir'
              ? readFhirFields(text.trim())
              : ((await suggestEntries(suggestRequest(part, true))).fields ?? [])
          }
          onUse={(next) => keep({ wanted: next })}
          onClose={close}
        />
      )}
      {typeof open === 'object' && 'resource' in open && (
        <ResourceDialog path={open.resource.path} onUse={(type) => fhir.ask([open.resource], type)} onClose={close} />
      )}
      {open === 'suggest' && (
        <SuggestDialog
          request={suggestRequest(wanted?.part, false)}
          hasTarget={wanted !== undefined}
          onAdd={(suggestions) => {
            const { text, refusals } = withSuggestions(mapping, suggestions)
            const edit = smallestEdit(mapping.text, text)
            if (edit !== undefined) draft.applyEdits([edit])
            for (const why of refusals) notify(why, 'warn')
          }}
          onClose={close}
        />
      )}
    </div>
  )
}

const NONE: never[] = []
