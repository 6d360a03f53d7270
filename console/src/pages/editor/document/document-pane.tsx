/** The text of the draft with its faults, its outline, and its expressions one by one. */
import { nextDiagnostic } from '@codemirror/lint'
import { EditorView, keymap } from '@codemirror/view'
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { createChoice, useStore } from '../../../api/store.ts'
import { type CodeEditorHandle, type Diagnostic, DraftEditor, type Extension } from '../../../ui/code/code-editor.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { useKey } from '../../../ui/keys/keymap.ts'
import type { PaneProps } from '../editor-workspace.tsx'
import { FaultList } from './fault-list.tsx'
import { UndoButtons } from './undo-buttons.tsx'

const loadAssist = () => import('../assist/editor-assist.ts')
/** Loaded after the editor is shown, so that they open while the service is away, too. */
const loadExpressions = () => import('./expression-pane.tsx')
const loadOutline = () => import('./outline.tsx')
const Outline = lazy(() => loadOutline().then((one) => ({ default: one.Outline })))
const ExpressionPane = lazy(() => loadExpressions().then((one) => ({ default: one.ExpressionPane })))

/** Of long lines. */
const wrapping = createChoice('crosswalk-wrap', ['off', 'on'])

type PaneView = 'document' | 'expressions'

export function DocumentPane(props: PaneProps) {
  const { draft, now, faults, isChecked, readOnly, knowledge, report, onRun, editor } = props
  const [view, setView] = useState<PaneView>('document')
  const [hasOutline, setOutline] = useState(false)
  const isWrapped = useStore(wrapping) === 'on'
  const handle = useRef<CodeEditorHandle>(null)
  const latest = useRef({ onRun, knowledge })
  latest.current = { onRun, knowledge }
  const [assist, setAssist] = useState<Extension>([])
  useEffect(() => {
    loadAssist().then(
      ({ documentAssist }) => setAssist(documentAssist(() => latest.current.knowledge())),
      () => undefined,
    )
    for (const load of [loadOutline, loadExpressions]) load().catch(() => undefined)
  }, [])
  const extensions = useMemo(
    () => [
      assist,
      isWrapped ? EditorView.lineWrapping : [],
      // CodeMirror itself has another use of this key.
      keymap.of([
        {
          key: 'Mod-Enter',
          run: () => {
            latest.current.onRun()
            return true
          },
        },
      ]),
    ],
    [assist, isWrapped],
  )
  const wrap = () => wrapping.set(isWrapped ? 'off' : 'on')
  const diagnostics = useMemo(
    (): readonly Diagnostic[] => faults.map(({ from, to, severity, message }) => ({ from, to, severity, message })),
    [faults],
  )
  const go = (from: number, to: number) => {
    setView('document')
    handle.current?.select(from, to)
  }
  useKey('F8', 'Next fault', () => {
    const shown = handle.current?.view()
    if (shown === undefined) return
    shown.focus()
    nextDiagnostic(shown)
  })
  const setHandle = (made: CodeEditorHandle | null) => {
    handle.current = made
    if (typeof editor === 'function') editor(made)
    else if (editor !== null && editor !== undefined) editor.current = made
  }
  return (
    <section className="document-pane" aria-label="Document">
      <div className="pane-bar">
        <Button text="Document" tone="quiet" pressed={view === 'document'} onPress={() => setView('document')} />
        <Button
          text="Expressions"
          tone="quiet"
          pressed={view === 'expressions'}
          onPress={() => setView('expressions')}
        />
        <span className="row end-row">
          <UndoButtons draft={draft} now={now} />
          <Button text="Wrap lines" tone="quiet" pressed={isWrapped} onPress={wrap} />
          <Button text="Outline" tone="quiet" expanded={hasOutline} onPress={() => setOutline(!hasOutline)} />
        </span>
      </div>
      {hasOutline && (
        <Suspense>
          <Outline text={now.text} onGo={go} />
        </Suspense>
      )}
      <div className="document-text" hidden={view !== 'document'}>
        <DraftEditor
          ref={setHandle}
          text={draft}
          label="Document"
          readOnly={readOnly}
          diagnostics={diagnostics}
          extensions={extensions}
        />
      </div>
      {view === 'expressions' && (
        <Suspense>
          <ExpressionPane draft={draft} text={now.text} report={report} readOnly={readOnly} knowledge={knowledge} />
        </Suspense>
      )}
      <FaultList text={now.text} faults={faults} isChecked={isChecked} onGo={go} />
    </section>
  )
}
