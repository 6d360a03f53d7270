/** The draft as forms, a section at a time. They edit the text of the draft, and only where somebody changes something. */

import { getRouteApi } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useImperativeHandle, useMemo, useRef, useState } from 'react'
import { useRefusal } from '../../../api/session.ts'
import { syntaxFaults } from '../../../draft/document-faults.ts'
import { NEW, smallestEdit } from '../../../draft/draft.ts'
import { setValue } from '../../../draft/json-edits.ts'
import { listMembers, memberNamed, nodeAt, pathAt, readTree } from '../../../draft/json-places.ts'
import { TextLink } from '../../../ui/controls/text-link.tsx'
import { StatusChip } from '../../../ui/data/status-chip.tsx'
import { Empty, Loading } from '../../../ui/states/states.tsx'
import { FaultList } from '../document/fault-list.tsx'
import { UndoButtons } from '../document/undo-buttons.tsx'
import type { PaneProps } from '../editor-workspace.tsx'
import { FormContext } from './form-context.ts'
import { findField, readFields } from './form-fields.ts'
import { SECTIONS, type Section } from './form-table.ts'
import { FieldView } from './form-view.tsx'
import { TryLookup } from './try-lookup.tsx'
import { ValidationForm } from './validation-form.tsx'

const route = getRouteApi('/endpoints/$id/form')

const VALIDATION = ['inputValidation']

