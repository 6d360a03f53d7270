/** The code editor, loaded by the first view that shows one. */
import { lazy, Suspense } from 'react'
import { Loading } from '../states/states.tsx'
import type { CodeEditorProps } from './code-editor.tsx'

const Editor = lazy(() => import('./code-editor.tsx').then(({ CodeEditor }) => ({ default: CodeEditor })))

export const LazyCodeEditor = (props: CodeEditorProps) => (
  <Suspense fallback={<Loading what="Loading the editor" />}>
    <Editor {...props} />
  </Suspense>
)
