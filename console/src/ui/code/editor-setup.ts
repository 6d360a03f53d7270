/** What every code editor of the console has. */
import { defaultKeymap, historyKeymap } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  ViewPlugin,
} from '@codemirror/view'
import { editorColours, editorTheme, styleNonce, visibleCharacters } from './editor-theme.ts'

type EditorMode = Readonly<{
  /** For readers of the screen. */
  label: string
  language: 'json' | 'text'
  readOnly: boolean
}>

export const languageExtensions = ({ label, language, readOnly }: EditorMode): Extension => [
  language === 'json' ? json() : [],
  EditorState.readOnly.of(readOnly),
  EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0', ...(readOnly && { 'aria-readonly': 'true' }) }),
]

/** What a page does with an editor itself. */
export type CodeEditorHandle = Readonly<{
  view(): EditorView | undefined
  focus(): void
  /** Selects a part of the text and scrolls it into view. */
  select(from: number, to: number): void
}>

export const createEditorHandle = (view: () => EditorView | undefined): CodeEditorHandle => ({
  view,
  focus: () => view()?.focus(),
  select: (from, to) => {
    const now = view()
    if (now === undefined) return
    const end = now.state.doc.length
    const selection = { anchor: Math.min(from, end), head: Math.min(to, end) }
    now.dispatch({ selection, effects: EditorView.scrollIntoView(selection.anchor, { y: 'center' }) })
    now.focus()
  },
})

/** Faults in the gutter and under the text; places beyond its end are cut. */
export function showDiagnostics(view: EditorView, diagnostics: readonly Diagnostic[]): void {
  const end = view.state.doc.length
  const within = diagnostics.map((one) => ({ ...one, from: Math.min(one.from, end), to: Math.min(one.to, end) }))
  view.dispatch(setDiagnostics(view.state, within))
}

const additions = new Compartment()

/** They load after the text is shown; without them, the keys of search reach the search of the browser. */
async function addMore(view: EditorView): Promise<void> {
  const { editorAdditions } = await import('./editor-additions.ts')
  if (view.dom.isConnected) view.dispatch({ effects: additions.reconfigure(editorAdditions) })
}

export const editorSetup: Extension = [
  EditorView.cspNonce.of(styleNonce()),
  lineNumbers(),
  highlightActiveLineGutter(),
  visibleCharacters,
  foldGutter(),
  drawSelection(),
  EditorState.allowMultipleSelections.of(true),
  indentOnInput(),
  bracketMatching(),
  highlightActiveLine(),
  additions.of([]),
  ViewPlugin.define((view) => {
    void addMore(view)
    return {}
  }),
  lintGutter(),
  syntaxHighlighting(editorColours),
  editorTheme,
  // Tab is not taken: it must leave the editor (WCAG 2.1.2).
  keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap, ...lintKeymap]),
]