export function FormPane(props: PaneProps) {
  const { draft, now, faults, isChecked, readOnly, knowledge, report, runs, editor } = props
  const { text } = now
  const refusal = useRefusal('author')
  const { part, message, test } = route.useSearch()
  const navigate = route.useNavigate()
  const pane = useRef<HTMLElement>(null)
  const [target, setTarget] = useState<Readonly<{ path: string }>>()
  const { vocabulary, paths } = knowledge()
  const fields = useMemo(() => vocabulary && readFields(vocabulary), [vocabulary])
  const root = useMemo(() => readTree(text), [text])
  const isJson = useMemo(() => root?.type === 'object' && syntaxFaults(text).length === 0, [root, text])
  const shown = SECTIONS.find(({ id }) => id === part) ?? (SECTIONS[0] as Section)
  const data = { ...(message && { message }), ...(test && { test }) }
  const show = (id: string) =>
    void navigate({ search: (before) => ({ ...before, part: id, path: undefined }), replace: true })
  const go = (path: string) => {
    show((SECTIONS.find((section) => isIn(section, path)) ?? shown).id)
    setTarget({ path })
  }
  useImperativeHandle(editor, () => ({
    view: () => undefined,
    focus: () => pane.current?.focus(),
    select: (from) => go(root === undefined ? '' : pathAt(root, from)),
  }))
  const isShown = target !== undefined && fields !== undefined && isIn(shown, target.path)
  useEffect(() => {
    // Its section may be shown later.
    if (target !== undefined && isShown && pane.current !== null) focusField(pane.current, target.path)
  }, [target, isShown])
  const change = (edit: (text: string) => string) => {
    const before = draft.now.get().text
    const step = smallestEdit(before, edit(before))
    // Letters that are typed on join one step of undo.
    if (step !== undefined) draft.dispatch({ changes: step, userEvent: 'input.type' })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (readOnly || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'z') return
    event.preventDefault()
    if (event.shiftKey) draft.redo()
    else draft.undo()
  }
  const toText = (path: string, children: string) =>
    draft.id === NEW ? (
      <TextLink to="/endpoints/new" search={{ path }} text={children} />
    ) : (
      <TextLink to="/endpoints/$id/edit" params={{ id: draft.id }} search={{ ...data, path }} text={children} />
    )
  const lookups = nodeAt(root, ['requests', 'lookup'])
  const ids = (lookups?.type === 'array' ? (lookups.children ?? []) : []).map((one) =>
    String(memberNamed(one, 'id')?.value),
  )
  const suggestionsFor: FormContext['suggestionsFor'] = ({ path, spec: { reads } }, place) => {
    if (path.endsWith('.config.params.url')) {
      const url: unknown = nodeAt(root, [...place.slice(0, -2), 'url'])?.value
      const names = String(url ?? '').matchAll(/[/=]:([A-Za-z_][A-Za-z0-9_-]*)/g)
      return [...new Set(Array.from(names, ([, name = '']) => name))]
    }
    if (path === 'requests.lookup[].after[]' || path === 'state.extract.lookupRequests') return ids
    const roots = reads === undefined ? undefined : vocabulary?.roots[reads]?.roots
    if (roots === undefined) return undefined
    const known = paths.map((one) => one.path).filter((one) => roots.includes(one.split('.')[0] ?? ''))
    return [...new Set([...known, ...roots])]
  }
  const form: FormContext = {
    root,
    change,
    set: (place, value) => change((before) => setValue(before, place, value)),
    faultAt: (path, below = false) => {
      const found = faults.filter(
        (one) => one.path === path || (below && one.path !== undefined && isBelow(one.path, path)),
      )
      return found.length === 0 ? undefined : found.map((one) => one.message).join(' ')
    },
    suggestionsFor,
    linkTo: (path) => toText(path, path === 'inputMapping' ? 'Edit as text' : 'Edit in the JSON'),
    renderExtra: ({ path }, place) => {
      if (path === 'inputValidation') return <ValidationForm at={VALIDATION} text={text} report={report} />
      if (path === 'inputMapping' && draft.id !== NEW) {
        return (
          <TextLink to="/endpoints/$id/mapping" params={{ id: draft.id }} search={data} text="Open the mapping view" />
        )
      }
      const id = path === 'requests.lookup[]' && (memberNamed(nodeAt(root, place), 'id')?.value as unknown)
      if (typeof id !== 'string') return null
      const endpoint = draft.id === NEW ? undefined : draft.id
      return <TryLookup id={endpoint} text={text} lookup={id} runs={runs} refused={refusal} />
    },
  }
  if (!isJson) {
    return (
      <div data-draft={draft.id}>
        <Empty title="The draft is not JSON now" action={toText('', 'Open the JSON')}>
          Forms are shown as soon as its text can be read. Nothing is lost.
        </Empty>
      </div>
    )
  }
  return (
    <section
      className="form-pane"
      data-draft={draft.id}
      aria-label="Form"
      ref={pane}
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      <div className="pane-bar">
        <nav className="form-sections" aria-label="Sections">
          {SECTIONS.map((section) => {
            const errors = faults.filter(({ severity }) => severity === 'error')
            const count = errors.filter(({ path }) => path !== undefined && isIn(section, path)).length
            return (
              <button
                key={section.id}
                type="button"
                aria-current={section === shown ? 'true' : undefined}
                className={`tab${section.fields.some((path) => isSet(root, path)) ? '' : ' unset'}`}
                onClick={() => show(section.id)}
              >
                {section.title}{' '}
                {count > 0 && <StatusChip tone="bad">{count === 1 ? '1 fault' : `${count} faults`}</StatusChip>}
              </button>
            )
          })}
        </nav>
        <span className="row end-row">
          <UndoButtons draft={draft} now={now} />
        </span>
      </div>
      {fields === undefined ? (
        <Loading what="Loading the fields" />
      ) : (
        <FormContext value={form}>
          {refusal && <p className="hint">{refusal}</p>}
          <fieldset className="form-section" disabled={readOnly} key={shown.id}>
            <legend className="visually-hidden">{shown.title}</legend>
            {shown.fields.map((path) => {
              const field = findField(fields, path)
              return field && <FieldView key={path} field={field} at={path.split('.')} />
            })}
          </fieldset>
        </FormContext>
      )}
      <FaultList
        text={text}
        faults={faults}
        isChecked={isChecked}
        onGo={(from) => root !== undefined && go(pathAt(root, from))}
      />
    </section>
  )
}

const isBelow = (path: string, outer: string): boolean =>
  path.startsWith(outer) && /^[.[]/.test(path.slice(outer.length))

const isIn = ({ fields }: Section, path: string): boolean =>
  fields.some((field) => path === field || isBelow(path, field))

const isSet = (root: ReturnType<typeof readTree>, path: string): boolean => {
  const node = nodeAt(root, path.split('.'))
  return node !== undefined && (node.children === undefined || node.children.length > 0 || listMembers(node).length > 0)
}

/** Brings the field of a path, or the nearest one around it, into view, and the focus into it. */
function focusField(pane: HTMLElement, path: string): void {
  for (let outer = path; outer !== ''; outer = outer.replace(/(?:\.|^)[^.[\]]*$|\[[^\]]*\]$/, '')) {
    const found = pane.querySelector<HTMLElement>(`[data-path="${CSS.escape(outer)}"]`)
    if (found !== null) {
      found.querySelector<HTMLElement>('input, select, textarea, summary, button, a')?.focus()
      found.scrollIntoView({ block: 'center' })
      return
    }
  }
}
