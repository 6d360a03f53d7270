/** Two JSON texts side by side, with what differs marked; what is the same is folded. */
import { json } from '@codemirror/lang-json'
import { syntaxHighlighting } from '@codemirror/language'
import { MergeView } from '@codemirror/merge'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { editorColours, editorTheme, styleNonce, visibleCharacters } from './editor-theme.ts'

export type DiffViewProps = Readonly<{
  before: Readonly<{ title: string; text: string }>
  after: Readonly<{ title: string; text: string }>
}>

const MARGIN_LINES = 3
const FOLDED_FROM_LINES = 6

export function DiffView({ before, after }: DiffViewProps) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const parent = host.current
    if (parent === null) return undefined
    const view = new MergeView({
      parent,
      a: { doc: before.text, extensions: readOnly(before.title) },
      b: { doc: after.text, extensions: readOnly(after.title) },
      collapseUnchanged: { margin: MARGIN_LINES, minSize: FOLDED_FROM_LINES },
      gutter: true,
    })
    return () => view.destroy()
  }, [before.text, before.title, after.text, after.title])
  return (
    <div className="diff-view">
      <div className="diff-titles">
        <p>{before.title}</p>
        <p>{after.title}</p>
      </div>
      <div ref={host} />
    </div>
  )
}

const readOnly = (title: string): Extension => [
  EditorView.cspNonce.of(styleNonce()),
  EditorView.contentAttributes.of({ 'aria-label': title, 'aria-readonly': 'true', tabindex: '0' }),
  EditorView.editable.of(false),
  EditorState.readOnly.of(true),
  EditorView.lineWrapping,
  visibleCharacters,
  lineNumbers(),
  json(),
  syntaxHighlighting(editorColours),
  editorTheme,
]
