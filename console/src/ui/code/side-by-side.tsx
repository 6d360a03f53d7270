/** Two texts beside each other, the parts that differ marked; on a narrow page, as one text. */
import { MergeView } from '@codemirror/merge'
import { EditorView } from '@codemirror/view'
import { useEffect, useRef, useState } from 'react'
import { editorSetup, languageOf } from './editor-setup.ts'
import { TextDifference, type TextDifferenceProps } from './text-difference.tsx'

export type SideBySideProps = TextDifferenceProps & Readonly<{ beforeLabel: string; afterLabel: string }>

/** Two columns of code need so many pixels. */
const NARROW = '(max-width: 60rem)'

export function SideBySide(props: SideBySideProps) {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches)
  useEffect(() => {
    const width = matchMedia(NARROW)
    const change = () => setNarrow(width.matches)
    width.addEventListener('change', change)
    return () => width.removeEventListener('change', change)
  }, [])
  return isNarrow ? <TextDifference {...props} /> : <TwoColumns {...props} />
}

function TwoColumns({ before, after, beforeLabel, afterLabel }: SideBySideProps) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (host.current === null) return undefined
    const side = (doc: string, label: string) => ({
      doc,
      extensions: [languageOf({ label, language: 'json', readOnly: true }), editorSetup, EditorView.lineWrapping],
    })
    const view = new MergeView({
      parent: host.current,
      a: side(before, beforeLabel),
      b: side(after, afterLabel),
      gutter: true,
      collapseUnchanged: { margin: 2, minSize: 6 },
    })
    return () => view.destroy()
  }, [before, after, beforeLabel, afterLabel])
  return <div ref={host} className="code-editor side-by-side" />
}
