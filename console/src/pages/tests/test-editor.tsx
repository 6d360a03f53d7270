/** A test as JSON. The service checks it when it is saved; its faults are shown with their places. */
import { useState } from 'react'
import { ApiFailure } from '../../api/api-failure.ts'
import type { StoredTest } from '../../api/run-calls.ts'
import { LazyCodeEditor } from '../../ui/code/lazy-views.tsx'
import { ConfirmDialog } from '../../ui/controls/dialog.tsx'

export type TestEditorProps = Readonly<{
  title: string
  test: StoredTest
  /** Fails with an ApiFailure; the text stays then. */
  onSave(test: StoredTest): Promise<void>
  onClose(): void
}>

export function TestEditor({ title, test, onSave, onClose }: TestEditorProps) {
  const [text, setText] = useState(() => JSON.stringify(test, null, 2))
  return (
    <ConfirmDialog
      title={title}
      size="large"
      confirm="Save"
      keys="Control+S"
      isDismissable={false}
      onConfirm={() => onSave(parseTest(text))}
      onClose={onClose}
    >
      <p className="hint">Bodies are stored unchanged; everyone who may view the endpoint can read them.</p>
      <div className="dialog-editor">
        <LazyCodeEditor label="Test" value={text} onChange={setText} />
      </div>
    </ConfirmDialog>
  )
}

function parseTest(text: string): StoredTest {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (thrown) {
    throw new ApiFailure(`This is not JSON: ${(thrown as SyntaxError).message}`, { status: 400 })
  }
  if (typeof value === 'object' && value !== null && typeof (value as StoredTest).name === 'string')
    return value as StoredTest
  throw new ApiFailure('A test is an object with a name.', { status: 400 })
}
