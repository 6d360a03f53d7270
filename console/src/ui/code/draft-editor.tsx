/** CodeMirror on a text that outlives it, such as the draft of an endpoint: several views share one undo history. */
import type { Diagnostic } from '@codemirror/lint'
import { Compartment, type EditorState, type Extension, type Transaction } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { type Ref, useEffect, useEffectEvent, useImperativeHandle, useRef, useState } from 'react'
import {
  type CodeEditorHandle,
  createEditorHandle,
  editorSetup,
  languageExtensions,
  showDiagnostics,
} from './editor-setup.ts'

/** What holds the text; the Draft of draft/ is one. */
export type EditedText = Readonly<{
  attach(
    extensions: Extension,
    create: (
      given: Readonly<{ state: EditorState; dispatch(transactions: readonly Transaction[]): void }>,
    ) => EditorView,
  ): Readonly<{ view: EditorView; detach(): void }>
}>

export type DraftEditorProps = Readonly<{
  text: EditedText
  label: string
  readOnly?: boolean
  diagnostics: readonly Diagnostic[]
  /** A new array replaces the earlier ones. */
  extensions: readonly Extension[]
  ref?: Ref<CodeEditorHandle>
}>

export function DraftEditor({ text, label, readOnly = false, diagnostics, extensions, ref }: DraftEditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const [parts] = useState(() => ({ own: new Compartment(), mode: new Compartment() }))
  const mode = useEffectEvent(() => languageExtensions({ label, language: 'json', readOnly }))
  const ownExtensions = useEffectEvent(() => extensions)
  const show = useEffectEvent(() => {
    if (view.current !== null) showDiagnostics(view.current, diagnostics)
  })
  useEffect(() => {
    const parent = host.current
    if (parent === null) return undefined
    const given = [parts.own.of([...ownExtensions()]), parts.mode.of(mode()), editorSetup]
    const attached = text.attach(
      given,
      ({ state, dispatch }) => new EditorView({ state, parent, dispatchTransactions: dispatch }),
    )
    view.current = attached.view
    show()
    return () => {
      view.current = null
      attached.detach()
    }
  }, [text, parts])
  useEffect(() => {
    view.current?.dispatch({ effects: parts.own.reconfigure([...extensions]) })
  }, [extensions, parts])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the event reads these
  useEffect(() => {
    view.current?.dispatch({ effects: parts.mode.reconfigure(mode()) })
  }, [label, readOnly, parts])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the event reads these
  useEffect(() => show(), [diagnostics])
  useImperativeHandle(ref, () => createEditorHandle(() => view.current ?? undefined), [])
  return <div ref={host} className="code-editor" />
}
