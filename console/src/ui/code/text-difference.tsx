/** Two texts as one: what was removed is above what was added, and what is the same is folded. */
import { unifiedMergeView } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { editorSetup, languageExtensions } from './editor-setup.ts'

export type TextDifferenceProps = Readonly<{ before: string; after: string; label: string }>

export function TextDifference({ before, after, label }: TextDifferenceProps) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (host.current === null) return undefined
    const view = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: after,
        extensions: [
          languageExtensions({ label, language: 'json', readOnly: true }),
          editorSetup,
          EditorView.lineWrapping,
          unifiedMergeView({
            original: before,
            mergeControls: false,
            gutter: true,
            collapseUnchanged: { margin: 2, minSize: 6 },
          }),
        ],
      }),
    })
    return () => view.destroy()
  }, [before, after, label])
  return <div ref={host} className="code-editor text-difference" />
}
