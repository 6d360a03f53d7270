/** CodeMirror as a component: JSON or plain text, faults, and whatever extensions a page adds. */
import { history } from '@codemirror/commands'
import type { Diagnostic } from '@codemirror/lint'
import { Compartment, EditorState, type Extension, Transaction } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { type Ref, useEffect, useEffectEvent, useImperativeHandle, useRef, useState } from 'react'
import {
  type CodeEditorHandle,
  createEditorHandle,
  editorSetup,
  languageExtensions,
  showDiagnostics,
} from './editor-setup.ts'

export type { CodeEditorHandle, Diagnostic, Extension }

/** A text that outlives its editor, such as the Draft of draft/: several views share one undo history. */
export type EditedText = Readonly<{
  attach(
    extensions: Extension,
    create: (
      given: Readonly<{ state: EditorState; dispatch(transactions: readonly Transaction[]): void }>,
    ) => EditorView,
  ): Readonly<{ view: EditorView; detach(): void }>
}>

type EditorProps = Readonly<{
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

export function DraftEditor({
  text,
  label,
  language = 'json',
  readOnly = false,
  diagnostics = NONE,
  extensions = NONE,
  ref,
}: EditorProps & Readonly<{ text: EditedText }>) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const [parts] = useState(() => ({ own: new Compartment(), mode: new Compartment() }))
  const mode = useEffectEvent(() => languageExtensions({ label, language, readOnly }))
  const ownExtensions = useEffectEvent(() => extensions)
  const show = useEffectEvent(() => {
    if (view.current !== null) showDiagnostics(view.current, diagnostics)
  })
  useEffect(() => {
    const parent = host.current
    if (parent === null) return undefined
    // A page comes first: its keys win over the general ones.
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
  }, [label, language, readOnly, parts])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the event reads these
  useEffect(() => show(), [diagnostics])
  useImperativeHandle(ref, () => createEditorHandle(() => view.current ?? undefined), [])
  return <div ref={host} className="code-editor" />
}

/** `value`: another one than that of the last `onChange` replaces the text. */
export type CodeEditorProps = EditorProps & Readonly<{ value: string; onChange?: (value: string) => void }>

/** On a text of its own. */
export function CodeEditor({ value, onChange, ...rest }: CodeEditorProps) {
  const view = useRef<EditorView>(null)
  const known = useRef(value)
  const report = useEffectEvent((text: string) => {
    known.current = text
    onChange?.(text)
  })
  const [text] = useState(
    (): EditedText => ({
      attach: (extensions, create) => {
        const state = EditorState.create({ doc: known.current, extensions: [extensions, history()] })
        const dispatch = (transactions: readonly Transaction[]) => {
          made.update(transactions)
          if (transactions.some((one) => one.docChanged && !one.isUserEvent(PAGE))) report(made.state.doc.toString())
        }
        const made: EditorView = create({ state, dispatch })
        view.current = made
        return { view: made, detach: () => made.destroy() }
      },
    }),
  )
  useEffect(() => {
    const now = view.current
    if (now === null || value === known.current) return
    known.current = value
    now.dispatch({
      changes: { from: 0, to: now.state.doc.length, insert: value },
      annotations: Transaction.userEvent.of(PAGE),
    })
  }, [value])
  return <DraftEditor {...rest} text={text} />
}

/** The user event of changes that the page made: they are not reported back to it. */
const PAGE = 'page'
