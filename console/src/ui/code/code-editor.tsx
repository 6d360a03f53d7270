/** CodeMirror as one component: JSON or plain text, faults, and whatever extensions a page adds. */
import type { Diagnostic } from '@codemirror/lint'
import { Compartment, EditorState, type Extension, Transaction } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { type Ref, useEffect, useEffectEvent, useImperativeHandle, useRef, useState } from 'react'
import {
  type CodeEditorHandle,
  createEditorHandle,
  editorHistory,
  editorSetup,
  languageExtensions,
  showDiagnostics,
} from './editor-setup.ts'

export type { CodeEditorHandle, Diagnostic, Extension }

export type CodeEditorProps = Readonly<{
  /** A value other than the one of the last `onChange` replaces the text. */
  value: string
  onChange?: (value: string) => void
  /** For readers of the screen. */
  label: string
  language?: 'json' | 'text'
  readOnly?: boolean
  /** Faults, shown in the gutter and under the text; places beyond its end are cut. */
  diagnostics?: readonly Diagnostic[]
  /** Completion, hover, keys and marks of a page. A new array replaces the earlier ones. */
  extensions?: readonly Extension[]
  ref?: Ref<CodeEditorHandle>
}>

const NONE: readonly never[] = []

export function CodeEditor({
  value,
  onChange,
  label,
  language = 'json',
  readOnly = false,
  diagnostics = NONE,
  extensions = NONE,
  ref,
}: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const known = useRef(value)
  const [parts] = useState(() => ({ own: new Compartment(), mode: new Compartment() }))
  const report = useEffectEvent((text: string) => {
    known.current = text
    onChange?.(text)
  })
  const createMode = (): Extension => languageExtensions({ label, language, readOnly })
  const start = useEffectEvent((parent: HTMLElement) => {
    const state = EditorState.create({
      doc: value,
      extensions: [
        // A page comes first: its keys win over the general ones.
        parts.own.of([...extensions]),
        parts.mode.of(createMode()),
        editorSetup,
        editorHistory,
        EditorView.updateListener.of(({ docChanged, state, transactions }) => {
          if (!docChanged || transactions.every((one) => one.isUserEvent(PAGE))) return
          report(state.doc.toString())
        }),
      ],
    })
    known.current = value
    return new EditorView({ state, parent })
  })
  useEffect(() => {
    if (host.current === null) return undefined
    const made = start(host.current)
    view.current = made
    return () => {
      view.current = null
      made.destroy()
    }
  }, [])
  useEffect(() => {
    const now = view.current
    if (now === null || value === known.current) return
    known.current = value
    now.dispatch({
      changes: { from: 0, to: now.state.doc.length, insert: value },
      annotations: Transaction.userEvent.of(PAGE),
    })
  }, [value])
  const reconfigureMode = useEffectEvent(() =>
    view.current?.dispatch({ effects: parts.mode.reconfigure(createMode()) }),
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: the event reads these
  useEffect(() => reconfigureMode(), [language, readOnly, label])
  useEffect(() => {
    view.current?.dispatch({ effects: parts.own.reconfigure([...extensions]) })
  }, [extensions, parts])
  useEffect(() => {
    if (view.current !== null) showDiagnostics(view.current, diagnostics)
  }, [diagnostics])
  useImperativeHandle(ref, () => createEditorHandle(() => view.current ?? undefined), [])
  return <div ref={host} className="code-editor" />
}

/** The user event of changes that the page made: they are not reported back to it. */
const PAGE = 'page'
